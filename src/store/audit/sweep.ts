import type { Steps } from '../database/database.ts'
import { deleteOldest } from '../database/oldest-rows.ts'
import { clause, type Statement, sql } from '../database/statement.ts'
import { type ChainAnchor, type ChainKey, signatureOf, signerOf } from './chain.ts'
import { ChainCheck, type ChainedEntry } from './chain-check.ts'
import { type AuditRow, fromRow } from './entry.ts'

export interface Sweep {
  /** Milliseconds since 1970. */
  readonly before: number
  readonly now: number
  /** Maximum number of entries. */
  readonly max: number
  readonly keys: readonly [ChainKey, ...ChainKey[]]
}

/**
 * Deletes old entries, and returns their number.
 *
 * Of the chain it removes the beginning, and keeps the HMAC of the last removed entry as the anchor, signed. It
 * verifies what it removes: otherwise, someone without the key could have entries removed by changing their times.
 */
export function* sweepAudit({ before, now, max, keys }: Sweep): Steps<number> {
  const unchained = yield deleteUnchained(before, max)
  const left = max - unchained.length
  const [oldest] = yield chainStartingAfter(0, Math.min(1, left))
  if (!oldest || !isOld(Number(oldest.at), before, now)) return unchained.length
  // The lock: another process may sweep too.
  const [locked] = yield lockAnchor
  if (locked?.sequence === undefined) throw new Error('the chain of the audit trail has lost its anchor')
  const anchor = locked as unknown as ChainAnchor
  const signer = signerOf(anchor, keys)
  const check = new ChainCheck({ keys, start: anchor, signer, onProblem: () => {} })
  const rows = (yield chainStartingAfter(0, left)) as readonly unknown[] as readonly AuditRow<ChainedEntry>[]
  let removed = 0
  for (const row of rows) {
    if (!isOld(row.at, before, now)) break
    check.add(fromRow(row))
    removed++
  }
  const last = check.last
  if (removed === 0 || !last) return unchained.length
  const damaged = anchor.damaged + check.damaged + (signer === undefined ? 1 : 0)
  yield deleteChained(rows[0]?.sequence ?? 0, last.sequence)
  yield moveAnchor({ ...last, damaged }, keys[0].secret)
  return unchained.length + removed
}

const dayMs = 86_400_000

/** An entry of a clock that was far ahead does not keep all later ones from being removed. */
const isOld = (at: number, before: number, now: number): boolean => at < before || at > now + dayMs

export const deleteUnchained = (before: number, max: number): Statement =>
  deleteOldest(
    {
      ...{ table: clause`audit_entries`, time: clause`at`, key: clause`id` },
      where: clause`sequence is null and at < ${before}`,
    },
    max,
  )

const lockAnchor = sql`
  update audit_chain
  set sequence = sequence
  where name = 'anchor'
  returning sequence, hmac, damaged, signature`

const chainStartingAfter = (sequence: number, max: number): Statement => sql`
  select at, action, user_id as "user", user_name as name, token_id as token, kind, target, address, status, reason,
    fields, times, sequence, hmac
  from audit_entries
  where sequence > ${sequence}
  order by sequence
  limit ${max}`

/** The start of the range is for PostgreSQL, which otherwise expects a third of the entries, and reads all of them. */
const deleteChained = (from: number, upTo: number): Statement => sql`
  delete from audit_entries
  where sequence >= ${from}
  and sequence <= ${upTo}`

const moveAnchor = (anchor: ChainAnchor, secret: string): Statement => sql`
  update audit_chain
  set sequence = ${anchor.sequence}, hmac = ${anchor.hmac}, damaged = ${anchor.damaged},
    signature = ${signatureOf(secret, anchor)}
  where name = 'anchor'`
