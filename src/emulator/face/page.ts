import { createHash } from 'node:crypto'
import type { Reply } from '../faulty-reply.ts'
import type { Language } from './language.ts'
import { DECISIONS } from './sessions.ts'
import { type Topic, WORDS } from './words.ts'

const TAGS: Readonly<Record<Language, string>> = { en: 'en', zh: 'zh-CN' }

const STATUSES: Readonly<Partial<Record<Topic, number>>> = { used: 410, expired: 410, unknown: 404, undecided: 400 }

const STYLE =
  ':root{color-scheme:light dark;font:1.125rem/1.5 system-ui,sans-serif}' +
  'body{margin:0}main{max-width:26rem;margin:0 auto;padding:1.5rem}h1{font-size:1.5rem;line-height:1.3}' +
  'button{display:block;width:100%;min-height:3rem;margin-top:1.5rem;font:inherit;font-weight:600}' +
  'button:focus-visible{outline:3px solid;outline-offset:3px}form p{margin:.25rem 0 0}'

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

/** A page about a topic. `goesTo`: where its form may lead in the end, which the browser is held to. */
export function pageOf(topic: Topic, language: Language, goesTo?: string): Reply {
  const { topics, buttons } = WORDS[language]
  const { title, text } = topics[topic]
  const choices = DECISIONS.map((decision) => {
    const { name, hint } = buttons[decision]
    const button = `<button name="do" value="${decision}" aria-describedby="${decision}">${name}</button>`
    return `${button}\n<p id="${decision}">${hint}</p>`
  })
  // without an action the form goes to the page's own address, which therefore stands nowhere in it
  const form = topic === 'check' ? `\n<form method="post">\n${choices.join('\n')}\n</form>` : ''
  const html = `<!doctype html>
<html lang="${TAGS[language]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${text}</p>${form}
</main>
</body>
</html>
`
  const status = STATUSES[topic] ?? 200
  return { status, headers: headersFor(language, goesTo), body: Buffer.from(html) }
}

/** A browser sent back, without a word of the link that it had. */
export function sentBack(location: string): Reply {
  return {
    status: 303,
    headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
    body: Buffer.alloc(0),
  }
}

function headersFor(language: Language, goesTo?: string): Record<string, string> {
  // browsers hold the redirect after a form to this list as well (CSP 3 section 6.4.2)
  const forms = goesTo === undefined ? "'none'" : `'self' ${sourceOf(goesTo)}`
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    `form-action ${forms}`,
    ...["base-uri 'none'", "frame-ancestors 'none'"],
  ]
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-language': TAGS[language],
    'content-security-policy': policy.join('; '),
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-robots-tag': 'noindex',
    vary: 'accept-language',
  }
}

/** An address as a policy names it: its origin, or its scheme where a policy cannot name the host (IPv6). */
function sourceOf(address: string): string {
  const { origin, hostname, protocol } = new URL(address)
  return hostname.startsWith('[') ? protocol : origin
}
