import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import type { PageTexts } from './page-texts.ts'

/** A static file in memory. */
export interface File {
  readonly content: string
  /** The media type, for `Content-Type`. */
  readonly type: string
  /** Strong entity tag (RFC 9110 section 8.8.3) of the uncompressed form: a hash of the content. */
  readonly etag: string
  /** Whether the content under this name never changes. */
  readonly immutable: boolean
  /** The compressed forms, best first. */
  readonly codings: readonly Coding[]
}

/** A file in a content coding (RFC 9110 section 8.4.1). */
export interface Coding {
  readonly name: 'br' | 'gzip'
  readonly content: Uint8Array<ArrayBuffer>
  /** Differs from that of the other forms, whose bytes are others. */
  readonly etag: string
}

/** Below this, in characters, compression saves nothing. */
const minCompressed = 512

/** A file with its compressed forms. They are made once, by threads of the runtime. */
export const fileOf = async (content: string, type: string, immutable: boolean): Promise<File> => {
  const digest = createHash('sha256').update(content).digest('base64url').slice(0, 27)
  const compressed =
    content.length < minCompressed ? [] : await Promise.all([compress.br(content), compress.gzip(content)])
  const [br, gzip] = compressed
  const codings: Coding[] = []
  if (br) codings.push({ name: 'br', content: br, etag: `"${digest}-br"` })
  if (gzip) codings.push({ name: 'gzip', content: gzip, etag: `"${digest}-gzip"` })
  return { ...{ content, type, immutable, codings }, etag: `"${digest}"` }
}

const compress = {
  br: async (content: string) => new Uint8Array(await promisify(brotliCompress)(content)),
  gzip: async (content: string) => new Uint8Array(await promisify(gzip)(content, { level: 9 })),
}

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}

/** The page's files, and what its document says about them. */
export interface PageFiles extends Omit<PageTexts, 'files'> {
  /** By name. A request selects an entry: it can name no other path. */
  readonly files: ReadonlyMap<string, File>
}

const prepare = async (): Promise<PageFiles> => {
  const { readPageTexts } = await import('./read-page-texts.ts')
  const { files, ...page } = await readPageTexts()
  const named = Object.entries(files).map(async ([name, text]) => {
    const type = types[name.slice(name.lastIndexOf('.') + 1)] ?? 'text/plain; charset=utf-8'
    return [name, await fileOf(text, type, page.hashed)] as const
  })
  return { ...page, files: new Map(await Promise.all(named)) }
}

/** They are the same for all consoles of a process. */
let prepared: Promise<PageFiles> | undefined

/** The page's files. They are prepared at the first request: the start of a server does not wait for them. */
export const readPageFiles = (): Promise<PageFiles> => {
  prepared ??= prepare().catch((error) => {
    prepared = undefined
    throw error
  })
  return prepared
}
