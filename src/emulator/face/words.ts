import type { Language } from './language.ts'
import type { Decision } from './sessions.ts'

/** What a page can be about. */
export type Topic = 'check' | 'closed' | 'used' | 'expired' | 'unknown' | 'undecided' | 'received' | 'failed'

interface Words {
  readonly topics: Readonly<Record<Topic, { readonly title: string; readonly text: string }>>
  /** the names of the buttons, and what each one does */
  readonly buttons: Readonly<Record<Decision, { readonly name: string; readonly hint: string }>>
}

const en: Words = {
  topics: {
    check: {
      title: 'Face check (emulated)',
      text: 'This page stands in for the vendor’s face check. No camera is used. Choose how the check ends.',
    },
    closed: {
      title: 'Check closed',
      text: 'The check was not finished. Nothing more will happen; you can close this page.',
    },
    used: {
      title: 'Link already used',
      text: 'A link works once, and this one has been used. Start a new verification.',
    },
    expired: { title: 'Link expired', text: 'The time for this check is over. Start a new verification.' },
    unknown: { title: 'Invalid link', text: 'This link is incomplete, or belongs to no check.' },
    undecided: { title: 'Nothing chosen', text: 'The page did not say how the check ends. Go back and choose again.' },
    received: { title: 'Check received', text: 'You can close this page and go on where you started.' },
    failed: {
      title: 'Check not passed',
      text: 'You can close this page and start a new verification where you began.',
    },
  },
  buttons: {
    succeed: { name: 'Succeed', hint: 'The face is recognised: a group is made, and you are sent back.' },
    fail: { name: 'Fail', hint: 'The face is not recognised: no group is made, and you are sent back.' },
    close: { name: 'Close', hint: 'The check is given up: you are not sent back, and nobody is told.' },
  },
}

const zh: Words = {
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

/** Everything that the pages say. None of it comes from a request. */
export const WORDS: Readonly<Record<Language, Words>> = { en, zh }
