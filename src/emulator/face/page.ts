import { createHash } from 'node:crypto'
import type { Reply } from '../faults/faulty-reply.ts'
import type { Language } from './language.ts'
import { type Decision, decisions } from './sessions.ts'

const tags: Readonly<Record<Language, string>> = { en: 'en', zh: 'zh-CN' }

const statuses: Readonly<Partial<Record<Topic, number>>> = { used: 410, expired: 410, unknown: 404, undecided: 400 }

const style =
  ':root{color-scheme:light dark;font:1.125rem/1.5 system-ui,sans-serif}' +
  'body{margin:0}main{max-width:26rem;margin:0 auto;padding:1.5rem}h1{font-size:1.5rem;line-height:1.3}' +
  'button{display:block;width:100%;min-height:3rem;margin-top:1.5rem;font:inherit;font-weight:600}' +
  'button:focus-visible{outline:3px solid;outline-offset:3px}form p{margin:.25rem 0 0}'

const styleHash = createHash('sha256').update(style).digest('base64')

/**
 * The HTML page of a topic. `redirectUrl`: the only other origin to which its form may redirect (CSP `form-action`).
 */
export const facePage = (topic: Topic, language: Language, redirectUrl?: string): Reply => {
  const { topics, buttons } = pageTexts[language]
  const { title, text } = topics[topic]
  const choices = decisions.map((decision) => {
    const { name, hint } = buttons[decision]
    const button = `<button name="do" value="${decision}" aria-describedby="${decision}">${name}</button>`
    return `${button}\n<p id="${decision}">${hint}</p>`
  })
  // without an `action` the form posts to the page's own URL, so the page does not contain the URL and its credentials
  const form = topic === 'check' ? `\n<form method="post">\n${choices.join('\n')}\n</form>` : ''
  const html = `<!doctype html>
<html lang="${tags[language]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${text}</p>${form}
</main>
</body>
</html>
`
  const status = statuses[topic] ?? 200
  return { status, headers: headersFor(language, redirectUrl), body: Buffer.from(html) }
}

/** Redirects the browser without a Referer header: the link of the page contains credentials. */
export const redirect = (location: string): Reply => ({
  status: 303,
  headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
  body: Buffer.alloc(0),
})

const headersFor = (language: Language, redirectUrl?: string): Record<string, string> => {
  // browsers apply form-action to redirects after a form submission as well (CSP 3 section 6.4.2)
  const forms = redirectUrl === undefined ? "'none'" : `'self' ${sourceOf(redirectUrl)}`
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    `form-action ${forms}`,
    ...["base-uri 'none'", "frame-ancestors 'none'"],
  ]
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-language': tags[language],
    'content-security-policy': policy.join('; '),
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-robots-tag': 'noindex',
    vary: 'accept-language',
  }
}

/** The CSP source expression of a URL: its origin, or only its scheme for an IPv6 host, which CSP cannot express. */
const sourceOf = (address: string): string => {
  const { origin, hostname, protocol } = new URL(address)
  return hostname.startsWith('[') ? protocol : origin
}

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
const pageTexts: Readonly<Record<Language, PageTexts>> = { en, zh }
