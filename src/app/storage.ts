import { folderStorage, type Storage, s3Storage } from '../../plugins/file-storage/index.ts'
import { within } from '../../plugins/shared/background/within.ts'
import { type Clock, systemClock } from '../../plugins/shared/clock.ts'
import { hasNoSpace, SpaceCheck } from '../../plugins/shared/no-space.ts'
import type { StorageConfig } from '../config/storage.ts'

/** A storage, and what is known of its state. */
export interface CheckedStorage {
  readonly storage: Storage
  /** Rejects while the storage has no room (`hasNoSpace`), or does not work. */
  readonly check: () => Promise<void>
}

/** Opens the storage of the configuration. It connects at its first use. */
export const openStorage = (config: StorageConfig): CheckedStorage =>
  config.kind === 'folder'
    ? withCheck(folderStorage(config.path), { clock: systemClock })
    : // Calls of a bucket cost money.
      withCheck(s3Storage(config), { clock: systemClock, isCheap: false })

/**
 * A storage with a check of its state.
 *
 * @param options.isCheap whether `check` may write a small file every ten seconds. If not, it does so only after a call
 * of the storage has failed, until one succeeds. Default true
 */
export const withCheck = (
  storage: Storage,
  { clock, isCheap = true }: { readonly clock: Pick<Clock, 'now'>; readonly isCheap?: boolean },
): CheckedStorage => {
  /** Of the last write of the check. Undefined: it succeeded. */
  let failure: unknown
  /** Whether a call has failed since then, which may have been the fault of its caller. */
  let isSuspect = false
  let lastProbe: { readonly at: number; readonly ended: Promise<void> } | undefined
  let probes = 0
  /** When the first of the writes began that have not ended. */
  let pendingSince: number | undefined
  const probe = async (): Promise<void> => {
    isSuspect = false
    const number = ++probes
    pendingSince ??= clock.now()
    /** One that ends after a later one has begun tells of the past. */
    const end = (found: unknown) => {
      if (number !== probes) return
      failure = found
      pendingSince = undefined
    }
    try {
      await writeProbe(storage)
      end(undefined)
    } catch (error) {
      end(error)
      throw error
    }
  }
  const probeAgain = (): Promise<void> => {
    const now = clock.now()
    if (!lastProbe || Math.abs(now - lastProbe.at) >= probeEveryMs)
      lastProbe = { at: now, ended: probe().catch(() => {}) }
    return lastProbe.ended
  }
  const space = new SpaceCheck(probe, { clock, everyMs: isCheap ? probeEveryMs : Number.POSITIVE_INFINITY })
  const noting = async <Result>(call: Promise<Result>): Promise<Result> => {
    try {
      return await call
    } catch (error) {
      space.note(error)
      isSuspect = true
      throw error
    }
  }
  const checkAll = async (): Promise<void> => {
    await space.check()
    if (!isCheap && (isSuspect || failure !== undefined || pendingSince !== undefined)) await probeAgain()
    // Without room: what the space check knows counts.
    if (failure !== undefined && !hasNoSpace(failure)) throw failure
  }
  /** A disk or a network that is busy responds late, and works: until then, what was found before counts. */
  const whileLate = () => {
    if (pendingSince !== undefined && Math.abs(clock.now() - pendingSince) >= probeEveryMs)
      throw new Error('the storage does not respond')
    if (failure !== undefined) throw failure
  }
  return {
    storage: {
      ...storage,
      put: (...file) => noting(storage.put(...file)),
      find: (key) => noting(storage.find(key)),
      remove: (key) => noting(storage.remove(key)),
    },
    async check() {
      const isKnown = await within(
        checkAll().then(() => true),
        maxWaitMs,
      )
      if (!isKnown) whileLate()
    },
  }
}

/** The storage is down when a write has not ended in that time either. */
const probeEveryMs = 10_000
/** A balancer waits no longer for the state of a process. */
const maxWaitMs = 1_000

/** A small file, for a moment: it shows whether the storage works and has room. */
const writeProbe = async (storage: Storage): Promise<void> => {
  const key = 'probes/space.bin'
  const body = new Blob([new Uint8Array(probeBytes)]).stream()
  await storage.put(key, body, { maxBytes: probeBytes, contentType: 'application/octet-stream' })
  await storage.remove(key)
}

const probeBytes = 2 ** 16
