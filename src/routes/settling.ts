import { type ClaimStore, type OwnershipStore, settleRegularly } from '../../plugins/ownership/index.ts'
import { instantOf } from '../../plugins/pagination-normalizer/index.ts'
import { readId } from '../../plugins/shared/id.ts'
import { findGroups } from '../../plugins/upstream-proxy/index.ts'
import type { Library } from './library.ts'

/** Settles the group claims that a crash, an outage or a lost answer left open, at once and every minute, until the signal. */
export const settleGroups = (
  { upstream, claimMs, now, log }: Pick<Library, 'upstream' | 'claimMs' | 'now' | 'log'>,
  store: ClaimStore & Pick<OwnershipStore, 'group'>,
  signal: AbortSignal,
): Promise<void> =>
  settleRegularly({
    store,
    signal,
    now,
    log,
    leaseMs: claimMs,
    callMs: claimMs,
    find: async (type, name) =>
      (await findGroups(upstream, type, name)).flatMap((group) => {
        const id = readId(group.get('Id')?.string())
        return id === undefined ? [] : [{ id, createdAt: instantOf(group.get('CreateTime')?.string()) }]
      }),
  })
