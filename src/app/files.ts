import {
  createResultStorage,
  type FileStorageOptions,
  folderStorage,
  type ResultStorage,
  type Storage,
  s3Storage,
} from '../../plugins/file-storage/index.ts'
import { systemClock } from '../../plugins/shared/clock.ts'
import { SpaceCheck, type SpaceCheckOptions } from '../../plugins/shared/no-space.ts'
import type { StorageConfig } from '../config/storage.ts'
import type { Config } from '../config.ts'

/** The storage of the default server: for uploads and signed links, and for results of video generation. */
export interface ServerFiles {
  readonly files: FileStorageOptions
  readonly results: ResultStorage
  /** Rejects while the storage has no room. */
  readonly checkSpace: () => Promise<void>
}

/** Opens the storage. Undefined: none is configured. */
export const openFiles = (config: Config, options: Omit<FileStorageOptions, 'storage'>): ServerFiles | undefined => {
  if (!config.storage) return undefined
  const { store, publicUrl, secrets } = options
  const { storage, checkSpace } = withSpaceCheck(openStorage(config.storage), {
    clock: systemClock,
    // Calls of a bucket cost money.
    ...(config.storage.kind !== 'folder' && { everyMs: Number.POSITIVE_INFINITY }),
  })
  return {
    files: {
      ...options,
      storage,
      maxUploads: config.people.maxUploads,
      maxUploadBytes: config.people.maxUploadBytes,
      uploadTtlMs: config.uploads.keepMs,
    },
    results: createResultStorage({ storage, store, publicUrl, secrets, keepMs: config.results.keepMs }),
    checkSpace,
  }
}

/** Creates the storage. It connects at its first use. */
const openStorage = (config: StorageConfig): Storage =>
  config.kind === 'folder' ? folderStorage(config.path) : s3Storage(config)

/** A storage that notes the errors of writes, and `checkSpace`, which rejects while it has no room. */
export const withSpaceCheck = (
  storage: Storage,
  options: SpaceCheckOptions,
): { readonly storage: Storage; readonly checkSpace: () => Promise<void> } => {
  const space = new SpaceCheck(() => writeProbe(storage), options)
  const put: Storage['put'] = (...file) =>
    storage.put(...file).catch((error: unknown) => {
      space.note(error)
      throw error
    })
  return { storage: { ...storage, put }, checkSpace: () => space.check() }
}

/** A small file, for a moment: it shows whether the storage has room. */
const writeProbe = async (storage: Storage): Promise<void> => {
  const key = 'probes/space.bin'
  const body = new Blob([new Uint8Array(probeBytes)]).stream()
  await storage.put(key, body, { maxBytes: probeBytes, contentType: 'application/octet-stream' })
  await storage.remove(key)
}

const probeBytes = 2 ** 16
