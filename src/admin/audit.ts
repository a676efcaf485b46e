import { randomUUID } from 'node:crypto'
import type { AuditEvent } from '../../plugins/shared/audit.ts'
import type { AuditEntry, AuditFilter, NewAuditEntry, Store } from '../store/index.ts'
import { printable } from './arguments.ts'

/** An administrator's own doing, for the audit trail: nobody logs in here, so it comes from `admin`. */
export const byAdmin = ({ action, user, name, target }: AuditEvent, at: number): NewAuditEntry => ({
  ...{ id: randomUUID(), at, action, user, name, kind: target?.kind, target: target?.id },
  ...{ address: 'admin', times: 1 },
})

/** Prints the trail, oldest first, as JSON, one object a line. Takes it from the store a page at a time: it may be long. */
export const printAudit = async (
  store: Pick<Store, 'listAudit'>,
  filter: AuditFilter,
  out: (line: string) => void,
): Promise<void> => {
  let page = await store.listAudit(filter)
  for (let last = page.at(-1); last; last = page.at(-1)) {
    for (const entry of page) out(printable(JSON.stringify(shown(entry))))
    page = await store.listAudit(filter, last)
  }
}

const shown = ({ at, action, user, name, token, kind, target, address, status, reason, times }: AuditEntry) => ({
  ...{ at: new Date(at).toISOString(), action, user: name, user_id: user, token },
  ...{ kind, id: target, address, status, reason, times },
})
