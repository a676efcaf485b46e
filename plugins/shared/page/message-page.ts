import { createHash } from 'node:crypto'
import type { Language } from './language.ts'

/** A page for a person who has come from another service. Its texts are plain text. */
export interface MessagePage {
  readonly language: Language
  readonly title: string
  readonly text: string
  /** Where the person can go next. The address must be absolute. */
  readonly link?: { readonly text: string; readonly href: string } | undefined
  /** What the person can do. Default: nothing. */
  readonly forms?: readonly PageForm[] | undefined
  /** HTTP status. Default 200. */
  readonly status?: number | undefined
}

/** A button that sends a POST request without a body. */
export interface PageForm {
  readonly text: string
  /** The absolute address of the request, of the page's own origin. */
  readonly action: string
}

const tags: Readonly<Record<Language, string>> = { en: 'en', zh: 'zh-CN' }

const style =
  ':root{color-scheme:light dark;font:1.125rem/1.6 system-ui,sans-serif}' +
  'body{margin:0;min-height:100vh;display:grid;place-items:center}' +
  'main{max-width:26rem;padding:1.5rem;text-align:center}h1{font-size:1.6rem;line-height:1.3}' +
  'button{font:inherit;min-height:2.75rem;padding:.4rem 1.2rem}'

const styleHash = createHash('sha256').update(style).digest('base64')

/** The policy allows the page's own style, its forms if it has some, and nothing else. */
const policyOf = (hasForms: boolean): string =>
  `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action ${hasForms ? "'self'" : "'none'"}; frame-ancestors 'none'`

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
  vary: 'accept-language',
}

/** The response with a page. It runs no script, loads nothing, and no cache keeps it. */
export const messagePage = ({ language, title, text, link, forms = [], status = 200 }: MessagePage): Response => {
  const html = `<!doctype html>
<html lang="${tags[language]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body><main><h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p>${forms.map(form).join('')}${link ? `<p>${anchor(link)}</p>` : ''}</main></body>
</html>
`
  const policy = { 'content-security-policy': policyOf(forms.length > 0) }
  return new Response(html, { status, headers: { ...headers, ...policy, 'content-language': tags[language] } })
}

const anchor = ({ text, href }: NonNullable<MessagePage['link']>): string =>
  `<a href="${escapeHtml(href)}">${escapeHtml(text)}</a>`

const form = ({ text, action }: PageForm): string =>
  `<form method="post" action="${escapeHtml(action)}"><p><button>${escapeHtml(text)}</button></p></form>`

const references: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => references[character] ?? '')
