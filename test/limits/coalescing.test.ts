import { describe, expect, test } from 'bun:test'
import { newAsset, newGroup, openRoutes, until } from '../routes/routes.ts'
import { failure, json, scripted } from '../upstream-proxy/scripted.ts'

describe('readings of one asset at the same time', () => {
  test('are one call, and each is still for its owner alone', async () => {
    await using routes = await openRoutes()
    const { ann, bob, emulator } = routes
    const id = await newAsset(ann, await newGroup(ann, 'a'))
    routes.calls()
    const hold = emulator.faults.add({ kind: 'hold', action: 'GetAsset', when: 'after' })
    const readings = Array.from({ length: 10 }, (_, nth) => (nth % 2 ? ann : bob).ask('GET', `/assets/${id}`))
    await hold.struck()
    await new Promise((resolve) => setTimeout(resolve, 50))
    hold.release()
    const replies = await Promise.all(readings)
    expect(replies.map(({ status }) => status)).toEqual(replies.map((_, nth) => (nth % 2 ? 200 : 403)))
    expect(replies[1]?.json.Result.Id).toBe(id)
    expect(routes.calls()).toHaveLength(1)
  })

  test('are answered anew when that call has ended', async () => {
    await using routes = await openRoutes()
    const id = await newAsset(routes.ann, await newGroup(routes.ann, 'a'))
    routes.calls()
    for (let nth = 0; nth < 3; nth++) await routes.ann.ask('GET', `/assets/${id}`)
    expect(routes.calls()).toHaveLength(3)
  })

  test('share an error of the upstream, each with a body of its own', async () => {
    await using routes = await openRoutes()
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

  test('show what was changed before they began', async () => {
    await using routes = await openRoutes()
    const { ann, emulator } = routes
    const id = await newAsset(ann, await newGroup(ann, 'a'), { Name: 'old' })
    const hold = emulator.faults.add({ kind: 'hold', action: 'GetAsset', when: 'after' })
    const before = ann.ask('GET', `/assets/${id}`)
    await hold.struck()
    expect((await ann.ask('PATCH', `/assets/${id}`, { Name: 'new' })).status).toBe(200)
    expect((await ann.ask('GET', `/assets/${id}`)).json.Result.Name).toBe('new')
    hold.release()
    expect((await before).json.Result.Name).toBe('old')
  })

  test('end when all their callers have left, and not before', async () => {
    await using routes = await openRoutes()
    const { ann, emulator } = routes
    const id = await newAsset(ann, await newGroup(ann, 'a'))
    routes.calls()
    const hold = emulator.faults.add({ kind: 'hold', action: 'GetAsset' })
    const ask = (signal: AbortSignal) =>
      fetch(`${routes.url}/api/media/proxy/assets/${id}`, { headers: { authorization: `Bearer ${ann.token}` }, signal })
    const leaving = [new AbortController(), new AbortController()]
    const readings = leaving.map(({ signal }) => failure(ask(signal)))
    await hold.struck()
    leaving[0]?.abort()
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(emulator.calls.map(({ aborted }) => aborted)).toEqual([undefined])
    leaving[1]?.abort()
    await until(() => emulator.calls.at(-1)?.aborted === true)
    expect(emulator.calls).toHaveLength(1)
    await Promise.all(readings)
  })

  test('with headers that may make a difference are calls of their own', async () => {
    await using upstream = await scripted((response) => setTimeout(() => json('{"Result":{}}')(response), 30))
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

describe('under a limit', () => {
  test('ten readings of one asset take one place', async () => {
    await using upstream = await scripted((response) => setTimeout(() => json('{"Result":{}}')(response), 30))
    const { send } = upstream.upstream({ limits: { perSecond: { GetAsset: 1 }, queueMs: 100 } })
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, nth) => send({ action: 'GetAsset', id: 'a' }, { user: `user ${nth}` })),
    )
    expect(answers).toHaveLength(10)
    expect(upstream.seen).toHaveLength(1)
  })

  test('nobody waits for the turn of somebody busier who wants the same', async () => {
    await using upstream = await scripted(json('{"Result":{}}'))
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
