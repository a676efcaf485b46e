import { describe, expect, test } from 'bun:test'
import { type Row, type Statement, sql } from '../../src/store/database.ts'
import { GroupCommit } from '../../src/store/group-commit.ts'
import { settled } from '../support/virtual-clock.ts'

const writeOf = (row: string, nth = 0) => ({ row, statement: sql`${row} ${nth}` })

/** A database that gives back what it was told, and notes its transactions. */
const open = (fails: (rows: readonly unknown[]) => boolean = () => false) => {
  const transactions: (readonly unknown[])[] = []
  const ask = (statements: readonly Statement[]): Row[][] => {
    const rows = statements.map(({ values }) => values.join(' '))
    transactions.push(rows)
    if (fails(rows)) throw new Error('no answer')
    return rows.map((row) => [{ row }])
  }
  const group = new GroupCommit({
    query: async <Result>(statement: Statement) => ask([statement])[0] as Result[],
    batch: async (statements) => ask(statements),
  })
  return { group, transactions }
}

describe('what is written in one turn of the event loop', () => {
  test('is one transaction, in the order of the rows, and everybody gets the rows asked for', async () => {
    const { group, transactions } = open()
    const answers = await Promise.all([
      group.write([writeOf('c'), writeOf('a')]),
      group.write([writeOf('b', 1)]),
      group.write([writeOf('b', 2), writeOf('a', 3)]),
    ])
    expect(transactions).toEqual([['a 0', 'a 3', 'b 1', 'b 2', 'c 0']])
    expect(answers.map((rows) => rows.flat().map(({ row }) => row))).toEqual([['c 0', 'a 0'], ['b 1'], ['b 2', 'a 3']])
  })

  test('does not wait for what comes later', async () => {
    const { group, transactions } = open()
    const first = group.write([writeOf('a')])
    await settled()
    expect(transactions).toEqual([['a 0']])
    await group.write([writeOf('b')])
    await first
    expect(transactions).toHaveLength(2)
  })

  test('fails together; what comes later does not', async () => {
    const { group } = open((rows) => rows.includes('bad 0'))
    const asked = [group.write([writeOf('a')]), group.write([writeOf('bad')])]
    expect((await Promise.allSettled(asked)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await group.write([writeOf('a')])).toEqual([[{ row: 'a 0' }]])
  })

  test('is 200 rows at most, unless one caller has more; others have their turn in between', async () => {
    const { group, transactions } = open()
    const many = (count: number, row: string) =>
      group.write(Array.from({ length: count }, (_, nth) => writeOf(`${row} ${nth}`)))
    let turns = 0
    const turn = () => {
      turns++
      if (turns < 5) setImmediate(turn)
    }
    const asked = [many(150, 'a'), many(50, 'b'), many(1, 'c'), many(500, 'd'), many(1, 'e')]
    setImmediate(turn)
    const answers = await Promise.all(asked)
    expect(transactions.map((rows) => rows.length)).toEqual([200, 1, 500, 1])
    expect(answers.map((rows) => rows.length)).toEqual([150, 50, 1, 500, 1])
    expect(turns).toBeGreaterThan(2)
  })
})
