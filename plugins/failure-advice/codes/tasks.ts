import type { FailureEntries } from '../entry.ts'

/** The ends of a task that are no error of the vendor: `/v1/videos` shows them as codes. */
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
}
