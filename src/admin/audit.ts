import { randomUUID } from 'node:crypto'
import type { AuditEvent } from '../../plugins/shared/audit.ts'
import type { AuditEntry, AuditFilter, NewAuditEntry, Store } from '../store/index.ts'
import { escapeForTerminal } from './terminal.ts'

/** The audit entry of an admin command. Its address is `admin`, because the command line has no login. */
export const byAdmin = ({ action, user, name, target, fields }: AuditEvent, at: number): NewAuditEntry => ({
  ...{ id: randomUUID(), at, action, user, name, kind: target?.kind, target: target?.id, fields },
  ...{ address: 'admin', times: 1 },
})

/** Prints the trail, oldest first, as one JSON object per line. Reads it page by page, because it may be long. */
export const printAudit = async (
  store: Pick<Store, 'listAudit'>,
  filter: AuditFilter,
  out: (line: string) => void,
): Promise<void> => {
  let page = await store.listAudit(filter)
  for (let last = page.at(-1); last; last = page.at(-1)) {
    for (const entry of page) out(escapeForTerminal(JSON.stringify(toOutput(entry))))
    page = await store.listAudit(filter, last)
  }
}

const toOutput = ({
  at,
  action,
  user,
  name,
  token,
  kind,
  target,
  address,
  status,
  reason,
  fields,
  times,
}: AuditEntry) => ({
  ...{ at: new Date(at).toISOString(), action, user: name, user_id: user, token },
  ...{ kind, id: target, address, status, reason, fields, times },
})
