import { afterAll, beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { turns } from '../../plugins/shared/json/json.ts'
import type { StoredResponse, StoredResponseStore, StoredText } from '../../plugins/text-generation/index.ts'
import type { Database } from '../../src/store/database/database.ts'
import { openDatabase } from '../../src/store/database/kinds.ts'
import { type Statement, sql } from '../../src/store/database/statement.ts'
import { createStoredResponseStore } from '../../src/store/text/stored-responses.ts'
import { repeatOnDatabases } from '../support/database.ts'

const at = 1_700_000_000_000
const hour = 3_600_000
const large = 2 ** 26
const maxTransaction = 2 ** 20
const maxRows = 1_100

/** Characters of two and four bytes: no cut may halve one. */
const long = `{"x":"${'é'.repeat(300_001)}${'😀'.repeat(300_000)}"}`
const utf8 = Buffer.from(long)
/** A text in parts, of which one is long. */
const inParts: StoredText = [
  utf8.subarray(0, 5),
  utf8.subarray(5, 6),
  utf8.subarray(6, utf8.length - 1),
  Buffer.from('}'),
]

repeatOnDatabases('large responses', (database) => {
  let raw: Database
  let store: StoredResponseStore
  /** What the store has asked the database, in order: one entry a transaction. */
  let asked: (readonly Statement[])[] = []
  /** Transactions that the database runs until it fails. */
  let left = Number.POSITIVE_INFINITY

  beforeAll(async () => {
    await database.open()
    const opened = openDatabase(database.url, { deadlineMs: 60_000 })
    raw = opened
    const record = (statements: readonly Statement[]) => {
      asked.push(statements)
      if (--left < 0) throw new Error('the process has ended')
    }
    store = createStoredResponseStore({
      ...opened,
      async query(statement, deadlineMs) {
        record([statement])
        return opened.query(statement, deadlineMs)
      },
      async batch(statements) {
        record(statements)
        return opened.batch(statements)
      },
    })
  })
  afterAll(() => raw.close())

  const newResponse = (more: Partial<StoredResponse> = {}): StoredResponse => ({
    ...{ id: `resp_${randomUUID()}`, user: randomUUID(), response: '{}', createdAt: at, expiresAt: at + 48 * hour },
    items: [
      { id: 'msg_1', isOutput: false, json: inParts },
      { id: 'msg_2', isOutput: false, json: '{"short":1}' },
      { id: 'msg_3', isOutput: true, json: long },
    ],
    ...more,
  })
  const save = async (more: Partial<StoredResponse> = {}) => {
    const response = newResponse(more)
    expect(await store.storeResponse(response, large)).toBe(true)
    return response
  }
  const read = async ({ id, user }: StoredResponse) => {
    const found = await store.findStoredResponse(user, id, at)
    if (!found) return undefined
    const heads = await store.listStoredItems(user, [id])
    const texts = await store.readStoredItems(user, heads)
    return {
      response: (await store.readStoredResponse(user, id))?.join(''),
      bytes: [found.bytes, ...heads.map(({ bytes }) => bytes)],
      items: texts?.map((parts) => parts.join('')),
    }
  }
  const sizeOf = (statements: readonly Statement[]) =>
    statements.flatMap(({ values }) => values).reduce<number>((sum, value) => sum + String(value).length, 0)
  const rowsOf = async (id: string) => {
    const [row] = await raw.query<{ responses: number; pieces: number }>(sql`
      select (
        select count(*)
        from stored_responses
        where id = ${id}
      ) as responses, (
        select count(*)
        from stored_pieces
        where response_id = ${id}
      ) as pieces`)
    return [Number(row?.responses), Number(row?.pieces)]
  }
  const sizes = [utf8.length, 11, utf8.length]

  test('are written and read in transactions of a bounded size, with a turn of the event loop between two', async () => {
    asked = []
    const before = turns.count
    const one = await save({ response: long })
    expect(asked.length).toBeGreaterThan(5)
    for (const statements of asked) expect(sizeOf(statements)).toBeLessThan(maxTransaction)
    expect(turns.count - before).toBeGreaterThan(5)
    const [, pieces = 0] = await rowsOf(one.id)
    expect(pieces).toBeGreaterThan(9)
    asked = []
    const beforeRead = turns.count
    expect(await read(one)).toEqual({
      ...{ response: long, bytes: [utf8.length, ...sizes], items: [long, '{"short":1}', long] },
    })
    expect(turns.count - beforeRead).toBe(pieces)
  })

  test('of many small items are written in transactions of a bounded number of rows', async () => {
    asked = []
    const items = Array.from({ length: 4_096 }, (_, nth) => ({
      id: `msg_${nth}`,
      isOutput: false,
      json: `{"n":${nth}}`,
    }))
    const many = await save({ items })
    for (const statements of asked) expect(statements.length).toBeLessThan(maxRows)
    expect((await read(many))?.items).toEqual(items.map(({ json }) => json))
  })

  test('do not exist before all of them is written', async () => {
    const response = newResponse()
    let seen = 0
    const query = raw.query
    const watching = createStoredResponseStore({
      ...raw,
      async batch(statements) {
        expect(await store.findStoredResponse(response.user, response.id, at)).toBeUndefined()
        expect(await store.findStoredItem(response.user, 'msg_1', at)).toBeUndefined()
        expect(await store.removeStoredResponse(response.user, response.id)).toBe(false)
        const bounds = { maxTurns: 9, maxBytes: large }
        expect(await store.findStoredConversation(response.user, response.id, at, bounds)).toBeUndefined()
        seen++
        return raw.batch(statements)
      },
      query,
    })
    expect(await watching.storeResponse(response, large)).toBe(true)
    expect(seen).toBeGreaterThan(4)
    expect((await store.findStoredItem(response.user, 'msg_1', at))?.bytes).toBe(utf8.length)
    expect((await read(response))?.bytes).toEqual([2, ...sizes])
  })

  test('count for the maximum of their user in the order in which they are complete', async () => {
    const user = randomUUID()
    const all = [await save({ user }), await save({ user, items: [] }), await save({ user })]
    const [row] = await raw.query<{ bytes: number }>(sql`
      select bytes
      from stored_responses
      where id = ${all[0]?.id ?? ''}`)
    const last = newResponse({ user, items: [] })
    expect(await store.storeResponse(last, Number(row?.bytes) + 1_000)).toBe(true)
    const kept = await Promise.all([...all, last].map(({ id }) => store.findStoredResponse(user, id, at)))
    expect(kept.map((found) => found !== undefined)).toEqual([false, true, true, true])
  })

  test('that cannot be written completely leave nothing', async () => {
    for (const good of [2, 4]) {
      const response = newResponse()
      left = good
      const stored = store.storeResponse(response, large)
      await expect(stored).rejects.toThrow('the process has ended')
      left = Number.POSITIVE_INFINITY
      expect(await read(response)).toBeUndefined()
    }
    const odd = newResponse({ items: [...newResponse().items, { id: 'a\0', isOutput: true, json: '{}' }] })
    await expect(store.storeResponse(odd, large)).rejects.toThrow(TypeError)
    expect(await rowsOf(odd.id)).toEqual([0, 0])
    const one = await save()
    await expect(store.storeResponse({ ...newResponse(), id: one.id }, large)).rejects.toThrow()
    expect((await read(one))?.bytes).toEqual([2, ...sizes])
  })

  test('of which a process has written a part when it ends are swept after an hour', async () => {
    const response = newResponse()
    left = 3
    await expect(store.storeResponse(response, large)).rejects.toThrow('the process has ended')
    left = Number.POSITIVE_INFINITY
    expect((await rowsOf(response.id))[0]).toBe(1)
    await store.sweepStoredResponses(at + hour - 1, 100)
    expect((await rowsOf(response.id))[0]).toBe(1)
    await store.sweepStoredResponses(at + hour, 100)
    expect(await rowsOf(response.id)).toEqual([0, 0])
  })

  test('that are swept while a process writes them are not stored', async () => {
    const response = newResponse()
    const sweeping = createStoredResponseStore({
      ...raw,
      async batch(statements) {
        if (statements.some(({ strings }) => strings.join('').includes('update stored_responses')))
          await store.sweepStoredResponses(at + hour, 100)
        return raw.batch(statements)
      },
    })
    await expect(sweeping.storeResponse(response, large)).rejects.toThrow('removed while it was written')
    expect(await rowsOf(response.id)).toEqual([0, 0])
  })

  test('are removed with their pieces, and swept about 4 MiB in a transaction', async () => {
    const gone = await save()
    expect(await store.removeStoredResponse(gone.user, gone.id)).toBe(true)
    expect(await rowsOf(gone.id)).toEqual([0, 0])
    const user = randomUUID()
    for (let nth = 0; nth < 6; nth++) await save({ user, expiresAt: at - 10 })
    asked = []
    const before = turns.count
    expect(await store.sweepStoredResponses(at, 100)).toBe(6)
    // Each has 3.6 MB: one in a transaction.
    expect(asked.map((statements) => statements.length)).toEqual([1, 1, 1, 1, 1, 1, 1])
    expect(turns.count - before).toBe(5)
  })
})
