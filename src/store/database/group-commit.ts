import { setImmediate } from 'node:timers'
import { afterIo } from '../../../plugins/shared/background/turns.ts'
import { runOutsideRequests } from '../../../plugins/shared/http/current-request.ts'
import type { Database, Row } from './database.ts'
import { isOfOneRow } from './error.ts'
import type { Statement } from './statement.ts'

/** A statement that writes one row. */
export interface RowWrite {
  /** Key of the row: writes are ordered by it. */
  readonly row: string
  readonly statement: Statement
}

interface Waiting {
  readonly writes: readonly RowWrite[]
  /** Length of all texts. */
  readonly length: number
  readonly resolve: (rows: Row[][]) => void
  readonly reject: (error: unknown) => void
}

/**
 * SQLite runs synchronously, so other requests run only between two transactions. The writes of one call are never
 * split, even if they are more than this.
 */
const maxWritesPerTransaction = 200

/** The same for the length of all texts. */
const maxLengthPerTransaction = 2 ** 20

/**
 * Group commit: all writes of one event-loop turn share a transaction. The commit to disk is what costs, not the number
 * of rows.
 */
export class GroupCommit {
  readonly #database: Pick<Database, 'query' | 'batch'>
  #waiting: Waiting[] = []

  constructor(database: Pick<Database, 'query' | 'batch'>) {
    this.#database = database
  }

  /**
   * Resolves with the rows of each write, when all are committed. Rejects when none is committed: then other calls of
   * the same event-loop turn reject too, unless the database does not accept a row of this one.
   */
  write(writes: readonly RowWrite[]): Promise<Row[][]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ writes, length: lengthOf(writes), resolve, reject })
      if (this.#waiting.length === 1) setImmediate(this.#writeAll)
    })
  }

  readonly #writeAll = (): void => {
    const group: Waiting[] = []
    let rows = 0
    let length = 0
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      rows += next.writes.length
      length += next.length
      if (group.length > 0 && (rows > maxWritesPerTransaction || length > maxLengthPerTransaction)) break
      group.push(next)
      this.#waiting.shift()
    }
    if (this.#waiting.length > 0) afterIo(this.#writeAll)
    // The first of them would run it as its user.
    void runOutsideRequests(() => this.#commitGroup(group))
  }

  /** If a transaction fails for one of its rows, it is halved, so that no call fails for the rows of others. */
  async #commitGroup(group: readonly Waiting[]): Promise<void> {
    try {
      const results = await this.#commit(group.flatMap(({ writes }) => writes))
      for (const { writes, resolve } of group) resolve(writes.map((write) => results.get(write) ?? []))
    } catch (error) {
      if (group.length > 1 && isOfOneRow(error)) {
        const middle = Math.ceil(group.length / 2)
        await this.#commitGroup(group.slice(0, middle))
        return this.#commitGroup(group.slice(middle))
      }
      for (const { reject } of group) reject(error)
    }
  }

  async #commit(writes: readonly RowWrite[]): Promise<ReadonlyMap<RowWrite, Row[]>> {
    const [only, ...more] = writes
    if (only && more.length === 0) return new Map([[only, await this.#database.query(only.statement)]])
    // Always in the order of the keys: two transactions with the same rows cannot deadlock. The sort is stable, so of
    // two writes of one row the earlier comes first.
    const ordered = writes.toSorted((a, b) => (a.row < b.row ? -1 : Number(a.row > b.row)))
    const rows = await this.#database.batch(ordered.map(({ statement }) => statement))
    return new Map(ordered.map((write, index) => [write, rows[index] ?? []]))
  }
}

const lengthOf = (writes: readonly RowWrite[]): number => {
  let length = 0
  for (const { statement } of writes)
    for (const value of statement.values) if (typeof value === 'string') length += value.length
  return length
}
