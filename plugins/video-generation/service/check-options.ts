import type { LeaseStore } from '../../shared/background/lease-store.ts'
import { checkCollaborator, checkKey, checkUpstreamUrl } from '../../shared/plugin/options.ts'
import type { VideoQueue } from '../store/queue.ts'
import type { VideoServiceOptions } from './options.ts'

/** Throws TypeError for options of `createVideoService` that are wrong, apart from numbers that are not above 0. */
export const checkServiceOptions = (options: VideoServiceOptions): void => {
  const { store, upstream, accounts, usageLimits, identifierSecret, maxPriority = 0 } = options
  checkCollaborator('store', store)
  if (usageLimits && !hasQueue(store)) throw new TypeError('usageLimits needs a store that has a queue of its own')
  checkSlots(options.slots)
  if (!Number.isInteger(maxPriority) || maxPriority < 0 || maxPriority > 9)
    throw new TypeError('maxPriority must be an integer from 0 to 9')
  if (identifierSecret !== undefined) checkIdentifierSecret(identifierSecret)
  if (upstream && accounts) throw new TypeError('there must be either an upstream or accounts')
  for (const each of [upstream, ...(accounts ?? []).map((account) => account.upstream)]) {
    if (each) checkUpstreamUrl('upstream.url', each.url)
    if (each) checkKey('upstream.key', each.key)
  }
}

/** Whether a store has a queue of its own. Else the plugin keeps the queue in the rows of the store. */
export const hasQueue = (store: VideoServiceOptions['store']): store is VideoQueue & LeaseStore =>
  'claimVideoTask' in store

/** Throws TypeError for slots that are no number from 0. */
const checkSlots = (slots: VideoServiceOptions['slots'] = {}): void => {
  for (const limits of Object.values(slots))
    if (!Number.isSafeInteger(limits.running) || limits.running < 0)
      throw new TypeError('slots must have a number `running`, an integer from 0, for each model')
}

/** Throws TypeError for a secret that can be guessed. */
const checkIdentifierSecret = (secret: string): void => {
  if (typeof secret !== 'string' || secret.length < 16)
    throw new TypeError('identifierSecret must have at least 16 characters')
}
