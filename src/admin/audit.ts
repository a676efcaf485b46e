import { randomUUID } from 'node:crypto'
import { type AuditEvent, auditActions } from '../../plugins/shared/audit.ts'
import { toAuditLine } from '../store/audit/export.ts'
import type { AuditEntry, AuditFilter, NewAuditEntry, Store } from '../store/index.ts'
import { instant, UsageError } from './arguments.ts'
import { escapeForTerminal } from './terminal.ts'

/** The audit entry of an admin command. Its address is `admin`, because the command line has no login. */
export const byAdmin = ({ action, user, name, target, fields }: AuditEvent, at: number): NewAuditEntry => ({
  ...{ id: randomUUID(), at, action, user, name, kind: target?.kind, target: target?.id, fields },
  ...{ address: 'admin', times: 1 },
})

/** The flags of `audit`. */
export interface AuditFlags {
  readonly user?: string
  readonly action?: string
  readonly since?: string
  readonly until?: string
}

/** Throws UsageError. */
export const auditFilterOf = ({ user, action, since, until }: AuditFlags): AuditFilter => {
  const known = auditActions.find((each) => each === action)
  if (action !== undefined && !known) throw new UsageError(`--action must be one of ${auditActions.join(', ')}`)
  const from = since === undefined ? undefined : instant(since, '--since')
  const to = until === undefined ? undefined : instant(until, '--until')
  if (from !== undefined && to !== undefined && from > to) throw new UsageError('--since is after --until')
  return { user, action: known, since: from, until: to }
}

/**
 * Prints the trail, oldest first, as one JSON object per line. Reads it page by page, because it may be long.
 *
 * Without a filter, the entries of the chain are in its order, so that what was printed can be verified.
 */
export const printAudit = async (
  store: Pick<Store, 'listAudit' | 'chainedAudit' | 'unchainedAudit'>,
  filter: AuditFilter,
  out: (line: string) => void,
): Promise<void> => {
  const print = async (read: (last: AuditEntry | undefined) => Promise<readonly AuditEntry[]>) => {
    let page = await read(undefined)
    for (let last = page.at(-1); last; last = page.at(-1)) {
      for (const entry of page) out(escapeForTerminal(JSON.stringify(toAuditLine(entry))))
      page = await read(last)
    }
  }
  if (Object.values(filter).some((value) => value !== undefined)) return print((last) => store.listAudit(filter, last))
  await print((last) => store.unchainedAudit(last))
  await print((last) => store.chainedAudit(last?.sequence ?? 0))
}
