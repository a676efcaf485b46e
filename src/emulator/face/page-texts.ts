import type { Language } from './language.ts'
import type { Decision } from './sessions.ts'

/** The topics of the pages. */
export type Topic = 'check' | 'closed' | 'used' | 'expired' | 'unknown' | 'undecided' | 'received' | 'failed'

interface PageTexts {
  readonly topics: Readonly<Record<Topic, { readonly title: string; readonly text: string }>>
  /** label and description of each button */
  readonly buttons: Readonly<Record<Decision, { readonly name: string; readonly hint: string }>>
}

const en: PageTexts = {
  topics: {
    check: {
      title: 'Face check (emulated)',
      text: 'This page replaces the vendor’s face check. It does not use a camera. Choose the result of the check.',
    },
    closed: {
      title: 'Check closed',
      text: 'You have closed the check without a result. You can close this page.',
    },
    used: {
      title: 'Link already used',
      text: 'A link works only once, and this link has already been used. Start a new verification.',
    },
    expired: { title: 'Link expired', text: 'This check has expired. Start a new verification.' },
    unknown: { title: 'Invalid link', text: 'This link is incomplete or does not belong to a check.' },
    undecided: { title: 'Nothing chosen', text: 'The form did not contain a result. Go back and choose again.' },
    received: {
      title: 'Check received',
      text: 'You can close this page and return to the application where you started.',
    },
    failed: {
      title: 'Check not passed',
      text: 'You can close this page and start a new verification in the application.',
    },
  },
  buttons: {
    succeed: {
      name: 'Succeed',
      hint: 'The face is recognized: a group is created, and you return to the application.',
    },
    fail: { name: 'Fail', hint: 'The face is not recognized: no group is created, and you return to the application.' },
    close: {
      name: 'Close',
      hint: 'The check is canceled: you do not return to the application, and it is not notified.',
    },
  },
}

const zh: PageTexts = {
  topics: {
    check: { title: '人脸核验（模拟）', text: '此页面代替服务商的人脸核验，不会使用摄像头。请选择核验的结果。' },
    closed: { title: '核验已关闭', text: '核验没有完成，之后不会再发生任何事情。您可以关闭此页面。' },
    used: { title: '链接已使用', text: '每个链接只能使用一次，此链接已被使用。请重新发起核验。' },
    expired: { title: '链接已过期', text: '本次核验的时间已过。请重新发起核验。' },
    unknown: { title: '链接无效', text: '此链接不完整，或者不属于任何核验。' },
    undecided: { title: '没有选择', text: '页面没有说明核验的结果。请返回并重新选择。' },
    received: { title: '已收到核验', text: '您可以关闭此页面，回到开始的地方继续操作。' },
    failed: { title: '核验未通过', text: '您可以关闭此页面，回到开始的地方重新发起核验。' },
  },
  buttons: {
    succeed: { name: '成功', hint: '人脸通过核验：生成素材组，并返回原应用。' },
    fail: { name: '失败', hint: '人脸未通过核验：不生成素材组，并返回原应用。' },
    close: { name: '关闭', hint: '放弃核验：不返回原应用，也不通知任何人。' },
  },
}

/** All texts of the pages. None of them comes from a request. */
export const pageTexts: Readonly<Record<Language, PageTexts>> = { en, zh }
