import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { TextObject } from '../../plugins/text-generation/index.ts'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

const at = 1_000_000

eachDatabase('text objects', (database) => {
  let store: Store
  let other: Store
  beforeAll(async () => {
    store = await database.open()
    other = await database.open()
  })

  const object = (more: Partial<TextObject> = {}): TextObject => ({
    kind: 'response',
    id: `resp_${randomUUID()}`,
    user: 'ann',
    token: 't1',
    upstream: 'https://upstream.example/v1',
    model: 'm',
    createdAt: at,
    expiresAt: at + 1000,
    ...more,
  })
  const found = ({ user, kind, id }: TextObject, now = at) => other.findTextObject(user, kind, id, now)

  test('are found by their owner only, and only under their kind', async () => {
    const mine = object({ dueAt: at + 5 })
    const { token: _, ...tokenless } = object({ user: 'bob', kind: 'item' })
    expect(await store.recordTextObjects([mine, tokenless])).toEqual([])
    expect(await found(mine)).toEqual(mine)
    expect(await found(tokenless)).toEqual(tokenless)
    expect(await found({ ...mine, user: 'bob' })).toBeUndefined()
    expect(await found({ ...mine, kind: 'item' })).toBeUndefined()
    expect(await found({ ...mine, id: mine.id.toUpperCase() })).toBeUndefined()
  })

  test('stay with the first user they were recorded for', async () => {
    const first = object()
    const second = { ...first, user: 'bob', expiresAt: at + 5000 }
    const new_ = object({ user: 'bob' })
    await store.recordTextObjects([first])
    expect((await other.recordTextObjects([second])).map(({ id }) => id)).toEqual([first.id])
    expect((await other.recordTextObjects([new_, second])).map(({ id }) => id)).toEqual([first.id])
    expect(await found(first)).toEqual(first)
    expect(await found(second)).toBeUndefined()
    expect(await found(new_)).toEqual(new_)
  })

  test('have one owner when they are recorded for many users concurrently', async () => {
    const id = randomUUID()
    const users = Array.from({ length: 12 }, (_, nth) => `user${nth}`)
    const foreign = await Promise.all(
      users.map((user, nth) => [store, other][nth % 2]?.recordTextObjects([object({ id, user })])),
    )
    expect(foreign.filter((others) => others?.length === 0)).toHaveLength(1)
    const owners = await Promise.all(users.map((user) => store.findTextObject(user, 'response', id, at)))
    expect(owners.filter(Boolean)).toHaveLength(1)
  })

  test('have one owner when they are recorded for many users in one transaction, and the other objects are stored', async () => {
    const id = randomUUID()
    const odd = store.recordTextObjects([object({ user: '\0' })]).catch((error: unknown) => error)
    const own = object({ user: 'user2', kind: 'item' })
    const given = Array.from({ length: 12 }, (_, nth) => object({ id, user: `user${nth}` }))
    const foreign = await Promise.all(
      given.map((each, nth) => store.recordTextObjects(nth === 2 ? [each, own] : [each])),
    )
    expect(foreign.map((others) => others.map((other) => other.id))).toEqual(
      given.map((_, nth) => (nth > 0 ? [id] : [])),
    )
    expect(await found(given[0] as TextObject)).toEqual(given[0])
    expect(await found(own)).toEqual(own)
    expect(await odd).toBeInstanceOf(TypeError)
  })

  test('have no owner when they have expired, and can be recorded again', async () => {
    const old = object({ expiresAt: at + 10 })
    await store.recordTextObjects([old])
    expect(await found(old, at + 9)).toEqual(old)
    expect(await found(old, at + 10)).toBeUndefined()
    const again = { ...old, user: 'bob', createdAt: at + 10, expiresAt: at + 20 }
    expect(await other.recordTextObjects([again])).toEqual([])
    expect(await found(again, at + 10)).toEqual(again)
    expect(await found(old, at + 10)).toBeUndefined()
  })

  test('keep the persons that they show, and get those of later records, also of many at once', async () => {
    const conversation = object({ kind: 'conversation', persons: ['g0'] })
    const { persons: _, ...plain } = conversation
    await store.recordTextObjects([conversation, object()])
    await other.recordTextObjects([plain])
    expect((await found(conversation))?.persons).toEqual(['g0'])
    await Promise.all(
      Array.from({ length: 12 }, (_, nth) =>
        [store, other][nth % 2]?.recordTextObjects([object(), { ...conversation, persons: [`g${nth}`, 'g1'] }]),
      ),
    )
    const expected = Array.from({ length: 12 }, (_, nth) => `g${nth}`)
    expect((await found(conversation))?.persons?.toSorted()).toEqual(expected.toSorted())
    const foreign = { ...conversation, user: 'bob', persons: ['g99'] }
    expect(await store.recordTextObjects([foreign])).toEqual([foreign])
    expect((await found(conversation))?.persons).not.toContain('g99')
  })

  test('are removed by their owner only', async () => {
    const mine = object()
    await store.recordTextObjects([mine])
    await store.removeTextObject({ ...mine, user: 'bob' })
    expect(await found(mine)).toEqual(mine)
    await store.removeTextObject(mine)
    expect(await found(mine)).toBeUndefined()
  })

  test('are deferred by one process at a time, and settled once', async () => {
    const due = object({ dueAt: at - 500_000 })
    await store.recordTextObjects([due, object({ dueAt: at + 500 }), object()])
    expect(await other.dueTextResponses(at - 400_000, 10)).toEqual([due])
    const deferred = await Promise.all([store, other, store].map((each) => each.deferTextResponse(due, at - 450_000)))
    expect(deferred.filter(Boolean)).toHaveLength(1)
    expect(await other.dueTextResponses(at - 460_000, 10)).toEqual([])
    expect(await other.dueTextResponses(at - 450_000, 10)).toMatchObject([{ id: due.id }])
    const settled = await Promise.all([store, other, store, other].map((each) => each.markUsageRecorded(due.id)))
    expect(settled.filter(Boolean)).toHaveLength(1)
    expect(await other.dueTextResponses(at - 400_000, 10)).toEqual([])
    expect(await store.deferTextResponse({ ...due, dueAt: at - 450_000 }, at)).toBe(false)
  })

  test('are swept in batches when they have expired, but not before their usage is recorded', async () => {
    const first = at - 900_000
    const expired = Array.from({ length: 5 }, () => object({ expiresAt: first }))
    const unsettled = object({ expiresAt: first, dueAt: first })
    await store.recordTextObjects([...expired, unsettled, object({ expiresAt: first + 1 })])
    expect(await store.sweepTextObjects(first, 3)).toBe(3)
    expect(await store.sweepTextObjects(first, 3)).toBe(2)
    expect(await store.sweepTextObjects(first, 3)).toBe(0)
    await store.markUsageRecorded(unsettled.id)
    expect(await store.sweepTextObjects(first, 3)).toBe(1)
  })

  test('can have any model name', async () => {
    const odd = object({ model: `a\0b${'x'.repeat(1000)}` })
    await store.recordTextObjects([odd])
    expect((await found(odd))?.model).toHaveLength(256)
  })
})
