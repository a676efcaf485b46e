import { createResultStorage, type FileStorageOptions, type ResultStorage } from '../../plugins/file-storage/index.ts'
import type { Config } from '../config.ts'

/** The storage of the default server: for uploads and signed links, and for results of video generation. */
export interface ServerFiles {
  readonly files: FileStorageOptions
  readonly results: ResultStorage
}

/** What the routes of files and results need. */
export const openFiles = (config: Config, options: FileStorageOptions): ServerFiles => {
  const { storage, store, publicUrl, secrets } = options
  return {
    files: {
      ...options,
      maxUploads: config.people.maxUploads,
      maxUploadBytes: config.people.maxUploadBytes,
      uploadTtlMs: config.uploads.keepMs,
    },
    results: createResultStorage({ storage, store, publicUrl, secrets, keepMs: config.results.keepMs }),
  }
}
