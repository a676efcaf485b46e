import { Buffer } from 'node:buffer'
import { bodyStream } from '../../shared/http/body/body.ts'
import { boundaryOf, readFormParts } from '../../shared/http/body/multipart.ts'
import { sniffBytes } from '../../shared/media/file-type.ts'
import { Problem } from '../../shared/problem.ts'

/** The file in the body of an upload. */
export interface UploadedFile {
  /** The first bytes: at least `sniffBytes`, unless the file is shorter. */
  readonly head: Uint8Array
  /** The whole file. */
  readonly bytes: AsyncIterable<Uint8Array>
  /** Reads the rest of the body after the file. Throws Problem 400 if it is not valid, or has another file. */
  end(): Promise<void>
  /** Ends the body early. */
  close(): void
}

/** How much longer than its file a multipart body is at most: boundaries, headers, and other fields. */
export const maxFormBytes = 65_536

/**
 * Reads the file of a request until its first bytes: the body itself, or the one part with a `filename` of a
 * `multipart/form-data` body (RFC 7578).
 *
 * Throws Problem 400 when there is none, and Problem 415 for a content coding.
 */
export const readUploadedFile = async (request: Request): Promise<UploadedFile> => {
  const { headers } = request
  const coding = headers.get('content-encoding')
  if (coding !== null && coding !== '' && coding !== 'identity') {
    throw new Problem(415, 'an upload must have no content-encoding', { headers: { 'accept-encoding': 'identity' } })
  }
  const body = bodyStream(request)
  if (!body) throw noFile()
  const boundary = boundaryOf(headers.get('content-type'))
  if (boundary !== undefined) return fileOfForm(body, boundary)
  if (/^\s*multipart\//i.test(headers.get('content-type') ?? '')) {
    throw new Problem(400, 'content-type must be that of the file, or multipart/form-data with a boundary')
  }
  const bytes = body[Symbol.asyncIterator]()
  return { ...(await withHead(bytes)), end: async () => {}, close: () => close(bytes) }
}

const fileOfForm = async (body: ReadableStream<Uint8Array>, boundary: string): Promise<UploadedFile> => {
  const parts = readFormParts(body, boundary)
  let fieldBytes = 0
  /** The next part that is a file. */
  const nextFile = async () => {
    for (let next = await parts.next(); !next.done; next = await parts.next()) {
      if (next.value.filename !== undefined) return next.value
      for await (const { length } of next.value.bytes) {
        fieldBytes += length
        if (fieldBytes > maxFormBytes) throw new Problem(413, 'the fields of the form are too large')
      }
    }
    return undefined
  }
  const file = await nextFile()
  if (!file) throw noFile()
  return {
    ...(await withHead(file.bytes)),
    async end() {
      if (await nextFile()) throw new Problem(400, 'a request uploads one file')
    },
    close: () => close(parts),
  }
}

const noFile = () => new Problem(400, 'the request has no file')

/** Reads the first bytes of a file. Throws Problem 400 for an empty one. */
export const withHead = async (source: AsyncIterator<Uint8Array>): Promise<Pick<UploadedFile, 'head' | 'bytes'>> => {
  const chunks: Uint8Array[] = []
  let length = 0
  while (length < sniffBytes) {
    const { done, value } = await source.next()
    if (done) break
    chunks.push(value)
    length += value.length
  }
  if (length === 0) throw noFile()
  const head = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
  return { head, bytes: joined(head, source) }
}

async function* joined(head: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield head
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
}

/** Not awaited: a body that is silent would end only with its next piece. */
const close = (source: AsyncIterator<unknown>): void => void source.return?.().catch(() => {})
