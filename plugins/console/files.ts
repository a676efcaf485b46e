import { createHash } from 'node:crypto'

/** A static file in memory. */
export interface File {
  readonly content: string
  /** The media type, for `Content-Type`. */
  readonly type: string
  /** Strong entity tag (RFC 9110 section 8.8.3): a hash of the content. */
  readonly etag: string
}

export const fileOf = (content: string, type: string): File => ({ content, type, etag: `"${digest(content)}"` })

const digest = (content: string): string => createHash('sha256').update(content).digest('base64url').slice(0, 27)

const javascript = 'text/javascript; charset=utf-8'
const css = 'text/css; charset=utf-8'

/** Bare module specifiers that the page imports, and the file names under which the libraries are served. */
export const libraries: Readonly<Record<string, string>> = {
  preact: 'preact.js',
  'preact/hooks': 'preact-hooks.js',
  htm: 'htm.js',
  uqr: 'uqr.js',
}

/**
 * All files of the page, by file name: its modules, its libraries, and its style sheets as one file. A request selects
 * an entry: it can name no other path.
 */
export const readFiles = async (): Promise<ReadonlyMap<string, File>> => {
  // At the first request: the start of a server does not wait for them.
  const { modules, styleSheets } = await import('./texts.ts')
  const files = new Map(Object.entries(modules).map(([name, text]) => [name, fileOf(text, javascript)]))
  // One request loads all styles.
  return files.set('style.css', fileOf(styleSheets.join('\n'), css))
}
