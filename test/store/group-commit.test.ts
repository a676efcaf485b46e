import { describe, expect, test } from 'bun:test'
import type { Row } from '../../src/store/database/database.ts'
import { RejectedValueError } from '../../src/store/database/error.ts'
import { GroupCommit } from '../../src/store/database/group-commit.ts'
import { type Statement, sql } from '../../src/store/database/statement.ts'
import { settled } from '../support/virtual-clock.ts'

const writeOf = (row: string, index = 0) => ({ row, statement: sql`${row} ${index}` })

/** A database that returns the values that it was given, and records its transactions. */
const open = (fails: (rows: readonly unknown[]) => boolean = () => false, error = new Error('no response')) => {
  const transactions: (readonly unknown[])[] = []
  const execute = (statements: readonly Statement[]): Row[][] => {
    const rows = statements.map(({ values }) => values.join(' '))
    transactions.push(rows)
    if (fails(rows)) throw error
    return rows.map((row) => [{ row }])
  }
  const groupCommit = new GroupCommit({
    query: async <Result>(statement: Statement) => execute([statement])[0] as Result[],
    batch: async (statements) => execute(statements),
  })
  return { groupCommit, transactions }
}

describe('the writes of one turn of the event loop', () => {
  test('share one transaction, in the order of the rows, and each caller gets its own rows', async () => {
    const { groupCommit, transactions } = open()
    const results = await Promise.all([
      groupCommit.write([writeOf('c'), writeOf('a')]),
      groupCommit.write([writeOf('b', 1)]),
      groupCommit.write([writeOf('b', 2), writeOf('a', 3)]),
    ])
    expect(transactions).toEqual([['a 0', 'a 3', 'b 1', 'b 2', 'c 0']])
    expect(results.map((rows) => rows.flat().map(({ row }) => row))).toEqual([['c 0', 'a 0'], ['b 1'], ['b 2', 'a 3']])
  })

  test('do not wait for later writes', async () => {
    const { groupCommit, transactions } = open()
    const first = groupCommit.write([writeOf('a')])
    await settled()
    expect(transactions).toEqual([['a 0']])
    await groupCommit.write([writeOf('b')])
    await first
    expect(transactions).toHaveLength(2)
  })

  test('fail together; later writes do not', async () => {
    const { groupCommit } = open((rows) => rows.includes('bad 0'))
    const pending = [groupCommit.write([writeOf('a')]), groupCommit.write([writeOf('bad')])]
    expect((await Promise.allSettled(pending)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await groupCommit.write([writeOf('a')])).toEqual([[{ row: 'a 0' }]])
  })

  test('have texts of a MiB at most, unless one caller has more', async () => {
    const { groupCommit, transactions } = open()
    const half = 'x'.repeat(2 ** 19)
    await Promise.all(
      [3, 1, 1, 1].map((halves, nth) =>
        groupCommit.write([{ row: String(nth), statement: sql`${half.repeat(halves)} ${nth}` }]),
      ),
    )
    expect(transactions.map((rows) => rows.length)).toEqual([1, 2, 1])
  })

  test('of one caller that the database does not accept fail alone', async () => {
    const rejected = new RejectedValueError('not accepted')
    const { groupCommit, transactions } = open((rows) => rows.includes('bad 0'), rejected)
    const names = ['bad', ...Array.from({ length: 20 }, (_, index) => `row ${index}`)]
    const settledWrites = await Promise.allSettled(names.map((name) => groupCommit.write([writeOf(name)])))
    expect(settledWrites.map(({ status }) => status)).toEqual(['rejected', ...Array(20).fill('fulfilled')])
    expect(settledWrites[20]).toMatchObject({ value: [[{ row: 'row 19 0' }]] })
    expect(transactions.length).toBeLessThan(12)
  })

  test('are at most 200 rows, unless one caller has more; the event loop runs between transactions', async () => {
    const { groupCommit, transactions } = open()
    const many = (count: number, row: string) =>
      groupCommit.write(Array.from({ length: count }, (_, index) => writeOf(`${row} ${index}`)))
    let turns = 0
    const countTurn = () => {
      turns++
      if (turns < 5) setImmediate(countTurn)
    }
    const pending = [many(150, 'a'), many(50, 'b'), many(1, 'c'), many(500, 'd'), many(1, 'e')]
    setImmediate(countTurn)
    const results = await Promise.all(pending)
    expect(transactions.map((rows) => rows.length)).toEqual([200, 1, 500, 1])
    expect(results.map((rows) => rows.length)).toEqual([150, 50, 1, 500, 1])
    expect(turns).toBeGreaterThan(2)
  })
})
