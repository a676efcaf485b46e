import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Something to be served as it is. */
export interface File {
  readonly content: string
  readonly type: string
  /** Strong entity tag (RFC 9110 section 8.8.3): changes with every byte. */
  readonly etag: string
}

export const fileOf = (content: string, type: string): File => ({ content, type, etag: `"${digest(content)}"` })

const digest = (content: string): string => createHash('sha256').update(content).digest('base64url').slice(0, 27)

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}

/** Bare names that the page imports, and the files that they are served as. */
export const libraries: Readonly<Record<string, string>> = {
  preact: 'preact.js',
  'preact/hooks': 'preact-hooks.js',
  htm: 'htm.js',
  uqr: 'uqr.js',
}

/**
 * Everything that the page is made of, by file name: its own modules and styles, and its libraries as they are installed. Read once: a request names an entry
 * of this table, never a path.
 */
export const readFiles = (): ReadonlyMap<string, File> => {
  const files = new Map<string, File>()
  const folder = new URL('./page/', import.meta.url)
  for (const name of readdirSync(fileURLToPath(folder)).sort()) {
    const type = types[name.slice(name.lastIndexOf('.') + 1)]
    if (type) files.set(name, fileOf(read(new URL(name, folder)), type))
  }
  for (const [library, name] of Object.entries(libraries)) {
    files.set(name, fileOf(read(new URL(import.meta.resolve(library))), types.js ?? ''))
  }
  return files
}

const read = (address: URL): string => readFileSync(fileURLToPath(address), 'utf8')
