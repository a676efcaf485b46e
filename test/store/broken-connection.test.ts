import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Database, Row, Steps } from '../../src/store/database/database.ts'
import { openPostgres } from '../../src/store/database/postgres.ts'
import { readRevision } from '../../src/store/database/revision.ts'
import { sql } from '../../src/store/database/statement.ts'
import { type FaultProxy, startFaultProxy } from '../faults/fault-proxy.ts'
import { PostgresCut } from '../faults/postgres-cut.ts'
import { type FreshDatabase, migratedDatabase } from '../support/database.ts'

let made: FreshDatabase
let proxy: FaultProxy
let database: Database
beforeAll(async () => {
  made = await migratedDatabase('postgres')
  proxy = await startFaultProxy(Number(new URL(made.url).port), () => new PostgresCut({ count: 0 }))
  database = openPostgres(proxy.before(made.url), { deadlineMs: 60_000 })
}, 300_000)
afterAll(async () => {
  await database.close()
  await proxy[Symbol.asyncDispose]()
  await made.remove()
})

/** Half of the answer has some of the rows. */
const tenRows = sql`select nth, repeat('x', 100) as text from generate_series(1, 10) as nth`

test('an answer that breaks off leaves nothing in those that follow', async () => {
  expect(await database.query(tenRows)).toHaveLength(10)
  await proxy.fail({ kind: 'cut', at: 'read' })
  await expect(database.query(tenRows)).rejects.toThrow('the database request failed')
  await proxy.recover()
  for (let times = 0; times < 3; times++) {
    expect(await database.query(sql`select 7 as "value"`)).toEqual([{ value: 7 }])
    expect(await database.query(tenRows)).toHaveLength(10)
  }
})

test('a revision is read right after an answer that has broken off', async () => {
  const before = Number(await readRevision(database))
  await proxy.fail({ kind: 'cut', at: 'read' })
  await expect(database.query(tenRows)).rejects.toThrow('the database request failed')
  await proxy.recover()
  expect(await readRevision(database, before)).toEqual({ value: before, changes: [] })
})

const steps = function* (): Steps<readonly Row[]> {
  return yield tenRows
}

// After a close, the driver would throw where nobody catches it.
test.each([false, true])(
  'a transaction whose connection breaks leaves nothing in those that follow (it is closed: %p)',
  async (closes) => {
    await proxy.fail({ kind: 'cut', at: 'transaction', closes })
    await expect(database.transaction(steps)).rejects.toThrow('the database request failed')
    await expect(database.batch([tenRows, tenRows])).rejects.toThrow('the database request failed')
    await proxy.recover()
    expect(await database.transaction(steps)).toHaveLength(10)
  },
)
