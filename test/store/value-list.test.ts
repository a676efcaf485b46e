import { beforeAll, expect, test } from 'bun:test'
import type { Database } from '../../src/store/database/database.ts'
import { openPostgres } from '../../src/store/database/postgres.ts'
import { openSqlite } from '../../src/store/database/sqlite.ts'
import { clause, fragment, limitTo, type Statement, sql, valueList } from '../../src/store/database/statement.ts'
import { eachDatabase } from '../support/database.ts'

const named = (names: readonly string[]): Statement =>
  clause`select name from things where name in (${valueList(names)}) order by name`

const names = Array.from({ length: 1_000 }, (_, nth) => `thing ${String(nth).padStart(4, '0')}`)

test('lists of a thousand lengths are eleven statements', () => {
  expect(new Set(names.map((_, nth) => named(names.slice(nth)).strings)).size).toBe(11)
})

test('a clause has its parameters where it stands, and is one statement with each other clause', () => {
  const columns = fragment`id, name`
  const some = (id: number, from: Statement, max: number) =>
    clause`select ${columns} from (${from}) found where ${null} is null and id > ${id} ${limitTo(max)}`
  const things = (name: string) => clause`select * from things where name = ${name} or name = ${undefined}`
  const { strings, values } = some(1, things('a'), 9)
  expect(strings.join('?')).toBe(
    'select id, name from (select * from things where name = ? or name = ?) found where ? is null and id > ? limit 9',
  )
  expect(values).toEqual(['a', null, null, 1])
  expect(some(2, things('b'), 9).strings).toBe(strings)
  expect(some(2, clause`select * from others`, 9).strings.join('?')).toBe(
    'select id, name from (select * from others) found where ? is null and id > ? limit 9',
  )
})

test('a list of clauses in a clause is all of them where it stands, also none', () => {
  const found = (...conditions: readonly Statement[]) =>
    clause`select id from things where id > ${1} ${conditions} limit ${2}`
  const named = (name: string) => clause`and name = ${name} `
  const { strings, values } = found(named('a'), named('b'))
  expect(strings.join('?')).toBe('select id from things where id > ? and name = ? and name = ?  limit ?')
  expect(values).toEqual([1, 'a', 'b', 2])
  expect(found(named('c'), named('d')).strings).toBe(strings)
  expect([found().strings.join('?'), found().values]).toEqual(['select id from things where id > ?  limit ?', [1, 2]])
})

eachDatabase('a list of values', (tested) => {
  let database: Database
  beforeAll(async () => {
    const { kind, url } = tested
    database = kind === 'sqlite' ? openSqlite(url.slice('sqlite:'.length)) : openPostgres(url, { deadlineMs: 60_000 })
    await database.query(sql`create table things (name text)`)
    for (const name of names.slice(0, 20)) await database.query(sql`insert into things (name) values (${name})`)
  })

  test('of any length finds each row once', async () => {
    for (const length of [1, 2, 3, 5, 16, 17, 1_000]) {
      const rows = await database.query<{ name: string }>(named(names.slice(0, length)))
      expect(rows.map(({ name }) => name)).toEqual(names.slice(0, Math.min(length, 20)))
    }
    await database.close()
  })
})
