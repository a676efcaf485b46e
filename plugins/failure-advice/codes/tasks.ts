import type { FailureEntries } from '../entry.ts'

/** The ends of a task that are no error of the vendor, as codes. */
export const taskCodes: FailureEntries = {
  expired: {
    retry: true,
    en: 'The task waited longer than it was allowed to, so it was not generated. Send it again, or allow more time (`execution_expires_after`).',
    zh: '任务等待超过了允许的时间，没有生成：请重新提交，或延长等待时间（`execution_expires_after`）。',
  },
  cancelled: {
    retry: true,
    en: 'The task was cancelled before it began. Nothing was generated.',
    zh: '任务在开始前已被取消，没有生成任何内容。',
  },
  consent_withdrawn: {
    change: 'other_picture',
    en: 'The person in an asset has withdrawn the consent, so nothing was generated, and nothing is from now on. Use an asset without this person.',
    zh: '素材中的人物已撤回授权，因此没有生成任何内容，今后也不会再生成：请改用不含该人物的素材。',
  },
  share_ended: {
    change: 'other_picture',
    en: 'An asset of the task is no longer lent to you, so nothing was generated. Use another one, or ask its owner to lend it again.',
    zh: '任务使用的素材已不再共享给您，因此没有生成任何内容：请改用其他素材，或请素材所有者重新共享。',
  },
}
