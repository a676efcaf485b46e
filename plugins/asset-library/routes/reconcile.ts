import {
  type ClaimStore,
  type OwnershipStore,
  type ReconcileOptions,
  reconcileRegularly,
} from '../../ownership/index.ts'
import { instantOf } from '../../pagination-normalizer/index.ts'
import type { Background } from '../../shared/background/background.ts'
import { readId } from '../../shared/id.ts'
import { findGroups } from '../../upstream-proxy/index.ts'
import type { Library } from './library.ts'

/** Options for the reconciliation of group claims that a crash, an outage or a lost response has left open. */
export const reconcileOptionsOf = (
  {
    upstream,
    claimMs,
    clock,
    log,
    audit,
  }: Pick<Library, 'upstream' | 'claimMs' | 'clock'> & Partial<Pick<Library, 'log' | 'audit'>>,
  store: ClaimStore & Pick<OwnershipStore, 'group'>,
): ReconcileOptions => ({
  store,
  clock,
  log,
  leaseMs: claimMs,
  callMs: claimMs,
  onAdopted: ({ user }, id) =>
    audit?.note({ action: 'group.create', user, target: { kind: 'group', id }, reason: 'found after a lost response' }),
  find: async (type, name, from, account = upstream.accounts?.names[0]) =>
    (await findGroups(upstream, type, name, { ...from, instantOf }, account)).flatMap((group) => {
      const id = readId(group.get('Id')?.string())
      return id === undefined ? [] : [{ id, createdAt: instantOf(group.get('CreateTime')?.string()) }]
    }),
})

/** Reconciles open claims at once, whenever one falls due, and every minute. */
export const reconcileGroups = (
  library: Library,
  store: ClaimStore & Pick<OwnershipStore, 'group'>,
  background: Background,
): void => reconcileRegularly(reconcileOptionsOf(library, store), background)
