import { randomBytes } from 'node:crypto'
import type { Audit } from '../shared/audit.ts'
import type { Clock } from '../shared/clock.ts'
import { inFlightOf } from '../shared/http/in-flight.ts'
import { noStoreJson } from '../shared/http/no-store.ts'
import { type Identify, requireIdentity } from '../shared/identity/identify.ts'
import { acceptedExtensions, type FileType, sniffFileType } from '../shared/media/file-type.ts'
import { type Log, Problem } from '../shared/problem.ts'
import { storeCall } from '../shared/store-call.ts'
import type { LimitedCall, UsageLimits } from '../usage-limits/index.ts'
import { maxFormBytes, readUploadedFile, type UploadedFile } from './body.ts'
import type { FileLinks } from './links.ts'
import { FileTooLargeError, type Storage } from './storage/storage.ts'
import type { FileQuota, FileStore, NewFile } from './store.ts'

/** The maximum length of a file, in bytes, for each kind of media. */
export type UploadLimits = Readonly<Record<FileType['media'], number>>

/** What CreateAsset of the vendor takes: images under 30 MB, videos up to 200 MB, audio up to 15 MB. */
export const defaultUploadLimits: UploadLimits = {
  image: 30 * 2 ** 20 - 1,
  video: 200 * 2 ** 20,
  audio: 15 * 2 ** 20,
}

/** The length of the longest body of an upload with the default limits: for servers with a limit of their own. */
export const maxUploadBodyBytes: number = Math.max(...Object.values(defaultUploadLimits)) + maxFormBytes

export interface UploadOptions {
  readonly storage: Storage
  readonly store: FileStore
  readonly links: FileLinks
  readonly identify: Identify
  readonly limits: UploadLimits
  readonly quota: FileQuota
  /** Limits on the bytes that users store. Undefined: none. */
  readonly usageLimits: UsageLimits | undefined
  /** How long a file is kept. */
  readonly ttlMs: number
  /** The maximum time of one upload. */
  readonly timeoutMs: number
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
  readonly audit: Audit
}

/**
 * Responds to an upload: identifies the user, recognizes the file, reserves its length in the quota, and stores it
 * while it comes.
 */
export const upload = (options: UploadOptions) => {
  const { storage, store, links, limits, quota, usageLimits, ttlMs, timeoutMs, clock, log, audit } = options
  const longest = Math.max(...Object.values(limits))

  /** Stores the file under the key, which is reserved. Resolves with its length. */
  const storeFile = async (key: string, file: UploadedFile, type: FileType, request: Request): Promise<number> => {
    // A signal of `AbortSignal.timeout` would stay until its time, also after the upload.
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(), timeoutMs)
    const signal = AbortSignal.any([request.signal, deadline.signal])
    const { contentType } = type
    try {
      const bytes = await storage.put(key, file.bytes, { maxBytes: limits[type.media], contentType, signal })
      await file.end()
      return bytes
    } catch (error) {
      if (error instanceof FileTooLargeError) throw tooLarge(type.media, limits[type.media])
      if (error instanceof Problem) throw error
      if (signal.aborted)
        throw new Problem(408, 'the file did not arrive in time', { headers: { connection: 'close' } })
      throw new Problem(500, 'the file could not be stored', { cause: error })
    } finally {
      clearTimeout(timer)
    }
  }

  /** Records a file that is about to be stored. The record counts for the limits of its user. */
  const record = async (file: NewFile, caller: Pick<LimitedCall, 'user' | 'token' | 'signal'>): Promise<void> => {
    const uses = { storage_bytes: file.bytes }
    const held = await usageLimits?.reserve({ ...caller, uses })
    try {
      const reached = await storeCall(store.reserveFile(file, quota), 'upload could not be recorded')
      if (reached) throw quotaReached(reached.reached, quota, (reached.until - file.createdAt) / 1000)
      held?.settle(uses)
    } finally {
      held?.release()
    }
  }

  return async (request: Request): Promise<Response> => {
    const { user, token } = await requireIdentity(options.identify, request)
    const announced = lengthOf(request.headers)
    if (announced !== undefined && announced > longest + maxFormBytes) throw tooLarge('file', longest)
    inFlightOf(request)?.reading(storage.putBytes)
    const file = await readUploadedFile(request)
    try {
      const type = sniffFileType(file.head)
      if (!type) throw new Problem(415, `the file is none of ${acceptedExtensions}`)
      const limit = limits[type.media]
      if (announced !== undefined && announced > limit + maxFormBytes) throw tooLarge(type.media, limit)
      const id = `up_${randomBytes(16).toString('hex')}`
      const key = `uploads/${id}.${type.extension}`
      const now = clock.now()
      const bytes = Math.min(announced ?? limit, limit)
      // Longer than the upload may take: the record of a file that is being stored must not expire.
      const reservation = { key, user, kind: 'upload', bytes, createdAt: now, expiresAt: now + 2 * timeoutMs } as const
      await record(reservation, { user, token, signal: request.signal })
      try {
        const bytes = await storeFile(key, file, type, request)
        const expiresAt = clock.now() + ttlMs
        const isCommitted = await storeCall(store.commitFile(key, bytes, expiresAt), 'upload could not be recorded')
        if (!isCommitted) throw new Problem(408, 'the file did not arrive in time')
        audit.note({ action: 'upload.create', target: { kind: 'upload', id } }, request)
        return noStoreJson({
          success: true,
          upload: {
            id,
            url: links.urlOf(key, expiresAt),
            content_type: type.contentType,
            expires_at: new Date(expiresAt).toISOString(),
          },
        })
      } catch (error) {
        await discard(key)
        throw error
      }
    } finally {
      file.close()
    }
  }

  /** If this fails too, the sweep removes the file when its reservation expires. */
  async function discard(key: string): Promise<void> {
    try {
      await storage.remove(key)
      await store.removeFileRecords([key])
    } catch (err) {
      log.warn({ err, key }, 'an incomplete upload could not be removed; it will be removed later')
    }
  }
}

const lengthOf = (headers: Headers): number | undefined => {
  const length = headers.get('content-length')
  return length === null || headers.has('transfer-encoding') ? undefined : Number(length)
}

const tooLarge = (what: keyof typeof nouns, maxBytes: number) =>
  new Problem(413, `${nouns[what]} must be at most ${maxBytes} bytes`)

const nouns = { file: 'a file', image: 'an image', video: 'a video', audio: 'an audio file' }

const quotaReached = (which: keyof FileQuota, quota: FileQuota, seconds: number) => {
  const limit = which === 'maxFiles' ? `${quota.maxFiles} uploaded files` : `${quota.maxBytes} bytes of uploaded files`
  return new Problem(429, `a user may have at most ${limit}; they are removed after some time`, {
    headers: { 'retry-after': String(Math.max(1, Math.ceil(seconds))) },
  })
}
