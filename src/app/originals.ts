import { randomBytes } from 'node:crypto'
import type { AssetType, Originals } from '../../plugins/asset-library/index.ts'
import { createTargetRules, readFileAt } from '../../plugins/events/index.ts'
import { createFileLinks, type FileStore, type ResultStorage, type Storage } from '../../plugins/file-storage/index.ts'
import { defaultUploadLimits } from '../../plugins/file-storage/uploads/receive-file.ts'
import { withHead } from '../../plugins/file-storage/uploads/uploaded-file.ts'
import { systemClock } from '../../plugins/shared/clock.ts'
import { streamFrom } from '../../plugins/shared/http/body/byte-source.ts'
import { type PublicUrl, publicBase } from '../../plugins/shared/http/origin.ts'
import { type FileType, sniffBytes, sniffFileType } from '../../plugins/shared/media/file-type.ts'
import { Problem } from '../../plugins/shared/problem.ts'
import { storeCall } from '../../plugins/shared/store-call.ts'

/** What the gateway reads at an address of a user is in memory. Longer files are uploaded first. */
const maxReadBytes = 30 * 2 ** 20
/** Files at addresses of users that are read at once. */
const maxReads = 4
/** The request waits for it, and its upstream call comes after it. */
const keepDeadlineMs = 20_000
/** An original whose asset is not recorded so soon is removed. */
const unusedMs = 3_600_000

export interface OriginalsOptions {
  readonly storage: Storage
  readonly store: FileStore
  readonly publicUrl: PublicUrl
  readonly secrets: readonly string[]
  readonly results: Pick<ResultStorage, 'copy' | 'linkTo' | 'remove'>
  /** Networks that may be reached although they are not public: `WEBHOOK_NETWORKS`. */
  readonly networks: readonly string[]
}

/**
 * The originals of the default server. One that its user has uploaded is copied; one at another address is read there,
 * with the rules of webhooks.
 */
export const createOriginals = (options: OriginalsOptions): Originals => {
  const { storage, store, publicUrl, results } = options
  const rules = createTargetRules(options.networks)
  const links = createFileLinks(options)
  let reads = 0

  /** The key of a file of this gateway, by a link that is valid. */
  const ownKey = (address: string): string | undefined => {
    const start = `${publicBase(publicUrl)}/api/files/`
    if (!address.startsWith(start) || !URL.canParse(address)) return undefined
    const { searchParams } = new URL(address)
    const key = address.slice(start.length).split('?', 1)[0] ?? ''
    return links.expiryOf(key, searchParams, systemClock.now()) === undefined ? undefined : key
  }

  const stored = async (key: string): Promise<AsyncIterable<Uint8Array>> => {
    const info = await storage.find(key)
    if (!info) throw new Problem(400, 'the file at URL does not exist any more')
    return streamFrom(storage.read(key, info, { first: 0, last: info.size - 1 }))
  }

  const fetched = async (url: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> => {
    if (reads >= maxReads) throw new Problem(503, 'too many files are being read', { headers: { 'retry-after': '2' } })
    reads++
    try {
      const pieces: Uint8Array[] = []
      const bounds = { maxBytes: maxReadBytes, deadlineMs: keepDeadlineMs, signal }
      await readFileAt(url, { rules, ...bounds, receive: (piece) => void pieces.push(piece) })
      return inPieces(pieces)
    } catch (cause) {
      throw new Problem(400, `the file at URL cannot be read: ${cause instanceof Error ? cause.message : ''}`, {
        cause,
      })
    } finally {
      reads--
    }
  }

  return {
    linkTo: results.linkTo,
    remove: results.remove,
    keepUpstream: ({ url, name, type, user }) =>
      results.copy({ url, name, media: mediaOf[type], user, expiresAt: systemClock.now() + unusedMs }),

    async keep({ url, name, type, user, signal }) {
      const deadline = AbortSignal.timeout(keepDeadlineMs)
      const until = signal ? AbortSignal.any([signal, deadline]) : deadline
      const own = ownKey(url)
      const body = own === undefined ? await fetched(url, until) : await stored(own)
      const { bytes, head } = await withHead(body[Symbol.asyncIterator]())
      const file = sniffFileType(head.subarray(0, sniffBytes))
      if (file?.media !== mediaOf[type])
        throw new Problem(400, `the file at URL is no ${mediaOf[type]} of a known type`)
      const key = `originals/${name}-${randomBytes(4).toString('hex')}.${file.extension}`
      const now = systemClock.now()
      const maxBytes = defaultUploadLimits[file.media]
      const record = {
        key,
        user,
        kind: 'result',
        bytes: 0,
        createdAt: now,
        expiresAt: now + 4 * keepDeadlineMs,
      } as const
      await storeCall(store.reserveFile(record), 'the original of the asset could not be recorded')
      try {
        const length = await storage.put(key, bytes, { maxBytes, contentType: file.contentType, signal: until })
        if (!(await store.commitFile(key, length, systemClock.now() + unusedMs)))
          throw new Error('the record of the original is gone')
        return key
      } catch (cause) {
        await results.remove([key])
        throw cause instanceof Problem
          ? cause
          : new Problem(500, 'the original of the asset could not be kept', { cause })
      }
    },
  }
}

const mediaOf: Readonly<Record<AssetType, FileType['media']>> = { Image: 'image', Video: 'video', Audio: 'audio' }

async function* inPieces(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces
}
