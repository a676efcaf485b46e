import { describe, expect, test } from 'bun:test'
import { newAsset, newGroup, openFixture, until } from '../routes/fixture.ts'
import { failure, json, startScriptedUpstream } from '../upstream-proxy/scripted-upstream.ts'

describe('concurrent reads of one asset', () => {
  test('make one upstream call, and only the owner receives the asset', async () => {
    await using routes = await openFixture()
    const { ann, bob, emulator } = routes
    const id = await newAsset(ann, await newGroup(ann, 'a'))
    routes.calls()
    const hold = emulator.faults.add({ kind: 'hold', action: 'GetAsset', when: 'after' })
    const readings = Array.from({ length: 10 }, (_, nth) => (nth % 2 ? ann : bob).ask('GET', `/assets/${id}`))
    await hold.waitForHits()
    await new Promise((resolve) => setTimeout(resolve, 50))
    hold.release()
    const replies = await Promise.all(readings)
    expect(replies.map(({ status }) => status)).toEqual(replies.map((_, nth) => (nth % 2 ? 200 : 403)))
    expect(replies[1]?.json.Result.Id).toBe(id)
    expect(routes.calls()).toHaveLength(1)
  })

  test('a later read makes a call of its own', async () => {
    await using routes = await openFixture()
    const id = await newAsset(routes.ann, await newGroup(routes.ann, 'a'))
    routes.calls()
    for (let nth = 0; nth < 3; nth++) await routes.ann.ask('GET', `/assets/${id}`)
    expect(routes.calls()).toHaveLength(3)
  })

  test('share an upstream error, and each response has its own body', async () => {
    await using routes = await openFixture()
    const { ann, emulator } = routes
    const id = await newAsset(ann, await newGroup(ann, 'a'))
    routes.calls()
    emulator.faults.add({ kind: 'delay', ms: 50, action: 'GetAsset' })
    emulator.faults.add({ kind: 'status', status: 503, action: 'GetAsset', body: '{"busy":true}' })
    const replies = await Promise.all(Array.from({ length: 3 }, () => ann.ask('GET', `/assets/${id}`)))
    expect(replies.map(({ status, text }) => [status, text])).toEqual(replies.map(() => [503, '{"busy":true}']))
    expect((await ann.ask('GET', `/assets/${id}`)).status).toBe(200)
    expect(routes.calls()).toHaveLength(2)
  })

  test('a read that starts after a change shows the change', async () => {
    await using routes = await openFixture()
    const { ann, emulator } = routes
    const id = await newAsset(ann, await newGroup(ann, 'a'), { Name: 'old' })
    const hold = emulator.faults.add({ kind: 'hold', action: 'GetAsset', when: 'after' })
    const before = ann.ask('GET', `/assets/${id}`)
    await hold.waitForHits()
    expect((await ann.ask('PATCH', `/assets/${id}`, { Name: 'new' })).status).toBe(200)
    expect((await ann.ask('GET', `/assets/${id}`)).json.Result.Name).toBe('new')
    hold.release()
    expect((await before).json.Result.Name).toBe('old')
  })

  test('abort the call when the last caller has disconnected', async () => {
    await using routes = await openFixture()
    const { ann, emulator } = routes
    const id = await newAsset(ann, await newGroup(ann, 'a'))
    routes.calls()
    const hold = emulator.faults.add({ kind: 'hold', action: 'GetAsset' })
    const ask = (signal: AbortSignal) =>
      fetch(`${routes.url}/api/media/proxy/assets/${id}`, { headers: { authorization: `Bearer ${ann.token}` }, signal })
    const callers = [new AbortController(), new AbortController()]
    const readings = callers.map(({ signal }) => failure(ask(signal)))
    await hold.waitForHits()
    callers[0]?.abort()
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(emulator.calls.map(({ aborted }) => aborted)).toEqual([undefined])
    callers[1]?.abort()
    await until(() => emulator.calls.at(-1)?.aborted === true)
    expect(emulator.calls).toHaveLength(1)
    await Promise.all(readings)
  })

  test('with different forwarded headers make separate calls', async () => {
    await using upstream = await startScriptedUpstream((response) =>
      setTimeout(() => json('{"Result":{}}')(response), 30),
    )
    const { send } = upstream.upstream({ forwardHeaders: ['x-tenant'] })
    const headers: Record<string, string>[] = [
      {},
      { 'x-request-id': '1' },
      { 'accept-language': 'de' },
      { 'x-tenant': '1' },
      { 'x-tenant': '2' },
    ]
    await Promise.all(headers.map((each) => send({ action: 'GetAsset', id: 'a' }, { headers: new Headers(each) })))
    expect(upstream.seen).toHaveLength(4)
  })
})

describe('with a rate limit', () => {
  test('ten concurrent reads of one asset take one permit', async () => {
    await using upstream = await startScriptedUpstream((response) =>
      setTimeout(() => json('{"Result":{}}')(response), 30),
    )
    const { send } = upstream.upstream({ limits: { perSecond: { GetAsset: 1 }, queueMs: 100 } })
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, nth) => send({ action: 'GetAsset', id: 'a' }, { user: `user ${nth}` })),
    )
    expect(responses).toHaveLength(10)
    expect(upstream.seen).toHaveLength(1)
  })

  test('a user does not wait in the queue of a busier user who reads the same asset', async () => {
    await using upstream = await startScriptedUpstream(json('{"Result":{}}'))
    const { send } = upstream.upstream({ limits: { perSecond: { GetAsset: 2 } } })
    const order: string[] = []
    const read = async (user: string, id: string) => {
      await send({ action: 'GetAsset', id }, { user })
      order.push(`${user} ${id}`)
    }
    const busy = ['1', '2', '3', '4', 'wanted'].map((id) => read('busy', id))
    await Promise.all([...busy, read('rare', 'wanted')])
    expect(order.indexOf('rare wanted')).toBeLessThan(4)
    expect(upstream.seen).toHaveLength(5)
  })
})
