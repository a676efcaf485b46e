import { setImmediate } from 'node:timers'
import type { Database, Row, Statement } from './database.ts'

/** A statement that writes a row, and which one. */
export interface Write {
  readonly row: string
  readonly statement: Statement
}

interface Waiting {
  readonly writes: readonly Write[]
  readonly resolve: (rows: Row[][]) => void
  readonly reject: (error: unknown) => void
}

/** SQLite works within the call: requests have their turn between one transaction and the next. What belongs together stays together, however much it is. */
const mostTogether = 200

/** Writes what is asked for in one turn of the event loop in one transaction: what costs is that it is on the disk, not how many rows there are. */
export class GroupCommit {
  readonly #database: Pick<Database, 'query' | 'batch'>
  #waiting: Waiting[] = []

  constructor(database: Pick<Database, 'query' | 'batch'>) {
    this.#database = database
  }

  /** The rows of each, when all of them are written; rejects when none is, which may then be so for others who asked at the same moment, too. */
  write(writes: readonly Write[]): Promise<Row[][]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ writes, resolve, reject })
      if (this.#waiting.length === 1) setImmediate(this.#writeAll)
    })
  }

  readonly #writeAll = (): void => {
    const group: Waiting[] = []
    let rows = 0
    while (this.#waiting[0] && (rows === 0 || rows + this.#waiting[0].writes.length <= mostTogether)) {
      const next = this.#waiting.shift() as Waiting
      rows += next.writes.length
      group.push(next)
    }
    if (this.#waiting.length > 0) setImmediate(this.#writeAll)
    this.#commit(group.flatMap(({ writes }) => writes)).then(
      (results) => {
        for (const { writes, resolve } of group) resolve(writes.map((write) => results.get(write) ?? []))
      },
      (error: unknown) => {
        for (const { reject } of group) reject(error)
      },
    )
  }

  async #commit(writes: readonly Write[]): Promise<ReadonlyMap<Write, Row[]>> {
    const [only, ...more] = writes
    if (only && more.length === 0) return new Map([[only, await this.#database.query(only.statement)]])
    // Always in one order: of two transactions with the same rows none waits for the other. Of one row, whoever asked first is first.
    const ordered = writes.toSorted((a, b) => (a.row < b.row ? -1 : Number(a.row > b.row)))
    const rows = await this.#database.batch(ordered.map(({ statement }) => statement))
    return new Map(ordered.map((write, nth) => [write, rows[nth] ?? []]))
  }
}
