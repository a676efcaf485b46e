import type { KillWorld } from '../world.ts'
import type { Tables } from './tables.ts'

/** The audit trail is whole, and has what is recorded before its answer. */
export const checkTrail = async ({ store, history }: KillWorld, tables: Tables): Promise<readonly string[]> => {
  const report = await store.verifyAudit()
  const rows = await tables.query(
    'select action, target, sum(times) as times from audit_entries group by action, target',
  )
  const found = new Map(rows.map(({ action, target, times }) => [`${action} ${target ?? ''}`, Number(times)]))
  const expected = Map.groupBy(history.audited, ({ action, target = '' }) => `${action} ${target}`)
  const missing = [...expected].filter(([key, all]) => (found.get(key) ?? 0) < all.length)
  return [
    ...report.problems,
    ...(report.unchained.entries > 0 ? [`${report.unchained.entries} entries of the audit trail are in no chain`] : []),
    ...missing.map(([key, all]) => `the audit trail has ${key} ${found.get(key) ?? 0} times instead of ${all.length}`),
  ]
}
