import type { Database } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { type ChainAnchor, type ChainKey, type ChainPlace, chainStart, signerOf } from './chain.ts'
import { ChainCheck, type KeyRange } from './chain-check.ts'
import type { AuditLists } from './lists.ts'

/** Options of `verifyAudit`. */
export interface VerifyAuditOptions {
  /** A head that an earlier report had, and that was kept elsewhere. It must still be in the chain. */
  readonly head?: ChainPlace | undefined
}

/** What a verification of the chain has found. */
export interface AuditReport {
  /** The first problems, as sentences. Empty: the chain is intact. */
  readonly problems: readonly string[]
  /** Number of entries whose HMAC fits. */
  readonly verified: number
  /** Number of the first entry. Undefined: the chain is empty. */
  readonly first?: number
  /** The last entry, to be kept elsewhere: only with it can a later verification notice that the end was cut off. */
  readonly head: ChainPlace
  /** Number of the last entry that was removed for its age; 0: none was. */
  readonly removed: number
  /** Entries of earlier versions, which have no HMAC. */
  readonly unchained: { readonly entries: number; readonly newestAt?: number }
  /** Which entries each key has signed, the current key first. */
  readonly keys: readonly KeyRange[]
}

const maxProblems = 20
/** Entries removed during a verification make it start again. */
const maxAttempts = 3
/** Clocks of processes differ, and an entry for repetitions has the time of the first one. */
const toleranceMs = 120_000

/** The problems of a verification: the first ones, and that there are more. */
export const firstProblems = () => {
  const problems: string[] = []
  return {
    problems,
    onProblem: (problem: string): void => {
      if (problems.length < maxProblems) problems.push(problem)
      else if (problems.length === maxProblems) problems.push('there are further problems')
    },
  }
}

/** Verifies the chain, page by page. Writers and sweeps may go on. */
export const verifyAudit = async (
  database: Database,
  lists: Pick<AuditLists, 'chainedAudit' | 'unchainedAudit'>,
  keys: readonly ChainKey[],
  options: VerifyAuditOptions,
): Promise<AuditReport> => {
  for (let attempt = 1; ; attempt++) {
    const before = await place(database, 'anchor')
    const report = await verifyOnce(database, lists, keys, { ...options, anchor: before })
    const after = await place(database, 'anchor')
    if (before?.sequence === after?.sequence || attempt === maxAttempts) return report
  }
}

const verifyOnce = async (
  database: Database,
  lists: Pick<AuditLists, 'chainedAudit' | 'unchainedAudit'>,
  keys: readonly ChainKey[],
  { head, anchor }: VerifyAuditOptions & { readonly anchor: ChainAnchor | undefined },
): Promise<AuditReport> => {
  const { problems, onProblem } = firstProblems()
  const start = anchor ?? { ...chainStart, damaged: 0 }
  const signer = signerOf(start, keys)
  if (!anchor) onProblem('the mark of the entries that were removed for their age is missing')
  else if (signer === undefined)
    onProblem('the mark of the entries that were removed for their age is changed or forged')
  if (start.damaged > 0) {
    onProblem(`of the entries that were removed for their age, ${start.damaged} were changed, forged or missing`)
  }
  const check = new ChainCheck({ keys, start, signer, head, onProblem })
  let firstAt: number | undefined
  let end: ChainAnchor | undefined
  let read = 1
  while (read > 0) {
    // Before the page: an entry and the head that names it are committed together.
    end = await place(database, 'head')
    const page = await lists.chainedAudit(check.last?.sequence ?? 0)
    for (const entry of page) {
      firstAt ??= entry.at
      const { sequence = 0, hmac = '' } = entry
      check.add({ ...entry, sequence, hmac })
    }
    read = page.length
  }
  if (!end) onProblem('the mark of the end of the chain is missing')
  check.end(end)
  const unchained = await countUnchained(lists)
  checkUnchained(unchained.newestAt, firstAt, onProblem)
  return {
    problems,
    verified: check.verified,
    first: check.first,
    head: check.last ?? chainStart,
    removed: start.sequence,
    unchained,
    keys: check.ranges,
  }
}

/** Someone without a key could insert entries without an HMAC. Those of earlier versions are from before the chain. */
export const checkUnchained = (
  newestAt: number | undefined,
  chainBeginsAt: number | undefined,
  onProblem: (problem: string) => void,
): void => {
  if (newestAt === undefined || chainBeginsAt === undefined || newestAt <= chainBeginsAt + toleranceMs) return
  onProblem('an entry without an HMAC is newer than the chain: an earlier version, or someone without a key, wrote it')
}

const place = async (database: Database, name: 'head' | 'anchor'): Promise<ChainAnchor | undefined> => {
  const [found] = await database.query<ChainAnchor>(sql`
    select sequence, hmac, damaged, signature
    from audit_chain
    where name = ${name}`)
  return found
}

const countUnchained = async (lists: Pick<AuditLists, 'unchainedAudit'>): Promise<AuditReport['unchained']> => {
  let entries = 0
  let page = await lists.unchainedAudit()
  let last = page.at(-1)
  let newestAt: number | undefined
  while (last) {
    entries += page.length
    newestAt = last.at
    page = await lists.unchainedAudit(last)
    last = page.at(-1)
  }
  return { entries, newestAt }
}
