import { createHash } from 'node:crypto'
import type { Reply } from '../faults/faulty-reply.ts'
import type { Language } from './language.ts'
import { pageTexts, type Topic } from './page-texts.ts'
import { decisions } from './sessions.ts'

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
