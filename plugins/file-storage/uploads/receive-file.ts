import { randomBytes } from 'node:crypto'
import type { Audit } from '../../shared/audit.ts'
import type { Clock } from '../../shared/clock.ts'
import { acceptedExtensions, type FileType, sniffFileType } from '../../shared/media/file-type.ts'
import { type Log, Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import type { UsageLimits } from '../../usage-limits/index.ts'
import type { FileLinks } from '../links.ts'
import { FileTooLargeError, type Storage, StorageTimeoutError } from '../storage/storage.ts'
import type { FileQuota, FileStore, NewFile } from '../store.ts'
import type { UploadedFile } from './uploaded-file.ts'

/** The maximum length of a file, in bytes, for each kind of media. */
export type UploadLimits = Readonly<Record<FileType['media'], number>>

/** What CreateAsset of the vendor takes: images under 30 MB, videos up to 200 MB, audio up to 15 MB. */
export const defaultUploadLimits: UploadLimits = {
  image: 30 * 2 ** 20 - 1,
  video: 200 * 2 ** 20,
  audio: 15 * 2 ** 20,
}

/** What receiving a file needs. */
export interface ReceiveOptions {
  readonly storage: Storage
  readonly store: FileStore
  readonly links: FileLinks
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

/** For whom a file is stored. */
export interface FileSender {
  readonly user: string
  /** Id of the token. Undefined: there is none. */
  readonly token?: string | undefined
  readonly request: Request
}

/** A file that is stored, and recorded as an upload. */
export interface ReceivedFile {
  readonly id: string
  readonly key: string
  readonly type: FileType
  readonly url: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

/** Stores files while they come. */
export interface FileReceiver {
  /**
   * Recognizes a file, reserves its length in the quota, and stores it. Leaves nothing when it throws Problem: 408,
   * 413, 415, and 429 above the quota.
   *
   * @param announced how many bytes the file has at most. Undefined: it is not known
   * @param prefix the beginning of its id. Default `up_`
   */
  receive(file: UploadedFile, sender: FileSender, announced: number | undefined, prefix?: string): Promise<ReceivedFile>
  /**
   * Removes files and their records. What cannot be removed expires, and is left to the sweep. Never rejects.
   *
   * @param error why: when the storage has not responded in time, it is not asked again, because the caller waits
   */
  discard(keys: readonly string[], error?: unknown): Promise<void>
}

export const createFileReceiver = (options: ReceiveOptions): FileReceiver => {
  const { storage, store, links, limits, quota, usageLimits, ttlMs, timeoutMs, clock, log, audit } = options

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
  const record = async (file: NewFile, { user, token, request }: FileSender): Promise<void> => {
    const uses = { storage_bytes: file.bytes }
    const held = await usageLimits?.reserve({ user, token, signal: request.signal, uses })
    try {
      const reached = await storeCall(store.reserveFile(file, quota), 'upload could not be recorded')
      if (reached) throw quotaReached(reached.reached, quota, (reached.until - file.createdAt) / 1000)
      held?.settle(uses)
    } finally {
      held?.release()
    }
  }

  const discard: FileReceiver['discard'] = async (keys, error) => {
    if (keys.length === 0) return
    // What cannot be removed does not count for the quota.
    await store.expireFiles(keys, clock.now()).catch(() => {})
    if (hasTimedOut(error)) return
    try {
      for (const key of keys) await storage.remove(key)
      await store.removeFileRecords(keys)
    } catch (err) {
      log.warn({ err, keys }, 'incomplete uploads could not be removed; they will be removed later')
    }
  }

  return {
    async receive(file, sender, announced, prefix = 'up_') {
      const { user, request } = sender
      const type = sniffFileType(file.head)
      if (!type) throw new Problem(415, `the file is none of ${acceptedExtensions}`)
      const limit = limits[type.media]
      const id = `${prefix}${randomBytes(16).toString('hex')}`
      const key = `uploads/${id}.${type.extension}`
      const now = clock.now()
      const bytes = Math.min(announced ?? limit, limit)
      // Longer than the upload may take: the record of a file that is being stored must not expire.
      const reservation = { key, user, kind: 'upload', bytes, createdAt: now, expiresAt: now + 2 * timeoutMs } as const
      await record(reservation, sender)
      try {
        const bytes = await storeFile(key, file, type, request)
        const expiresAt = clock.now() + ttlMs
        const isCommitted = await storeCall(store.commitFile(key, bytes, expiresAt), 'upload could not be recorded')
        if (!isCommitted) throw new Problem(408, 'the file did not arrive in time')
        audit.note({ action: 'upload.create', target: { kind: 'upload', id } }, request)
        return { id, key, type, url: links.urlOf(key, expiresAt), expiresAt }
      } catch (error) {
        await discard([key], error)
        throw error
      }
    },

    discard,
  }
}

const hasTimedOut = (error: unknown): boolean => error instanceof Problem && error.cause instanceof StorageTimeoutError

/** How many bytes a request announces. Undefined: it does not say. */
export const announcedLength = ({ headers }: Request): number | undefined => {
  const length = headers.get('content-length')
  return length === null || headers.has('transfer-encoding') ? undefined : Number(length)
}

/** Problem 413 for a file of this kind. */
export const tooLarge = (what: keyof typeof nouns, maxBytes: number): Problem =>
  new Problem(413, `${nouns[what]} must be at most ${maxBytes} bytes`)

const nouns = { file: 'a file', image: 'an image', video: 'a video', audio: 'an audio file' }

const quotaReached = (which: keyof FileQuota, quota: FileQuota, seconds: number) => {
  const limit = which === 'maxFiles' ? `${quota.maxFiles} uploaded files` : `${quota.maxBytes} bytes of uploaded files`
  return new Problem(429, `a user may have at most ${limit}; they are removed after some time`, {
    headers: { 'retry-after': String(Math.max(1, Math.ceil(seconds))) },
  })
}
