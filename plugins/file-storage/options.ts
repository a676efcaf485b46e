import { type Audit, noAudit } from '../shared/audit.ts'
import { type Clock, systemClock } from '../shared/clock.ts'
import type { PublicUrl } from '../shared/http/origin.ts'
import { checkAbove0, checkCollaborator, checkPath, checkPublicUrl } from '../shared/plugin/options.ts'
import { type Log, noLog } from '../shared/problem.ts'
import type { UsageLimits } from '../usage-limits/index.ts'
import { createFileLinks } from './links.ts'
import type { Storage } from './storage/storage.ts'
import type { FileStore } from './store.ts'
import { createFileReceiver, defaultUploadLimits, type UploadLimits } from './uploads/receive-file.ts'

/** Where uploads lie, and what they may be. */
export interface UploadStorageOptions {
  /** Where the files lie: `folderStorage` or `s3Storage`. */
  readonly storage: Storage
  /** Where the records of files lie. */
  readonly store: FileStore
  /** The address that browsers and the upstream use: links begin with it. */
  readonly publicUrl: PublicUrl
  /** Keys that sign links, of at least 16 characters: the first signs, all verify. All processes need the same ones. */
  readonly secrets: readonly string[]
  /** Base path of the files. Default `/api/files`. */
  readonly prefix?: string
  /** The maximum length of an image, a video and an audio file, in bytes. Default: below 30 MiB, 200 MiB, 15 MiB. */
  readonly limits?: Partial<UploadLimits>
  /** The maximum number of uploaded files of one user. Default 100. */
  readonly maxUploads?: number
  /** The maximum length of all uploaded files of one user together, in bytes. Default 2 GiB. */
  readonly maxUploadBytes?: number
  /** How long an upload is kept, in milliseconds. Default 24 hours. */
  readonly uploadTtlMs?: number
  /** The maximum time of one upload, in milliseconds. Default one hour. */
  readonly uploadTimeoutMs?: number
  /**
   * Limits on the bytes that users store, copies of results included: an upload above one is rejected with 429.
   * Default: none.
   */
  readonly usageLimits?: UsageLimits | undefined
  /** Default: the system clock. */
  readonly clock?: Clock
  readonly log?: Log
  /** Receives an event for each upload. Default: no audit. */
  readonly audit?: Audit
}

/** What receives uploads, with the defaults of the options. Throws TypeError for wrong options. */
export const uploadParts = (options: UploadStorageOptions) => {
  const { storage, store, publicUrl, clock = systemClock, log = noLog, audit = noAudit, usageLimits } = options
  const { maxUploads = 100, maxUploadBytes = 2 ** 31, uploadTtlMs = 86_400_000, uploadTimeoutMs = 3_600_000 } = options
  const limits = { ...defaultUploadLimits, ...options.limits }
  const prefix = checkPath('prefix', options.prefix ?? '/api/files')
  checkCollaborator('storage', storage)
  checkCollaborator('store', store)
  checkPublicUrl(publicUrl)
  checkAbove0({ maxUploads, maxUploadBytes, uploadTtlMs, uploadTimeoutMs, ...limits })
  const links = createFileLinks({ publicUrl, secrets: options.secrets, prefix })
  const receiver = createFileReceiver({
    ...{ storage, store, links, limits, usageLimits, clock, log, audit },
    quota: { maxFiles: maxUploads, maxBytes: maxUploadBytes },
    ...{ ttlMs: uploadTtlMs, timeoutMs: uploadTimeoutMs },
  })
  return { ...{ receiver, storage, store, links, limits, prefix, clock, log, audit }, timeoutMs: uploadTimeoutMs }
}
