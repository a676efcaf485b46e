import { createReadStream } from 'node:fs'
import type { AuditAction } from '../../plugins/shared/audit.ts'
import { namedKeys } from '../store/audit/chain.ts'
import { ChainCheck, type ChainedEntry } from '../store/audit/chain-check.ts'
import { checkUnchained, firstProblems } from '../store/audit/verify.ts'
import type { AuditReport, ChainKey, ChainPlace, Store } from '../store/index.ts'
import { CommandRejectedError, UsageError } from './arguments.ts'
import type { AuditLine } from './audit.ts'
import { escapeForTerminal, time } from './terminal.ts'

/** Parses a place in the chain, such as `120:3f…`. Throws UsageError. */
const chainPlace = (text: string, flag: string): ChainPlace => {
  const [, sequence, hmac] = /^(\d{1,15}):([\da-f]{64})$/.exec(text) ?? []
  if (sequence === undefined || hmac === undefined)
    throw new UsageError(`${flag} must be a number, a colon and an HMAC`)
  return { sequence: Number(sequence), hmac }
}

/** What a verification needs of `AdminContext`. */
export interface VerificationContext {
  readonly store: Pick<Store, 'migrate' | 'auditKeys' | 'verifyAudit'>
  readonly auditKeys?: readonly string[]
  readonly out: (line: string) => void
  readonly err: (line: string) => void
}

/**
 * Verifies the trail in the store, or in a file, and prints what it has found. The store is not used for a file where
 * keys are configured. Throws UsageError, and CommandRejectedError for a trail that is not intact.
 */
export const printVerification = async (
  { file, head }: { readonly file: string | undefined; readonly head: string | undefined },
  on: VerificationContext,
): Promise<void> => {
  const { store, auditKeys = [] } = on
  const place = head === undefined ? undefined : chainPlace(head, '--head')
  if (file !== undefined && auditKeys.length > 0) {
    return printReport(await verifyExport(file, namedKeys(auditKeys), place), on)
  }
  await store.migrate()
  const report =
    file === undefined ? store.verifyAudit({ head: place }) : verifyExport(file, await store.auditKeys(), place)
  printReport(await report, on)
}

/** Prints a report as one JSON object, and its problems as errors. Throws CommandRejectedError if there are any. */
const printReport = (
  { problems, verified, first, head, removed, unchained, keys }: AuditReport,
  { out, err }: Pick<VerificationContext, 'out' | 'err'>,
): void => {
  const newest = unchained.newestAt === undefined ? null : time(unchained.newestAt)
  const report = { verified, first: first ?? null, head: `${head.sequence}:${head.hmac}`, removed }
  out(JSON.stringify({ ...report, without_hmac: unchained.entries, newest_without_hmac: newest, keys }))
  for (const problem of problems) err(escapeForTerminal(problem))
  if (problems.length > 0) throw new CommandRejectedError('the audit trail is not intact')
}

/**
 * Verifies a file that `audit` has printed without options. Its first entry says what was before it. Throws
 * CommandRejectedError for a file that cannot be read.
 */
const verifyExport = async (
  path: string,
  keys: readonly ChainKey[],
  head: ChainPlace | undefined,
): Promise<AuditReport> => {
  const { problems, onProblem } = firstProblems()
  const check = new ChainCheck({ keys, onProblem, ...(head && { head }) })
  let number = 0
  let entries = 0
  let newestAt: number | undefined
  let beginsAt: number | undefined
  for await (const line of linesOf(path)) {
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

/** Longer than any line of an entry. */
const maxLineLength = 2 ** 16

async function* linesOf(path: string): AsyncGenerator<string> {
  let rest = ''
  try {
    for await (const chunk of createReadStream(path, 'utf8')) {
      const lines = `${rest}${chunk}`.split('\n')
      rest = lines.pop() ?? ''
      yield* lines
      if (rest.length > maxLineLength) throw new Error('it has a line that is too long')
    }
  } catch (error) {
    throw new CommandRejectedError(`${path} cannot be read: ${error instanceof Error ? error.message : error}`)
  }
  if (rest !== '') yield rest
}

type ReadEntry = Omit<ChainedEntry, 'sequence' | 'hmac'> & Partial<ChainPlace>

const isChained = (entry: ReadEntry): entry is ChainedEntry => entry.sequence !== undefined && entry.hmac !== undefined

/** The entry of a line. Undefined when it has not the form of one: the values themselves are covered by the HMAC. */
const entryOf = (text: string): ReadEntry | undefined => {
  const line = parsed(text)
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

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
