import { createReadStream } from 'node:fs'
import { namedKeys } from '../store/audit/chain.ts'
import { maxAuditLineLength, verifyExport } from '../store/audit/export.ts'
import type { AuditReport, ChainPlace, Store } from '../store/index.ts'
import { CommandRejectedError, UsageError } from './arguments.ts'
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
    return printReport(await verifyExport(linesOf(file), namedKeys(auditKeys), place), on)
  }
  await store.migrate()
  const report =
    file === undefined
      ? store.verifyAudit({ head: place })
      : verifyExport(linesOf(file), await store.auditKeys(), place)
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

/** The lines of a file. Throws CommandRejectedError for one that cannot be read. */
async function* linesOf(path: string): AsyncGenerator<string> {
  let rest = ''
  try {
    for await (const chunk of createReadStream(path, 'utf8')) {
      const lines = `${rest}${chunk}`.split('\n')
      rest = lines.pop() ?? ''
      yield* lines
      if (rest.length > maxAuditLineLength) throw new Error('it has a line that is too long')
    }
  } catch (error) {
    throw new CommandRejectedError(`${path} cannot be read: ${error instanceof Error ? error.message : error}`)
  }
  if (rest !== '') yield rest
}
