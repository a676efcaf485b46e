import { randomUUID } from 'node:crypto'
import type { Database } from '../../src/store/database/database.ts'
import { databaseKinds } from '../../src/store/database/kinds.ts'
import { type Statement, sql } from '../../src/store/database/statement.ts'
import { type NewAuditEntry, openStore, type Store, type StoreOptions } from '../../src/store/index.ts'
import type { TestDatabase } from '../support/database.ts'

export const day = 86_400_000
export const now = Date.UTC(2027, 0, 15, 12)

export const entryAt = (at: number, more: Partial<NewAuditEntry> = {}): NewAuditEntry => ({
  ...{
    id: randomUUID(),
    at,
    action: 'asset.create',
    user: 'ann',
    target: randomUUID(),
    fields: ['name', 'role'],
    times: 1,
  },
  ...more,
})

export interface Chain extends AsyncDisposable {
  readonly url: string
  readonly store: Store
  /** For whoever tampers with the rows. */
  readonly database: Database
  /** Writes `count` entries, one a second, in batches of seven. */
  add(count: number, startAt?: number): Promise<void>
  /** Another store on the same database. */
  open(options?: StoreOptions): Store
}

const reset: readonly Statement[] = [
  sql`delete from audit_entries`,
  sql`delete from audit_chain`,
  sql`insert into audit_chain (name, sequence, hmac, damaged) values ('head', 0, '', 0), ('anchor', 0, '', 0)`,
]

/** A store on the database of the suite, whose chain has no entries. */
export const openChain = async ({ kind, url }: TestDatabase, options: StoreOptions = {}): Promise<Chain> => {
  const opened: Store[] = []
  const open = (more: StoreOptions = {}) => {
    const store = openStore(url, { deadlineMs: 60_000, clock: { now: () => now }, ...options, ...more })
    opened.push(store)
    return store
  }
  const store = open()
  const database = databaseKinds[kind].open(url, { deadlineMs: 60_000 })
  await database.batch(reset)
  return {
    ...{ url, store, database, open },
    async add(count, startAt = now - day) {
      for (let first = 0; first < count; first += 7) {
        const batch = Array.from({ length: Math.min(7, count - first) }, (_, nth) => first + nth)
        await store.recordAudit(batch.map((nth) => entryAt(startAt + nth * 1_000)))
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([database.close(), ...opened.map((each) => each.close())])
    },
  }
}

/** The place of an entry, as someone with access to the database reads it. */
export const placeOf = async (database: Database, sequence: number) => {
  const [found] = await database.query<{ id: string; hmac: string }>(sql`
    select id, hmac
    from audit_entries
    where sequence = ${sequence}`)
  if (!found) throw new Error(`there is no entry ${sequence}`)
  return found
}
