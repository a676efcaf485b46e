import type { AuditAction } from '../../../plugins/shared/audit.ts'
import { parsedJson } from '../../../plugins/shared/json/parsed.ts'
import type { ChainKey, ChainPlace } from './chain.ts'
import { ChainCheck, type ChainedEntry } from './chain-check.ts'
import type { AuditEntry } from './entry.ts'
import { type AuditReport, checkUnchained, firstProblems } from './verify.ts'

/** A line of an exported trail. */
export interface AuditLine {
  /** ISO 8601, in UTC. */
  readonly at: string
  readonly action: string
  /** Name of the user. */
  readonly user?: string
  readonly user_id?: string
  readonly token?: string
  /** Kind and id of the object that the action affects. */
  readonly kind?: string
  readonly id?: string
  readonly address?: string
  readonly status?: number
  readonly reason?: string
  readonly fields?: readonly string[]
  readonly times: number
  /** Its place in the chain. */
  readonly sequence?: number
  readonly previous?: string
  readonly hmac?: string
}

export const toAuditLine = (entry: AuditEntry): AuditLine => {
  const { at, action, user, name, token, kind, target, address, status, reason, fields, times } = entry
  return {
    ...{ at: new Date(at).toISOString(), action, user: name, user_id: user, token },
    ...{ kind, id: target, address, status, reason, fields, times },
    ...{ sequence: entry.sequence, previous: entry.previous, hmac: entry.hmac },
  }
}

/** Longer than any line of an entry. */
export const maxAuditLineLength = 2 ** 16

/**
 * Verifies the lines of an exported trail, all of it or a part from some entry on. Its first entry says what was before
 * it.
 */
export const verifyExport = async (
  lines: AsyncIterable<string>,
  keys: readonly ChainKey[],
  head: ChainPlace | undefined,
): Promise<AuditReport> => {
  const { problems, onProblem } = firstProblems()
  const check = new ChainCheck({ keys, onProblem, ...(head && { head }) })
  let number = 0
  let entries = 0
  let newestAt: number | undefined
  let beginsAt: number | undefined
  for await (const line of lines) {
    number++
    const entry = entryOf(line)
    if (!entry) onProblem(`line ${number} is not an entry of the audit trail`)
    else if (isChained(entry)) {
      beginsAt ??= entry.at
      check.add(entry)
    } else {
      entries++
      newestAt = Math.max(entry.at, newestAt ?? entry.at)
    }
  }
  check.end()
  checkUnchained(newestAt, beginsAt, onProblem)
  return {
    ...{ problems, verified: check.verified, head: check.last ?? { sequence: 0, hmac: '' }, keys: check.ranges },
    ...(check.first !== undefined && { first: check.first }),
    removed: (check.first ?? 1) - 1,
    unchained: { entries, ...(newestAt !== undefined && { newestAt }) },
  }
}

type ReadEntry = Omit<ChainedEntry, 'sequence' | 'hmac'> & Partial<ChainPlace>

const isChained = (entry: ReadEntry): entry is ChainedEntry => entry.sequence !== undefined && entry.hmac !== undefined

/** The entry of a line. Undefined when it has not the form of one: the values themselves are covered by the HMAC. */
const entryOf = (text: string): ReadEntry | undefined => {
  const line = parsedJson(text)
  if (typeof line !== 'object' || line === null) return undefined
  const {
    at,
    action,
    user,
    user_id,
    token,
    kind,
    id,
    address,
    status,
    reason,
    fields,
    times,
    sequence,
    previous,
    hmac,
  } = line as AuditLine
  const ms = Date.parse(at)
  const isPlaced = sequence === undefined || (Number.isSafeInteger(sequence) && typeof hmac === 'string')
  if (Number.isNaN(ms) || !isPlaced) return undefined
  return {
    ...{ at: ms, action: action as AuditAction, name: user, user: user_id, token, kind, target: id, address, status },
    ...{ reason, fields, times, sequence, previous, hmac },
  } as ReadEntry
}
