import { randomBytes } from 'node:crypto'
import { within } from '../shared/background/within.ts'
import { type Clock, systemClock } from '../shared/clock.ts'
import { checkUser } from '../shared/identity/identify.ts'
import { type FileType, sniffBytes, sniffFileType } from '../shared/media/file-type.ts'
import { checkAbove0, checkCollaborator } from '../shared/plugin/options.ts'
import type { Fetch } from '../shared/upstream/upstream-error.ts'
import { createFileLinks, type FileLinksOptions } from './links.ts'
import type { Storage } from './storage/storage.ts'
import type { FileStore } from './store.ts'
import { withHead } from './uploads/uploaded-file.ts'

/** A file of an upstream, to be copied. */
export interface UpstreamFile {
  /** An http or https URL, or a `data:` URL. No redirect is followed, so it leads nowhere else. */
  readonly url: string
  /** The beginning of the name of the copy, such as the id of a task: letters, digits, `_` and `-`. */
  readonly name: string
  readonly media: FileType['media']
  /** Id of the owner. */
  readonly user: string
  /** When the copy is removed: milliseconds since 1970. */
  readonly expiresAt: number
  readonly signal?: AbortSignal | undefined
}

/** Copies of what an upstream has generated. */
export interface ResultStorage {
  /** How long copies are to be kept, in milliseconds. */
  readonly keepMs: number
  /** The maximum time of `copy`, in milliseconds. */
  readonly timeoutMs: number
  /**
   * Copies a file while it comes. Resolves with its key. When it rejects, nothing remains. Rejects with TypeError
   * before the call without a user, for a wrong name or time.
   */
  copy(file: UpstreamFile): Promise<string>
  /** A link to a copy, which needs no credential, until `expiresAt`: the same one each time. */
  linkTo(key: string, expiresAt: number): string
  /** Removes copies. Never rejects: what cannot be removed now is removed by the sweep of `fileStorage`. */
  remove(keys: readonly string[]): Promise<void>
}

export interface ResultStorageOptions extends FileLinksOptions {
  readonly storage: Storage
  readonly store: FileStore
  /** Default 30 days. */
  readonly keepMs?: number
  /** The maximum length of a file. Default 1 GiB. */
  readonly maxBytes?: number
  /** Default 10 minutes. */
  readonly timeoutMs?: number
  /**
   * How long the upstream may send nothing, in milliseconds. Default 30,000. Few results are copied at once, so that a
   * silent one delays others.
   */
  readonly silenceMs?: number
  /** Default: the global `fetch`. */
  readonly fetch?: Fetch
  /** Default: the system clock. */
  readonly clock?: Pick<Clock, 'now'>
}

/**
 * Creates a storage for results beside `fileStorage`, which serves and sweeps them: pass both the same options. Throws
 * TypeError for wrong options.
 *
 * @example
 * const results = createResultStorage({ storage: folderStorage('data/files'), store, secrets, publicUrl })
 * const service = createVideoService({ upstream, store, results, background: true })
 */
export const createResultStorage = (options: ResultStorageOptions): ResultStorage => {
  const { storage, store, clock = systemClock, fetch: send = fetch } = options
  const { keepMs = 30 * 86_400_000, maxBytes = 2 ** 30, timeoutMs = 600_000, silenceMs = 30_000 } = options
  checkCollaborator('storage', storage)
  checkCollaborator('store', store)
  checkAbove0({ keepMs, maxBytes, timeoutMs, silenceMs })
  const links = createFileLinks(options)

  const remove = async (keys: readonly string[]): Promise<void> => {
    try {
      await store.expireFiles(keys, clock.now())
      for (const key of keys) await storage.remove(key)
      await store.removeFileRecords(keys)
    } catch {
      // The sweep logs what fails there too.
    }
  }

  return {
    keepMs,
    timeoutMs,
    remove,
    linkTo: (key, expiresAt) => links.urlOf(key, expiresAt),
    async copy({ url, name, media, user, expiresAt, signal }) {
      checkUser(user)
      if (typeof name !== 'string' || !/^[\w-]{1,200}$/.test(name))
        throw new TypeError('name must have letters, digits, _ and - only')
      if (!Number.isSafeInteger(expiresAt)) throw new TypeError('expiresAt must be a time in milliseconds since 1970')
      const timeout = AbortSignal.timeout(timeoutMs)
      const ended = new AbortController()
      const aborted = AbortSignal.any([timeout, ended.signal, ...(signal ? [signal] : [])])
      const sent = send(url, { headers: { 'accept-encoding': 'identity' }, redirect: 'manual', signal: aborted })
      const response = await unlessSilent(sent, silenceMs).catch((error: unknown) => {
        ended.abort()
        throw error
      })
      const { status, headers, body } = response
      if (status !== 200 || !body) {
        await body?.cancel()
        throw new Error(`the upstream has responded with ${status} instead of the result`)
      }
      const announced = headers.has('content-encoding') ? undefined : lengthIn(headers)
      const source = body[Symbol.asyncIterator]()
      try {
        const { head, bytes } = await withHead({ next: () => unlessSilent(source.next(), silenceMs) })
        const type = sniffFileType(head.subarray(0, sniffBytes))
        if (type?.media !== media) throw new Error(`the result is no ${media} of a known type`)
        // A name of its own for each attempt: what an earlier one has left is removed by its own record.
        const key = `results/${name}-${randomBytes(4).toString('hex')}.${type.extension}`
        const now = clock.now()
        const unfinishedUntil = now + 2 * timeoutMs
        await store.reserveFile({
          key,
          user,
          kind: 'result',
          bytes: announced ?? 0,
          createdAt: now,
          expiresAt: unfinishedUntil,
        })
        try {
          const length = await storage.put(key, bytes, { maxBytes, contentType: type.contentType, signal: aborted })
          if (announced !== undefined && length !== announced) throw new Error('the result is shorter than announced')
          if (!(await store.commitFile(key, length, expiresAt))) throw new Error('the result took too long')
          return key
        } catch (error) {
          await remove([key])
          throw error
        }
      } finally {
        source.return?.().catch(() => {})
        ended.abort()
      }
    },
  }
}

/** What the upstream sends next. Rejects when it takes too long. */
const unlessSilent = async <Value extends object>(next: Promise<Value>, ms: number): Promise<Value> => {
  const found = await within(next, ms)
  if (!found) throw new Error('the upstream has stopped to send the result')
  return found
}

const lengthIn = (headers: Headers): number | undefined => {
  const text = headers.get('content-length')
  return text === null ? undefined : Number(text)
}
