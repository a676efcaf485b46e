import { afterAll, beforeAll, expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers'
import type { Database } from '../../src/store/database/database.ts'
import { StoreError } from '../../src/store/database/error.ts'
import { openSqlite } from '../../src/store/database/sqlite.ts'
import { sql } from '../../src/store/database/statement.ts'

const runtimes = {
  bun: [process.execPath],
  deno: [join(import.meta.dir, '../../node_modules/.bin/deno'), 'run', '--no-lock', '-A'],
} as const

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-writers-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const insert = (n: number) => sql`insert into numbers (n) values (${n})`
const numbers = sql`select n from numbers order by rowid`

/** A database that another connection has locked for its writes. */
const openLocked = async (name: string, deadlineMs?: number) => {
  const path = join(folder, name)
  const database = openSqlite(path, { deadlineMs })
  await database.query(sql`create table numbers (n integer)`)
  const other = new DatabaseSync(path)
  other.exec('begin immediate; insert into numbers (n) values (0)')
  return { database, other }
}

const someTurns = async (): Promise<void> => {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
}

test('while another process writes, writes wait in their order without blocking the event loop, and reads do not wait', async () => {
  const { database, other } = await openLocked('order.db', 600_000)
  const done: string[] = []
  const ways: ((n: number) => Promise<unknown>)[] = [
    (n) => database.query(insert(n)),
    (n) => database.batch([insert(n)]),
    (n) =>
      database.transaction(function* () {
        yield insert(n)
      }),
    (n) =>
      database.exclusively(function* () {
        yield insert(n)
      }),
  ]
  const writes = [...ways, ...ways].map((write, index) => write(index + 1).then(() => done.push(`write ${index + 1}`)))
  await someTurns()
  expect(await database.query(numbers)).toEqual([])
  done.push('read')
  await someTurns()
  expect(done).toEqual(['read'])
  other.exec('commit')
  await Promise.all(writes)
  expect(done).toEqual(['read', ...writes.map((_, index) => `write ${index + 1}`)])
  expect((await database.query<{ n: number }>(numbers)).map(({ n }) => n)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
  other.close()
  await database.close()
})

const failed = (written: Promise<unknown>) => written.then(() => undefined).catch((error: unknown) => error)

test('a write that waits for another process fails at its deadline, which begins with the call, and has changed nothing', async () => {
  const { database, other } = await openLocked('deadline.db', 200)
  const writes = Array.from({ length: 20 }, (_, index) => failed(database.query(insert(index + 1))))
  const first = await writes[0]
  expect(first).toBeInstanceOf(StoreError)
  expect((first as Error).cause).toMatchObject({ message: 'database is locked' })
  // With a deadline from the first attempt on, the others would wait for 3.8 seconds.
  let ticks = 0
  const ticking = setInterval(() => ticks++, 10)
  for (const write of writes) expect(await write).toBeInstanceOf(StoreError)
  expect(ticks).toBeLessThan(100)
  clearInterval(ticking)
  other.exec('commit')
  expect(await database.query(numbers)).toEqual([{ n: 0 }])
  await database.query(insert(1))
  expect(await database.query(numbers)).toEqual([{ n: 0 }, { n: 1 }])
  other.close()
  await database.close()
})

test('a write has the deadline that its caller asks for', async () => {
  const { database, other } = await openLocked('own-deadline.db', 600_000)
  expect(await failed(database.query(insert(1), { deadlineMs: 1 }))).toBeInstanceOf(StoreError)
  const nothing = function* () {
    yield insert(1)
  }
  expect(await failed(database.transaction(nothing, { deadlineMs: 1 }))).toBeInstanceOf(StoreError)
  other.exec('commit')
  other.close()
  await database.close()
})

/** Who wrote, in order. */
const writersOf = async (database: Database): Promise<string[]> => {
  const written = await database.query<{ writer: string; first: number }>(
    sql`select writer, number, min(id) as first from written group by writer, number order by first`,
  )
  return written.map(({ writer }) => writer)
}

/** The most writes of others between two of one writer, while it writes. */
const longestWait = (writers: readonly string[], name: string): number => {
  const own = writers.flatMap((writer, index) => (writer === name ? [index] : []))
  return Math.max(...own.map((index, nth) => index - (own[nth - 1] ?? -1) - 1))
}

test('of three processes that write at once, none gets an error or waits for many writes of the others, and the event loop of each goes on', async () => {
  const path = join(folder, 'three.db')
  const database = openSqlite(path)
  await database.query(sql`create table written (id integer primary key autoincrement, writer text, number integer)`)
  const other = new DatabaseSync(path)
  other.exec('begin immediate')
  const transactions = 200
  const script = join(import.meta.dir, 'writing-process.ts')
  const outputs = (['bun', 'bun', 'deno'] as const).map((runtime, index) => {
    const [command, ...args] = runtimes[runtime]
    const started = spawn(command, [...args, script, path, String(index), String(transactions), '20'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    return started.stdout.setEncoding('utf8')[Symbol.asyncIterator]()
  })
  const next = () => Promise.all(outputs.map(async (output) => String((await output.next()).value)))
  expect(await next()).toEqual(['waiting\n', 'waiting\n', 'waiting\n'])
  other.exec('commit')
  other.close()
  expect(await next()).toEqual(['0 errors\n', '0 errors\n', '0 errors\n'])
  const written = await writersOf(database)
  expect(written).toHaveLength(3 * transactions)
  for (const name of ['0', '1', '2']) expect(longestWait(written, name)).toBeLessThan(transactions / 2)
  await database.close()
}, 300_000)
