import { describe, expect, test } from 'bun:test'
import { errorReply, newAsset, newGroup, openFixture, statusAndText } from '../routes/fixture.ts'

describe('a gateway with rate limits', () => {
  test('rejects a creation that would wait too long, and leaves its name free', async () => {
    await using routes = await openFixture({ limits: { perSecond: { CreateAssetGroup: 2 }, queueMs: 0 } })
    const { ann, emulator, store } = routes
    const create = (Name: string) => ann.ask('POST', '/assets/groups', { Name })
    const replies = await Promise.all(['a', 'b', 'c'].map(create))
    const rejected = replies.find(({ status }) => status === 429)
    if (!rejected) throw new Error('no creation was rejected')
    expect(statusAndText(rejected)).toEqual(errorReply(429, 'too many requests wait for the upstream'))
    expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(await store.openClaims()).toEqual([])
    await new Promise((resolve) => setTimeout(resolve, Number(rejected.headers.get('retry-after')) * 1000 + 20))
    const again = await create(['a', 'b', 'c'][replies.indexOf(rejected)] ?? '')
    expect(again.status).toBe(200)
    expect(emulator.library.groups()).toHaveLength(3)
  })

  test('reserves a name for as long as its creation may wait', async () => {
    const limits = { perSecond: { CreateAssetGroup: 5 }, queueMs: 60_000 }
    await using routes = await openFixture({ limits, timeoutMs: 10_000 })
    const { ann, emulator, store } = routes
    const hold = emulator.faults.add({ kind: 'hold', action: 'CreateAssetGroup' })
    const creating = ann.ask('POST', '/assets/groups', { Name: 'a' })
    await hold.waitForHits()
    const [claim] = await store.openClaims()
    expect((claim?.dueAt ?? 0) - (claim?.createdAt ?? 0)).toBeGreaterThan(70_000)
    hold.release()
    expect((await creating).status).toBe(200)
  })

  test('lets a list of many calls wait no longer than a single call, and sends Retry-After', async () => {
    // One a second: a busy machine makes calls no slower than that.
    await using routes = await openFixture({ limits: { perSecond: { ListAssets: 1 }, queueMs: 1_500 } })
    const { ann, emulator, calls } = routes
    const groupId = await newGroup(ann, 'a')
    for (let nth = 0; nth < 3_000; nth++) emulator.library.addAsset({ groupId, name: 'a cat' })
    calls()
    const reply = await ann.ask('GET', '/assets?Name=cat')
    expect(statusAndText(reply)).toEqual(errorReply(429, 'too many requests wait for the upstream'))
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(calls().length).toBeLessThan(20)
  })

  test.each([
    ['reads', 'GetAsset', 'GET'],
    ['changes', 'UpdateAsset', 'PATCH'],
  ])('%s assets round robin over users', async (_, action, method) => {
    await using routes = await openFixture({ limits: { perSecond: { [action]: 4 } } })
    const { ann, bob } = routes
    const of = async (user: typeof ann) => {
      const group = await newGroup(user, 'g')
      return Promise.all(Array.from({ length: 8 }, () => newAsset(user, group)))
    }
    const [anns, [bobs]] = [await of(ann), await of(bob)]
    const order: string[] = []
    const ask = async (user: typeof ann, name: string, id: string | undefined) => {
      const reply = await user.ask(method, `/assets/${id}`, method === 'PATCH' ? { Name: 'n' } : undefined)
      expect(reply.status).toBe(200)
      order.push(name)
    }
    const busy = anns.map((id) => ask(ann, 'ann', id))
    // These calls are all in the queue first.
    await new Promise((resolve) => setTimeout(resolve, 300))
    await ask(bob, 'bob', bobs)
    expect(order.filter((name) => name === 'ann').length).toBeLessThanOrEqual(5)
    await Promise.all(busy)
  })
})
