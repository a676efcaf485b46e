import { type AnyElysia, Elysia } from 'elysia'
import { type BackgroundOption, backgroundOf } from '../shared/background/background.ts'
import { createErrorHandler, type ErrorsOption, routesOf } from '../shared/http/error-handler.ts'
import { fallbackRoutes } from '../shared/http/fallback-routes.ts'
import { identifySameOrigin, type RequireSameOrigin } from '../shared/http/origin.ts'
import type { Identify } from '../shared/identity/identify.ts'
import { checkAbove0, checkElysia, checkIdentify, checkPath } from '../shared/plugin/options.ts'
import type { RoutesAt, RoutesPlugin } from '../shared/plugin/plugin.ts'
import { seedOf } from '../shared/plugin/seed.ts'
import { download } from './downloads/download.ts'
import { OpenDownloads } from './downloads/open-downloads.ts'
import { fileDocs, type UploadRoutes } from './openapi.ts'
import { type UploadStorageOptions, uploadParts } from './options.ts'
import { sweepFiles } from './sweep.ts'
import { upload } from './uploads/upload.ts'

export type { Audit, AuditEvent } from '../shared/audit.ts'
export type { ErrorsOption } from '../shared/http/error-handler.ts'
export type { Identify, Identity } from '../shared/identity/identify.ts'
export { respondWithFile } from './downloads/download.ts'
export { createFileLinks, type FileLinks, type FileLinksOptions } from './links.ts'
export type { CreatedUpload, UploadInfo, UploadRoutes } from './openapi.ts'
export type { UploadStorageOptions } from './options.ts'
export { createResultStorage, type ResultStorage, type ResultStorageOptions, type UpstreamFile } from './results.ts'
export { folderStorage } from './storage/folder-storage.ts'
export { type S3StorageOptions, s3Storage } from './storage/s3-storage.ts'
export { type ByteRange, type FileInfo, FileTooLargeError, type PutOptions, type Storage } from './storage/storage.ts'
export type { FileKind, FileQuota, FileStore, NewFile, QuotaReached } from './store.ts'
export { createFormUploads } from './uploads/form-uploads.ts'
export type { UploadLimits } from './uploads/receive-file.ts'
export { maxUploadBodyBytes } from './uploads/upload.ts'

/** Options of `fileStorage`. */
export interface FileStorageOptions extends UploadStorageOptions {
  /** Identifies the user of an upload. */
  readonly identify: Identify
  /**
   * Throws when a page of another origin sends an upload. Needed where `identify` reads a cookie. Default: no check,
   * for callers with a token.
   */
  readonly requireSameOrigin?: RequireSameOrigin
  /** Path of uploads. Default `/api/uploads`. */
  readonly uploadPath?: string
  /**
   * The maximum number of open downloads by link, of all files of one user together, in this process. Above it, 429.
   * Default 128.
   */
  readonly maxDownloads?: number
  /** Removes expired files at once and every minute. Undefined: another process does so. */
  readonly background?: BackgroundOption
  /** The JSON body of errors; `throw`: errors go to the `onError` of the host app. Default: `problemBody()`. */
  readonly errors?: ErrorsOption
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
  const { receiver, storage, store, links, limits, prefix, clock, log, audit } = uploadParts(options)
  const { maxDownloads = 128 } = options
  const uploadPath = checkPath('uploadPath', options.uploadPath ?? '/api/uploads')
  checkIdentify(options.identify)
  checkAbove0({ maxDownloads })
  const background = backgroundOf(options.background)
  if (background) sweepFiles({ storage, store, clock, log }, background)

  const send = download({ storage, links, clock, downloads: new OpenDownloads(store, maxDownloads) })
  const identify = identifySameOrigin(options.identify, options.requireSameOrigin)
  const receive = upload({ receiver, storage, identify, limits })
  const errors = createErrorHandler({ errors: options.errors, log, audit })
  const route = routesOf(errors)
  const files = new Elysia({ prefix })
    .get('/:folder/:name', route(send, 'folder', 'name'), fileDocs.get)
    .use(fallbackRoutes(errors))
  const uploads = new Elysia({ prefix: uploadPath })
    .post('', route(receive), fileDocs.upload)
    .use(fallbackRoutes(errors))
  return new Elysia({ name: 'sluice/file-storage', seed: seedOf(options) }).use(files).use(uploads) as AnyElysia
}
