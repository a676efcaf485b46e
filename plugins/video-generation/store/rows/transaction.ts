import { randomUUID } from 'node:crypto'
import { delay } from '../../../shared/background/delay.ts'
import type {
  VideoListEntry,
  VideoListRange,
  VideoNews,
  VideoRow,
  VideoRowChange,
  VideoTaskStore,
} from '../task-store.ts'

/** How often a transaction is tried whose rows others have changed meanwhile. */
const maxTries = 100
/** Longest pause before another try, in milliseconds. */
const maxPauseMs = 20
/** Rows that one call lists. */
const pageSize = 500

/**
 * A transaction over rows: reads them, collects changes, and makes them only if no other has changed these rows since
 * they were read. What was read and not changed may be older.
 */
export class Transaction {
  readonly #store: VideoTaskStore
  readonly #read = new Map<string, VideoRow | undefined>()
  readonly #changes = new Map<string, VideoRowChange>()
  readonly #news: VideoNews[] = []
  #isStale = false

  constructor(store: VideoTaskStore) {
    this.#store = store
  }

  /** The value of a row, with the changes of this transaction. */
  async read(key: string): Promise<string | undefined> {
    const change = this.#changes.get(key)
    if (change) return change.to?.value
    if (!this.#read.has(key)) this.#read.set(key, await this.#store.readVideoRow(key))
    return this.#read.get(key)?.value
  }

  /** Values of a list, without the changes of this transaction. */
  async list(list: string, range: VideoListRange): Promise<readonly string[]> {
    const rows = await this.#store.listVideoRows(list, range)
    for (const row of rows) if (!this.#read.has(row.key)) this.#read.set(row.key, row)
    return rows.map(({ value }) => value)
  }

  /** Writes a row that was read before. */
  write(key: string, value: string, lists: readonly VideoListEntry[]): void {
    this.#change(key, this.#read.get(key)?.version, { key, version: randomUUID(), value, lists })
  }

  /** Removes a row that was read before. */
  remove(key: string): void {
    this.#change(key, this.#read.get(key)?.version, undefined)
  }

  /** Adds a row that never changes, and belongs to a task: its version is the id of the task. */
  addFixed(key: string, value: string, task: string): void {
    this.#change(key, undefined, { key, version: task, value, lists: [] })
  }

  /** Removes a row that `addFixed` has added, without reading it. */
  removeFixed(key: string, task: string): void {
    this.#change(key, task, undefined)
  }

  tell(news: VideoNews): void {
    this.#news.push(news)
  }

  /** Makes no change. */
  cancel(): void {
    this.#changes.clear()
  }

  /** What was read is of different times: the transaction runs again. */
  retry(): undefined {
    this.#isStale = true
  }

  /** False: another transaction has changed a row meanwhile. */
  async commit(): Promise<boolean> {
    if (this.#isStale) return false
    const changes = [...this.#changes.values()]
    return changes.length === 0 || (await this.#store.changeVideoRows(changes, this.#news))
  }

  #change(key: string, read: string | undefined, to: VideoRow | undefined): void {
    const earlier = this.#changes.get(key)
    this.#changes.set(key, { key, from: earlier ? earlier.from : read, to })
  }
}

/** Runs a transaction, again if others have changed its rows meanwhile. Its function may run several times. */
export const transact = async <Result>(
  store: VideoTaskStore,
  run: (transaction: Transaction) => Promise<Result>,
): Promise<Result> => {
  for (let tries = 1; tries <= maxTries; tries++) {
    const transaction = new Transaction(store)
    const result = await run(transaction)
    if (await transaction.commit()) return result
    await delay(Math.random() * maxPauseMs, never)
  }
  throw new Error('the rows of the video tasks change too often')
}

const never = new AbortController().signal

/** All values of a list, page by page. `positionOf` tells where a value stands. */
export async function* valuesOf(
  store: VideoTaskStore,
  list: string,
  positionOf: (value: string) => string,
  { above, below, descending = false }: Omit<VideoListRange, 'limit'> = {},
): AsyncGenerator<string> {
  for (let from = descending ? below : above; ; ) {
    const range = descending ? { above, below: from } : { above: from, below }
    const rows = await store.listVideoRows(list, { ...range, descending, limit: pageSize })
    for (const { value } of rows) yield value
    const last = rows.at(-1)
    if (!last || rows.length < pageSize) return
    from = positionOf(last.value)
  }
}

/** A position in a list that is ordered by time, or by another number from 0. */
export const positionAt = (time: number, id = ''): string => `${String(time).padStart(16, '0')} ${id}`

/** A key of a row, or the name of a list: its parts cannot be confused. */
export const rowKey = (...parts: readonly (string | number)[]): string => JSON.stringify(parts)
