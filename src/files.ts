import {
  createResultStorage,
  type FileStorageOptions,
  folderStorage,
  type ResultStorage,
  type Storage,
  s3Storage,
} from '../plugins/file-storage/index.ts'
import type { StorageConfig } from './config/storage.ts'
import type { Config } from './config.ts'

/** The storage of the default server: for uploads and signed links, and for results of video generation. */
export interface ServerFiles {
  readonly files: FileStorageOptions
  readonly results: ResultStorage
}

/** Opens the storage. Undefined: none is configured. */
export const openFiles = (config: Config, options: Omit<FileStorageOptions, 'storage'>): ServerFiles | undefined => {
  if (!config.storage) return undefined
  const { store, publicUrl, secrets } = options
  const storage = openStorage(config.storage)
  return {
    files: {
      ...options,
      storage,
      maxUploads: config.people.maxUploads,
      maxUploadBytes: config.people.maxUploadBytes,
      uploadTtlMs: config.uploads.keepMs,
    },
    results: createResultStorage({ storage, store, publicUrl, secrets, keepMs: config.results.keepMs }),
  }
}

/** Creates the storage. It connects at its first use. */
const openStorage = (config: StorageConfig): Storage =>
  config.kind === 'folder' ? folderStorage(config.path) : s3Storage(config)
