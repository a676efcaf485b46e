import { createHash } from 'node:crypto'
import type { ConsoleLogin } from './login.ts'
import type { PageTexts } from './page-texts.ts'

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
  /** The own account of `ownAccount`: it says whether the user is an admin. */
  readonly account?: string | undefined
  /** Where `limitRoutes` says what is left of the limits. */
  readonly limits?: string | undefined
  /** The page of the API documentation. */
  readonly documentation?: string | undefined
  /** The routes of `admin`. */
  readonly admin?: string | undefined
  /** The routes of `failureAdvice`. */
  readonly failureAdvice?: string | undefined
  /** The groups of an asset library with `shares`: what lends one is below it. */
  readonly shares?: string | undefined
  /** The groups of an asset library with `consents`: the consent of the person of one is below it. */
  readonly consents?: string | undefined
  /** The batches of an asset library with `batches`. */
  readonly batches?: string | undefined
  /** The MCP server: the route of `mcp`. */
  readonly mcp?: string | undefined
}

export interface DocumentOptions {
  /** Path of the page. */
  readonly prefix: string
  readonly paths: ConsolePaths
  /** Undefined: users log in by the page's form. */
  readonly login?: ConsoleLogin | undefined
  /** The files that the document names. */
  readonly page: Omit<PageTexts, 'files'>
}

/** The folder of the page's files, relative to the page: the console works below any prefix. */
const folderOf = (prefix: string): string => `.${prefix.slice(prefix.lastIndexOf('/'))}`

/** A path relative to the page, which has the same unknown prefix. */
const relativeTo = (prefix: string, path: string): string =>
  ('../'.repeat(prefix.split('/').length - 2) || './') + path.slice(1)

/** The import map of the page's libraries. Undefined: the files import none by a bare specifier. */
const importMapOf = (prefix: string, { libraries }: Pick<PageTexts, 'libraries'>): string | undefined => {
  if (!libraries) return undefined
  const addresses = Object.entries(libraries).map(([library, name]) => [library, `${folderOf(prefix)}/${name}`])
  return JSON.stringify({ imports: Object.fromEntries(addresses) })
}

/** The lines of the document that load its styles and scripts. */
const linksOf = ({ prefix, paths, page }: DocumentOptions): string => {
  const folder = folderOf(prefix)
  const importMap = importMapOf(prefix, page)
  return [
    // The first request of the script, which begins while the script is loaded.
    `<link rel="preload" href="${relativeTo(prefix, paths.session)}" as="fetch" crossorigin>`,
    `<link rel="stylesheet" href="${folder}/${page.styles}">`,
    ...(importMap === undefined ? [] : [`<script type="importmap">${importMap}</script>`]),
    ...page.preloaded.map((name) => `<link rel="modulepreload" href="${folder}/${name}">`),
    `<script type="module" src="${folder}/${page.script}"></script>`,
  ].join('\n')
}

/** The HTML document of the console. Its modules render the content. */
export const documentOf = (options: DocumentOptions): string => `<!doctype html>
<html lang="en" data-paths='${JSON.stringify({ page: options.prefix, ...options.paths })}'${options.login ? ` data-login='${attribute(options.login)}'` : ''}>
<head>
<meta charset="utf-8">
<title>sluice</title>
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="#f5f6f8" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#101216" media="(prefers-color-scheme: dark)">
<meta name="robots" content="noindex">
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(icon)}">
${linksOf(options)}
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
 * Security headers.
 *
 * Previews may load images, video and audio from any host, because the upstream decides where uploads are stored.
 * Everything else must be same-origin. Scripts are the files of the console. An inline import map, which only files
 * that are not bundled need, is allowed by its hash.
 */
const headersWith = (scripts: string): Readonly<Record<string, string>> => ({
  'content-security-policy': [
    "default-src 'none'",
    `script-src ${scripts}`,
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

/** Headers of every response but the page. */
export const securityHeaders = headersWith("'self'")

/** Headers of the page. */
export const documentHeadersOf = ({ prefix, page }: Pick<DocumentOptions, 'prefix' | 'page'>) => {
  const importMap = importMapOf(prefix, page)
  if (importMap === undefined) return securityHeaders
  return headersWith(`'self' 'sha256-${createHash('sha256').update(importMap).digest('base64')}'`)
}
