import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

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

/** The style sheets, in the order of the cascade: a later one overrides rules of an earlier one with the same specificity. */
const styleSheets = [
  ...['theme', 'base', 'layout'],
  ...['buttons', 'fields', 'tabs', 'lists', 'cards', 'placeholder', 'toast', 'dialog'],
  ...['login', 'face', 'uploads', 'videos', 'chat', 'usage'],
]

const pageFolder = new URL('./page/', import.meta.url)

/** Paths of the folders and files that `consolePages` reads, for a process that needs a permission for each: see `--allow-read` of Deno. */
export const consoleFiles = (): readonly string[] => [
  fileURLToPath(new URL('.', import.meta.url)),
  ...Object.entries(libraries).map(([library, name]) => fileURLToPath(locateLibrary(library, name))),
]

/**
 * Reads all files of the page, by file name: its modules, its libraries, and its style sheets as one file.
 *
 * They are read once. A request selects an entry of this table, so it can name no other path.
 */
export const readFiles = (): ReadonlyMap<string, File> => {
  const files = new Map<string, File>()
  for (const name of readdirSync(fileURLToPath(pageFolder)).sort()) {
    if (name.endsWith('.js')) files.set(name, fileOf(read(new URL(name, pageFolder)), javascript))
  }
  for (const [library, name] of Object.entries(libraries)) {
    files.set(name, fileOf(read(locateLibrary(library, name)), javascript))
  }
  // One request loads all styles.
  const styles = styleSheets.map((name) => read(new URL(`styles/${name}.css`, pageFolder)))
  files.set('style.css', fileOf(styles.join('\n'), css))
  return files
}

/** The published package contains copies of the libraries. In the repository they are installed. */
const locateLibrary = (library: string, name: string): URL => {
  const copy = new URL(`./libraries/${name}`, import.meta.url)
  return existsSync(copy) ? copy : new URL(import.meta.resolve(library))
}

const read = (address: URL): string => readFileSync(fileURLToPath(address), 'utf8')
