import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { StoredItemHead, StoredResponse } from '../../plugins/text-generation/index.ts'
import type { Store } from '../../src/store/index.ts'
import { repeatOnDatabases } from '../support/database.ts'

const at = 1_000_000
const large = 2 ** 26
const bounds = { maxTurns: 4_096, maxBytes: large }

repeatOnDatabases('stored responses', (database) => {
  let store: Store
  let other: Store
  beforeAll(async () => {
    store = await database.open()
    other = await database.open()
  })

  /** A turn with an input and an output item of the same id in every turn. */
  const turn = (user: string, more: Partial<StoredResponse> = {}): StoredResponse => {
    const id = more.id ?? `resp_${randomUUID()}`
    return {
      ...{ id, user, response: `{"id":"${id}","output":[]}`, createdAt: at, expiresAt: at + 1000 },
      items: [
        { id: 'msg_in', isOutput: false, json: `{"in":"${id}"}` },
        { id: 'msg_out', isOutput: true, json: `{"out":"${id}"}` },
      ],
      ...more,
    }
  }
  const save = async (response: StoredResponse, maxBytes = large) => {
    expect(await store.storeResponse(response, maxBytes)).toBe(true)
    return response
  }
  const newUser = () => randomUUID()
  const readItems = async (user: string, items: readonly StoredItemHead[]) =>
    (await other.readStoredItems(user, items))?.map((texts) => texts.join(''))
  const outputOf = async (items: readonly StoredItemHead[], user: string) =>
    readItems(
      user,
      items.filter(({ isOutput }) => isOutput),
    )
  const found = async (user: string, { id }: { readonly id: string }, now = at) => {
    const texts = (await other.findStoredResponse(user, id, now)) && (await other.readStoredResponse(user, id))
    const response = texts?.join('')
    return response && { response, output: await outputOf(await other.listStoredItems(user, [id]), user) }
  }
  /** The items of a conversation, read at once. */
  const conversation = async (user: string, id: string, now: number, limits = bounds) => {
    const read = await other.findStoredConversation(user, id, now, limits)
    if (!read) return undefined
    const { turns, ...more } = read
    const heads = await other.listStoredItems(
      user,
      turns.map((turn) => turn.id),
    )
    for (const turn of turns) expect(bytesIn(heads.filter(({ response }) => response === turn.id))).toBe(turn.bytes)
    const texts = (await readItems(user, heads)) ?? []
    expect(heads.map(({ bytes }) => bytes)).toEqual(texts.map((json) => Buffer.byteLength(json)))
    const ownItems = heads.filter(({ response }) => response === id).length
    const items = heads.map((head, nth) => ({ id: head.id, isOutput: head.isOutput, json: texts[nth] ?? '' }))
    return { items, ownItems, ...more }
  }
  const bytesIn = (heads: readonly StoredItemHead[]) => heads.reduce((sum, { bytes }) => sum + bytes, 0)
  const item = async (user: string, id: string, now: number) => {
    const head = await other.findStoredItem(user, id, now)
    return head && (await readItems(user, [head]))?.[0]
  }

  test('are found with their output by their user only', async () => {
    const [ann, bob] = [newUser(), newUser()]
    const one = await save(turn(ann))
    expect<unknown>(await found(ann, one)).toEqual({ response: one.response, output: [`{"out":"${one.id}"}`] })
    expect(await found(bob, one)).toBeUndefined()
    expect(await found(ann, { id: one.id.toUpperCase() })).toBeUndefined()
    expect(await conversation(bob, one.id, at, bounds)).toBeUndefined()
    expect(await item(bob, 'msg_out', at)).toBeUndefined()
    expect(await other.removeStoredResponse(bob, one.id)).toBe(false)
    expect(await found(ann, one)).toBeDefined()
    expect(await other.removeStoredResponse(ann, one.id)).toBe(true)
    expect(await store.removeStoredResponse(ann, one.id)).toBe(false)
    expect(await found(ann, one)).toBeUndefined()
    expect(await item(ann, 'msg_out', at)).toBeUndefined()
  })

  test('continue each other, also two the same one, and none continues that of another user', async () => {
    const [ann, bob] = [newUser(), newUser()]
    const first = await save(turn(ann))
    const [left, right] = await Promise.all([
      save(turn(ann, { previous: first.id, createdAt: at + 1 })),
      save(turn(ann, { previous: first.id, createdAt: at + 1, items: [] })),
    ])
    const last = await save(turn(ann, { previous: left.id, createdAt: at + 2 }))
    expect<unknown>(await conversation(ann, last.id, at, bounds)).toEqual({
      items: [...first.items, ...left.items, ...last.items],
      ownItems: 2,
      expiresAt: at + 1000,
    })
    expect<unknown>(await conversation(ann, right.id, at, bounds)).toEqual({
      ...{ items: first.items, ownItems: 0, expiresAt: at + 1000 },
    })
    const foreign = await save(turn(bob, { previous: first.id }))
    expect<unknown>(await conversation(bob, foreign.id, at, bounds)).toEqual({
      ...{ items: foreign.items, ownItems: 2, expiresAt: at + 1000, cut: 'removed' },
    })
  })

  test('whose earlier turns were removed or are too long say so', async () => {
    const ann = newUser()
    const first = await save(turn(ann))
    const second = await save(turn(ann, { previous: first.id }))
    const third = await save(turn(ann, { previous: second.id }))
    const itemBytes = third.items.reduce((sum, { json }) => sum + String(json).length, 0)
    for (const tight of [{ maxTurns: 2 }, { maxBytes: 3 * itemBytes - 1 }]) {
      const read = await conversation(ann, third.id, at, { ...bounds, ...tight })
      expect(read).toMatchObject({ items: [...second.items, ...third.items], ownItems: 2, cut: 'too long' })
    }
    for (const enough of [{ maxTurns: 3 }, { maxBytes: 3 * itemBytes }]) {
      const read = await conversation(ann, third.id, at, { ...bounds, ...enough })
      expect(read?.cut).toBeUndefined()
    }
    await store.removeStoredResponse(ann, first.id)
    expect(await conversation(ann, third.id, at, bounds)).toMatchObject({ cut: 'removed' })
  })

  test('of 1,000 turns are read in order', async () => {
    const ann = newUser()
    let previous: string | undefined
    const ids: string[] = []
    for (let nth = 0; nth < 1000; nth++) {
      const { id } = await save(turn(ann, { previous }))
      ids.push(id)
      previous = id
    }
    const read = await conversation(ann, previous ?? '', at, bounds)
    expect(read?.cut).toBeUndefined()
    expect(read?.items.filter(({ isOutput }) => isOutput).map(({ json }) => JSON.parse(json).out)).toEqual(ids)
  }, 300_000)

  test('give the latest item of an id', async () => {
    const ann = newUser()
    await save(turn(ann))
    const second = await save(turn(ann, { createdAt: at + 1 }))
    expect(await item(ann, 'msg_out', at)).toBe(`{"out":"${second.id}"}`)
    expect(await item(ann, 'msg_in', at)).toBe(`{"in":"${second.id}"}`)
    expect(await item(ann, 'msg', at)).toBeUndefined()
  })

  test('do not exist after their time, and are swept in batches', async () => {
    const ann = newUser()
    const first = at - 900_000
    const old = await save(turn(ann, { expiresAt: first }))
    const more = await Promise.all(Array.from({ length: 4 }, () => save(turn(ann, { expiresAt: first }))))
    const next = await save(turn(ann, { expiresAt: first + 1, previous: old.id, items: [] }))
    expect(await found(ann, old, first - 1)).toBeDefined()
    expect(await found(ann, old, first)).toBeUndefined()
    expect(await item(ann, 'msg_out', first - 1)).toBeDefined()
    expect(await item(ann, 'msg_out', first)).toBeUndefined()
    expect(await conversation(ann, old.id, first, bounds)).toBeUndefined()
    expect(await conversation(ann, next.id, first, bounds)).toMatchObject({ cut: 'removed' })
    expect(await store.sweepStoredResponses(first, more.length)).toBe(4)
    expect(await store.sweepStoredResponses(first, 4)).toBe(1)
    expect(await store.sweepStoredResponses(first, 4)).toBe(0)
    expect(await found(ann, next, first)).toBeDefined()
  })

  test('are renewed by a later turn of their conversation, and of no other', async () => {
    const [ann, bob] = [newUser(), newUser()]
    const first = await save(turn(ann))
    const second = await save(turn(ann, { previous: first.id }))
    const branch = await save(turn(ann, { previous: first.id }))
    await save(turn(bob, { previous: second.id, renews: true, expiresAt: at + 9_000 }))
    await save(turn(ann, { previous: branch.id, expiresAt: at + 9_000 }))
    expect(await found(ann, second, at + 1000)).toBeUndefined()
    const third = await save(turn(ann, { previous: second.id, renews: true, expiresAt: at + 5_000 }))
    for (const each of [first, second, third]) expect(await found(ann, each, at + 4_999)).toBeDefined()
    expect(await found(ann, branch, at + 1000)).toBeUndefined()
    expect(await conversation(ann, third.id, at, bounds)).toMatchObject({ expiresAt: at + 5_000 })
    await store.sweepStoredResponses(at + 10_000, 100)
  })

  test('have a maximum size for each user, also with concurrent calls: the oldest are removed', async () => {
    const [ann, bob] = [newUser(), newUser()]
    const sized = (user: string, more: Partial<StoredResponse> = {}) =>
      turn(user, { ...more, items: [{ id: 'msg_in', isOutput: false, json: JSON.stringify('x'.repeat(9_000)) }] })
    const kept = async (user: string, all: readonly StoredResponse[]) =>
      (await Promise.all(all.map((each) => found(user, each)))).map((each) => each !== undefined)
    const bobs = await save(sized(bob), 40_000)
    const anns: StoredResponse[] = []
    for (let nth = 0; nth < 6; nth++) anns.push(await save(sized(ann), 40_000))
    expect(await kept(ann, anns)).toEqual([false, false, true, true, true, true])
    expect(await kept(bob, [bobs])).toEqual([true])
    const many = Array.from({ length: 20 }, () => sized(ann))
    await Promise.all(many.map((each, nth) => [store, other][nth % 2]?.storeResponse(each, 40_000)))
    expect((await kept(ann, [...anns, ...many])).filter(Boolean)).toHaveLength(4)
  })

  test('that are too large for the maximum are not stored, and remove nothing', async () => {
    const ann = newUser()
    const small = await save(turn(ann), 2_000)
    const big = turn(ann, { response: JSON.stringify('x'.repeat(2_000)) })
    expect(await store.storeResponse(big, 2_000)).toBe(false)
    expect([await found(ann, small), await found(ann, big)]).toEqual([expect.anything(), undefined])
  })

  test('are stored completely or not at all', async () => {
    const ann = newUser()
    const one = await save(turn(ann))
    await expect(store.storeResponse({ ...turn(ann), id: one.id }, large)).rejects.toThrow()
    const odd = turn(ann, { items: [...one.items, { id: 'a\0', isOutput: true, json: '{}' }] })
    await expect(store.storeResponse(odd, large)).rejects.toThrow(TypeError)
    expect(await found(ann, odd)).toBeUndefined()
    expect(await item(ann, 'msg_in', at)).toBe(`{"in":"${one.id}"}`)
  })
})
