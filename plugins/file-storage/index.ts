import { type AnyElysia, Elysia } from 'elysia'
import { type Audit, noAudit } from '../shared/audit.ts'
import { type BackgroundOption, backgroundOf } from '../shared/background/background.ts'
import { type Clock, systemClock } from '../shared/clock.ts'
import { createErrorHandler, type ErrorsOption } from '../shared/http/error-handler.ts'
import { fallbackRoutes } from '../shared/http/fallback-routes.ts'
import { identifySameOrigin, type PublicUrl, type RequireSameOrigin } from '../shared/http/origin.ts'
import type { Identify } from '../shared/identity/identify.ts'
import {
  checkAbove0,
  checkCollaborator,
  checkElysia,
  checkIdentify,
  checkPath,
  checkPublicUrl,
} from '../shared/plugin/options.ts'
import type { RoutesAt, RoutesPlugin } from '../shared/plugin/plugin.ts'
import { seedOf } from '../shared/plugin/seed.ts'
import { type Log, noLog } from '../shared/problem.ts'
import type { UsageLimits } from '../usage-limits/index.ts'
import { download } from './download.ts'
import { createFileLinks } from './links.ts'
import { OpenDownloads } from './open-downloads.ts'
import { fileDocs, type UploadRoutes } from './openapi.ts'
import type { Storage } from './storage/storage.ts'
import type { FileStore } from './store.ts'
import { sweepFiles } from './sweep.ts'
import { defaultUploadLimits, type UploadLimits, upload } from './upload.ts'

export type { Audit, AuditEvent } from '../shared/audit.ts'
export type { ErrorsOption } from '../shared/http/error-handler.ts'
export type { Identify, Identity } from '../shared/identity/identify.ts'
export { respondWithFile } from './download.ts'
export { createFileLinks, type FileLinks, type FileLinksOptions } from './links.ts'
export type { CreatedUpload, UploadInfo, UploadRoutes } from './openapi.ts'
export { createResultStorage, type ResultStorage, type ResultStorageOptions, type UpstreamFile } from './results.ts'
export { folderStorage } from './storage/folder-storage.ts'
export { type S3StorageOptions, s3Storage } from './storage/s3-storage.ts'
export { type ByteRange, type FileInfo, FileTooLargeError, type PutOptions, type Storage } from './storage/storage.ts'
export type { FileKind, FileQuota, FileStore, NewFile, QuotaReached } from './store.ts'
export { maxUploadBodyBytes, type UploadLimits } from './upload.ts'

/** Options of `fileStorage`. */
export interface FileStorageOptions {
  /** Where the files lie: `folderStorage` or `s3Storage`. */
  readonly storage: Storage
  /** Where the records of files lie. */
  readonly store: FileStore
  /** The address that browsers and the upstream use: links begin with it. */
  readonly publicUrl: PublicUrl
  /** Keys that sign links, of at least 16 characters: the first signs, all verify. All processes need the same ones. */
  readonly secrets: readonly string[]
  /** Identifies the user of an upload. */
  readonly identify: Identify
  /**
   * Throws when a page of another origin sends an upload. Needed where `identify` reads a cookie. Default: no check,
   * for callers with a token.
   */
  readonly requireSameOrigin?: RequireSameOrigin
  /** Base path of the files. Default `/api/files`. */
  readonly prefix?: string
  /** Path of uploads. Default `/api/uploads`. */
  readonly uploadPath?: string
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
   * The maximum number of open downloads by link, of all files of one user together, in this process. Above it, 429.
   * Default 128.
   */
  readonly maxDownloads?: number
  /**
   * Limits on the bytes that users store, copies of results included: an upload above one is rejected with 429.
   * Default: none.
   */
  readonly usageLimits?: UsageLimits | undefined
  /** Removes expired files at once and every minute. Undefined: another process does so. */
  readonly background?: BackgroundOption
  /** The JSON body of errors; `throw`: errors go to the `onError` of the host app. Default: `problemBody()`. */
  readonly errors?: ErrorsOption
  /** Default: the system clock. */
  readonly clock?: Clock
  readonly log?: Log
  /** Receives an event for each upload. Default: no audit. */
  readonly audit?: Audit
}

/**
 * Uploads of images, videos and audio files, and signed links to files in a storage: `POST /api/uploads`, and `GET` and
 * `HEAD` of `/api/files/{folder}/{name}`, which need no credential.
 *
 * Throws TypeError for wrong options.
 *
 * @example
 * const storage = folderStorage('data/files')
 * new Elysia().use(fileStorage({ storage, store, identify, secrets, publicUrl, background: true }))
 */
export const fileStorage = <
  const Prefix extends string = '/api/files',
  const UploadPath extends string = '/api/uploads',
>(
  options: FileStorageOptions & { readonly prefix?: Prefix; readonly uploadPath?: UploadPath },
): RoutesPlugin<RoutesAt<UploadPath, UploadRoutes>> => {
  checkElysia(Elysia)
  const { storage, store, publicUrl, clock = systemClock, log = noLog, audit = noAudit } = options
  const { maxUploads = 100, maxUploadBytes = 2 ** 31, uploadTtlMs = 86_400_000, uploadTimeoutMs = 3_600_000 } = options
  const { maxDownloads = 128 } = options
  const limits = { ...defaultUploadLimits, ...options.limits }
  const prefix = checkPath('prefix', options.prefix ?? '/api/files')
  const uploadPath = checkPath('uploadPath', options.uploadPath ?? '/api/uploads')
  checkCollaborator('storage', storage)
  checkCollaborator('store', store)
  checkPublicUrl(publicUrl)
  checkIdentify(options.identify)
  checkAbove0({ maxUploads, maxUploadBytes, uploadTtlMs, uploadTimeoutMs, maxDownloads, ...limits })
  const links = createFileLinks({ publicUrl, secrets: options.secrets, prefix })
  const background = backgroundOf(options.background)
  if (background) sweepFiles({ storage, store, clock, log }, background)

  const send = download({ storage, links, clock, downloads: new OpenDownloads(store, maxDownloads) })
  const receive = upload({
    ...{ storage, store, links, limits, clock, log, audit },
    identify: identifySameOrigin(options.identify, options.requireSameOrigin),
    quota: { maxFiles: maxUploads, maxBytes: maxUploadBytes },
    usageLimits: options.usageLimits,
    ttlMs: uploadTtlMs,
    timeoutMs: uploadTimeoutMs,
  })
  const errors = createErrorHandler({ errors: options.errors, log, audit })
  const files: AnyElysia = new Elysia({ prefix })
  files
    .get(
      '/:folder/:name',
      ({ request, set, params: { folder, name } }) =>
        errors.handle({ request, set }, () => send(request, `${folder}/${name}`)),
      fileDocs.get,
    )
    .use(fallbackRoutes(errors))
  const uploads: AnyElysia = new Elysia({ prefix: uploadPath })
    .post('', ({ request, set }) => errors.handle({ request, set }, () => receive(request)), fileDocs.upload)
    .use(fallbackRoutes(errors))
  return new Elysia({ name: 'sluice/file-storage', seed: seedOf(options) }).use(files).use(uploads) as AnyElysia
}
