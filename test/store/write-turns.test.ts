import { expect, test } from 'bun:test'
import { setImmediate } from 'node:timers'
import { openSqlite } from '../../src/store/database/sqlite.ts'
import { sql } from '../../src/store/database/statement.ts'

/** What has happened, in order: each write, and each turn of the event loop. */
const observe = async (writes: number) => {
  const database = openSqlite(':memory:')
  await database.query(sql`create table numbers (n integer)`)
  const events: string[] = []
  let isOpen = true
  const turn = () => {
    events.push('turn')
    if (isOpen) setImmediate(turn)
  }
  await new Promise((resolve) => setImmediate(resolve))
  setImmediate(turn)
  const write = async (n: number) => {
    if (n % 2 === 0) await database.query(sql`insert into numbers (n) values (${n})`)
    else await database.batch([sql`insert into numbers (n) values (${n})`])
    events.push(`write ${n}`)
  }
  await Promise.all(Array.from({ length: writes }, (_, n) => write(n)))
  isOpen = false
  const numbers = await database.query<{ n: number }>(sql`select n from numbers`)
  await database.close()
  return { events, numbers: numbers.map(({ n }) => n) }
}

test('many writes at once are done in order, one in each turn of the event loop', async () => {
  const { events, numbers } = await observe(20)
  expect(numbers).toEqual(Array.from({ length: 20 }, (_, n) => n))
  const perTurn = events
    .join(',')
    .split('turn')
    .map((turn) => turn.match(/write/g)?.length ?? 0)
  expect(Math.max(...perTurn)).toBe(1)
  expect(perTurn.length).toBeGreaterThanOrEqual(20)
})

test('a read does not wait for a write, nor a single write for a turn', async () => {
  const database = openSqlite(':memory:')
  const done: string[] = []
  await database.query(sql`create table numbers (n integer)`)
  await new Promise((resolve) => setImmediate(resolve))
  const timer = new Promise<void>((resolve) =>
    setImmediate(() => {
      done.push('turn')
      resolve()
    }),
  )
  await database.query(sql`insert into numbers (n) values (1)`).then(() => done.push('write'))
  const second = database.query(sql`insert into numbers (n) values (2)`).then(() => done.push('second write'))
  await database.query(sql`select n from numbers`).then(() => done.push('read'))
  await Promise.all([timer, second])
  expect(done.slice(0, 2)).toEqual(['write', 'read'])
  await database.close()
})
