import { createHash } from 'node:crypto'
import { libraries } from './files.ts'
import type { ConsoleLogin } from './login.ts'

/**
 * Base paths of the routes that the page calls. A host app around the console and these routes may put a prefix before
 * all of them.
 */
export interface ConsolePaths {
  /** The routes of `web-session`. */
  readonly session: string
  /** The routes of `consoleTokens`. */
  readonly tokens: string
  readonly usage: string
  /** The asset library: the routes of `gateway`. */
  readonly library: string
  readonly faceVerification: string
  readonly text: string
  /** The tasks of `videoGeneration` are below it. */
  readonly video?: string | undefined
  /** Where `fileStorage` takes uploads. */
  readonly uploads?: string | undefined
  /** The stream of `events`. */
  readonly events?: string | undefined
  /** The webhooks of `events`. */
  readonly webhooks?: string | undefined
  /** The invitations of `ownAccount`. */
  readonly invitations?: string | undefined
}

export interface DocumentOptions {
  /** Path of the page. */
  readonly prefix: string
  readonly paths: ConsolePaths
  /** Undefined: users log in by the page's form. */
  readonly login?: ConsoleLogin | undefined
  /** File names of the modules that the browser preloads. It loads the others when the page imports them. */
  readonly modules: readonly string[]
}

/** The folder of the page's files, relative to the page: the console works below any prefix. */
const folderOf = (prefix: string): string => `.${prefix.slice(prefix.lastIndexOf('/'))}`

const importMapOf = (prefix: string): string => {
  const addresses = Object.entries(libraries).map(([library, name]) => [library, `${folderOf(prefix)}/${name}`])
  return JSON.stringify({ imports: Object.fromEntries(addresses) })
}

/** The HTML document of the console. Its modules render the content. */
export const documentOf = ({ prefix, paths, login, modules }: DocumentOptions): string => `<!doctype html>
<html lang="en" data-paths='${JSON.stringify({ page: prefix, ...paths })}'${login ? ` data-login='${attribute(login)}'` : ''}>
<head>
<meta charset="utf-8">
<title>sluice</title>
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="#f5f6f8" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#101216" media="(prefers-color-scheme: dark)">
<meta name="robots" content="noindex">
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(icon)}">
<link rel="stylesheet" href="${folderOf(prefix)}/style.css">
<script type="importmap">${importMapOf(prefix)}</script>
${modules.map((name) => `<link rel="modulepreload" href="${folderOf(prefix)}/${name}">`).join('\n')}
<script type="module" src="${folderOf(prefix)}/app.js"></script>
</head>
<body>
<div id="app"></div>
<noscript><p>The console needs JavaScript. 控制台需要 JavaScript。</p></noscript>
</body>
</html>
`

/** JSON as the value of an attribute in single quotes. */
const attribute = (value: object): string => JSON.stringify(value).replaceAll('&', '&amp;').replaceAll("'", '&#39;')

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#2450c8"/><path d="M7 12c3 0 3-2.5 6-2.5s3 2.5 6 2.5 3-2.5 6-2.5M7 17.5c3 0 3-2.5 6-2.5s3 2.5 6 2.5 3-2.5 6-2.5M7 23c3 0 3-2.5 6-2.5s3 2.5 6 2.5 3-2.5 6-2.5" fill="none" stroke="#fff" stroke-width="2" stroke-linecap="round"/></svg>'

/**
 * Headers of every response of the console.
 *
 * Previews may load images, video and audio from any host, because the upstream decides where uploads are stored.
 * Everything else must be same-origin. Scripts are the files of the console and the inline import map.
 */
export const securityHeadersOf = (prefix: string): Readonly<Record<string, string>> => ({
  'content-security-policy': [
    "default-src 'none'",
    `script-src 'self' 'sha256-${createHash('sha256').update(importMapOf(prefix)).digest('base64')}'`,
    "style-src 'self'",
    "img-src 'self' data: blob: https: http:",
    'media-src https: http:',
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy':
    'camera=(), microphone=(), geolocation=(), payment=(), usb=(), display-capture=(), clipboard-read=(), clipboard-write=(self)',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
})
