import { randomBytes } from 'node:crypto'
import type { LeaseStore } from '../../plugins/shared/background/lease-store.ts'
import type { Database } from './database/database.ts'
import { sql } from './database/statement.ts'

/** A lease that ends later than this many of its lengths from now was taken by a process whose clock was ahead. */
const maxLengths = 10

/** Named leases. */
export const createLeaseStore = (database: Database): LeaseStore => ({
  async takeLease(name, holder, now, until) {
    const taken = await database.query(sql`
      insert into leases (name, holder, lease_until)
      values (${name}, ${holder}, ${until})
      on conflict (name) do update
      set holder = excluded.holder, lease_until = excluded.lease_until
      where leases.holder = excluded.holder
      or leases.lease_until <= ${now}
      or leases.lease_until > ${now + maxLengths * (until - now)}
      returning name`)
    return taken.length === 1
  },

  async releaseLease(name, holder) {
    await database.query(sql`
      delete from leases
      where name = ${name}
      and holder = ${holder}`)
  },
})

/**
 * Writes some pages, as other changes do, and removes them, each within `ms` milliseconds: it shows whether the
 * database has room.
 */
export const writeProbe = async (database: Database, ms: number): Promise<void> => {
  await database.query(
    sql`
      insert into leases (name, holder, lease_until)
      values ('room', ${probeText}, 0)
      on conflict (name) do update
      set holder = excluded.holder`,
    { deadlineMs: ms },
  )
  await database.query(
    sql`
      delete from leases
      where name = 'room'`,
    { deadlineMs: ms },
  )
}

// Random, because PostgreSQL compresses long texts.
const probeText = randomBytes(3 * 2 ** 14).toString('base64')
