import { createHash, type Hash } from 'node:crypto'
import { bodyStream } from '../../shared/http/body/body.ts'
import { boundaryOf, type FormPart, readFormParts } from '../../shared/http/body/multipart.ts'
import { inFlightOf } from '../../shared/http/in-flight.ts'
import type { FormFile, FormFiles } from '../../shared/media/form-files.ts'
import { Problem } from '../../shared/problem.ts'
import { type UploadStorageOptions, uploadParts } from '../options.ts'
import { announcedLength } from './receive-file.ts'
import { maxUploadBodyBytes } from './upload.ts'
import { maxFormBytes, withHead } from './uploaded-file.ts'

/** Fields of a form besides its files. */
const maxFields = 100

/**
 * Stores the files of forms as uploads, with the same options as `fileStorage`: a batch of assets takes them. A form is
 * at most as long as the longest upload.
 *
 * Throws TypeError for wrong options.
 *
 * @example
 * const batchFiles = createFormUploads({ storage: folderStorage('data/files'), store, publicUrl, secrets })
 * assetLibrary({ kind, store, identify, secrets, batches: store, batchFiles, background: true })
 */
export const createFormUploads = (options: UploadStorageOptions): FormFiles => {
  const { receiver, storage, store, links, prefix, timeoutMs, clock, log } = uploadParts(options)
  /** The keys of files that have been handed out: only those are removed. */
  const keys = new WeakMap<FormFile, string>()

  const keysOf = (files: readonly FormFile[]): readonly string[] =>
    files.map((file) => keys.get(file)).filter((key) => key !== undefined)

  return {
    async receive(request, caller, maxFiles) {
      const { body, boundary, announced } = formOf(request)
      inFlightOf(request)?.reading(storage.putBytes)
      const deadline = clock.now() + timeoutMs
      const read = { bytes: 0, fields: 0, fieldBytes: 0 }
      const parts = readFormParts(counted(body, read), boundary, { maxParts: maxFiles + maxFields })
      const files: FormFile[] = []
      try {
        for (let next = await parts.next(); !next.done; next = await parts.next()) {
          const part = next.value
          if (part.filename === undefined) {
            if (++read.fields > maxFields)
              throw new Problem(400, `a form has at most ${maxFields} fields besides its files`)
            await skipField(part, read)
            continue
          }
          const number = files.length + 1
          if (number > maxFiles) throw new Problem(400, `a form has at most ${maxFiles} files`)
          if (clock.now() > deadline) throw new Problem(408, 'the files did not arrive in time')
          const rest = announced === undefined ? undefined : Math.max(1, announced - read.bytes + headBytes)
          files.push(await storePart(part, { ...caller, request }, rest).catch(inFile(number)))
        }
        if (files.length === 0) throw new Problem(400, 'the form has no file')
        return files
      } catch (error) {
        await receiver.discard(keysOf(files), error)
        throw error
      } finally {
        // Not awaited: a body that is silent would end only with its next piece.
        void parts.return().catch(() => {})
      }
    },

    async end(urls, user, at) {
      try {
        const keys: string[] = []
        for (const url of urls) {
          const key = formKeyOf(url)
          if (key !== undefined && (await store.fileOwner?.(key)) === user) keys.push(key)
        }
        await store.expireFiles(keys, at)
      } catch (err) {
        log.warn({ err }, 'files of a form could not be ended; they expire later')
      }
    },

    discard: (files) => receiver.discard(keysOf(files)),
  }

  /** The key of a file of a form, from the link to it. Undefined: it is no such link. */
  function formKeyOf(text: string): string | undefined {
    const { pathname, searchParams } = URL.parse(text) ?? {}
    const begin = pathname?.indexOf(`${prefix}/uploads/${formPrefix}`) ?? -1
    if (begin < 0 || !pathname || !searchParams) return undefined
    const key = pathname.slice(begin + prefix.length + 1)
    return links.expiryOf(key, searchParams, clock.now()) === undefined ? undefined : key
  }

  async function storePart(
    part: FormPart,
    sender: Parameters<typeof receiver.receive>[1],
    announced: number | undefined,
  ): Promise<FormFile> {
    const { head, bytes } = await withHead(part.bytes)
    const hash = createHash('sha256')
    const file = { head, bytes: hashed(bytes, hash), end: async () => {}, close: () => {} }
    const { key, type, url } = await receiver.receive(file, sender, announced, formPrefix)
    const stored = { name: baseName(part.filename ?? ''), media: type.media, url, digest: hash.digest('hex') }
    keys.set(stored, key)
    return stored
  }
}

/** The beginning of the ids of files of forms. */
const formPrefix = 'up_form_'
/** A file may be read ahead by one piece of the body, which counts as read. */
const headBytes = 2 ** 20

const formOf = (request: Request) => {
  const { headers } = request
  const coding = headers.get('content-encoding')
  if (coding !== null && coding !== '' && coding !== 'identity')
    throw new Problem(415, 'a form must have no content-encoding', { headers: { 'accept-encoding': 'identity' } })
  const boundary = boundaryOf(headers.get('content-type'))
  if (boundary === undefined) throw new Problem(400, 'content-type must be multipart/form-data with a boundary')
  const announced = announcedLength(request)
  if (announced !== undefined && announced > maxUploadBodyBytes) throw formTooLarge()
  const body = bodyStream(request)
  if (!body) throw new Problem(400, 'the form has no file')
  return { body, boundary, announced }
}

const formTooLarge = () => new Problem(413, `a form must be at most ${maxUploadBodyBytes} bytes`)

async function* counted(body: AsyncIterable<Uint8Array>, read: { bytes: number }): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    read.bytes += chunk.length
    if (read.bytes > maxUploadBodyBytes) throw formTooLarge()
    yield chunk
  }
}

/** Only files count. */
const skipField = async ({ bytes }: FormPart, read: { fieldBytes: number }): Promise<void> => {
  for await (const { length } of bytes) {
    read.fieldBytes += length
    if (read.fieldBytes > maxFormBytes) throw new Problem(413, 'the fields of the form are too large')
  }
}

async function* hashed(bytes: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    hash.update(chunk)
    yield chunk
  }
}

/** Browsers of the past send whole paths. */
const baseName = (filename: string): string =>
  filename.slice(Math.max(...['/', '\\'].map((mark) => filename.lastIndexOf(mark))) + 1)

/** Names the file in what is wrong with it. */
const inFile =
  (number: number) =>
  (error: unknown): never => {
    if (!(error instanceof Problem) || error.status >= 500 || error.status === 429) throw error
    throw new Problem(error.status, `file ${number}: ${error.message}`, { headers: error.headers, cause: error })
  }
