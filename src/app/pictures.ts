import { createHash } from 'node:crypto'
import type { PictureOptions } from '../../plugins/asset-library/index.ts'
import { createTargetRules, readFileAt } from '../../plugins/events/index.ts'
import type { ResultStorage } from '../../plugins/file-storage/index.ts'
import { systemClock } from '../../plugins/shared/clock.ts'
import type { Config } from '../config.ts'

/** Larger files are no pictures for the vendor. */
const maxPictureBytes = 30 * 2 ** 20
const pictureDeadlineMs = 10_000
/** Other pictures wait for a storage that takes long. */
const keepDeadlineMs = 30_000
/** The upstream reads a kept picture within seconds. */
const keptMs = 3_600_000

/**
 * How the default server makes assets of pictures.
 *
 * @param results undefined: pictures in requests cannot become assets
 */
export const pictureOptions = (
  { events }: Pick<Config, 'events'>,
  store: PictureOptions['store'],
  results: ResultStorage | undefined,
): PictureOptions => ({
  store,
  digestOf: createDigestOf(events.webhookNetworks),
  ...(results && { keepFile: keepPictures(results) }),
})

/** Digests of files on the public internet, and in some other networks. */
export const createDigestOf = (networks: readonly string[]): NonNullable<PictureOptions['digestOf']> => {
  const rules = createTargetRules(networks)
  return async (url, signal) => {
    const hash = createHash('sha256')
    const bounds = { maxBytes: maxPictureBytes, deadlineMs: pictureDeadlineMs, signal }
    await readFileAt(url, { rules, ...bounds, receive: (piece) => hash.update(piece) })
    return hash.digest('hex')
  }
}

/** Keeps pictures that a request has in itself, so that the upstream can read them at an address. */
export const keepPictures =
  (results: Pick<ResultStorage, 'copy' | 'linkTo'>): NonNullable<PictureOptions['keepFile']> =>
  async ({ url, name, user, signal }) => {
    const expiresAt = systemClock.now() + keptMs
    const deadline = AbortSignal.timeout(keepDeadlineMs)
    const file = { url, name, media: 'image', user, expiresAt } as const
    const key = await results.copy({ ...file, signal: signal ? AbortSignal.any([signal, deadline]) : deadline })
    return results.linkTo(key, expiresAt)
  }
