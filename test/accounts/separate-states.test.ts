import { expect, setDefaultTimeout, test } from 'bun:test'
import { createCircuitBreakers } from '../../plugins/shared/upstream/circuit-breaker.ts'
import { createUpstreamOfAccounts, memoryRateLimitStore, rest } from '../../plugins/upstream-proxy/index.ts'
import { groupOn, openAccounts } from './fixture.ts'

setDefaultTimeout(60_000)

test('the calls of an account take no slots of the rate limits of another one, in one store', async () => {
  const sent: string[] = []
  const fetch = async (url: string): Promise<Response> => {
    sent.push(new URL(url).hostname)
    return Response.json({ Result: { GroupId: 'group-1', Id: 'asset-1' } })
  }
  const upstream = createUpstreamOfAccounts(
    ['a', 'b'].map((name) => ({ name, kind: rest({ url: `http://${name}.example/api/media/proxy`, key: 'a-key' }) })),
    { fetch, limits: { perSecond: { GetAsset: 0.01 }, queueMs: 0, store: memoryRateLimitStore() } },
  )
  const ask = (account: string) =>
    upstream.send({ action: 'GetAsset', id: 'asset-1', account }).then(
      () => 200,
      (error: { status: number }) => error.status,
    )
  expect([await ask('a'), await ask('a'), await ask('b'), await ask('b')]).toEqual([200, 429, 200, 429])
  expect(sent).toEqual(['a.example', 'b.example'])
  expect(upstream.accounts?.waitMs('a', 'GetAsset')).toBeGreaterThan(0)
  expect(upstream.accounts?.waitMs('a', 'ListAssets')).toBe(0)
})

test('the circuit of an account at an address is not that of another account there', async () => {
  const circuits = createCircuitBreakers({ failures: 2 })
  const down = circuits.wrap(() => Promise.reject(new Error('refused')), 'a')
  const up = circuits.wrap(async () => new Response('{}'), 'b')
  for (let nth = 0; nth < 3; nth++) await down('http://one.example/x', {}).catch(() => {})
  expect(circuits.counts()).toMatchObject({ open: 1, refused: 1 })
  expect((await up('http://one.example/x', {})).status).toBe(200)
  expect(circuits.counts()).toMatchObject({ open: 1, closed: 1 })
})

test('/readyz and the metrics tell the accounts apart', async () => {
  await using fixture = await openAccounts({ gateway: { metricsToken: 'a token for metrics' } })
  const { ann, gateway, emulators } = fixture
  const groups = [await groupOn(fixture, ann, 'a', 'one'), await groupOn(fixture, ann, 'b', 'two')]
  await emulators[1]?.stop()
  for (const group of groups) await ann.ask('GET', `/assets?GroupIds=${group}`)
  const ready = await (await fetch(`${gateway.url}/readyz`)).json()
  expect(ready).toMatchObject({
    status: 'ok',
    upstreams: { assets: 'unreachable', 'assets a': 'reachable', 'assets b': 'unreachable' },
  })
  const headers = { authorization: 'Bearer a token for metrics' }
  const metrics = await (await fetch(`${gateway.url}/metrics`, { headers })).text()
  for (const [upstream, status] of [
    ['a', 200],
    ['b', 0],
  ])
    expect(metrics).toMatch(
      new RegExp(
        `sluice_upstream_calls_total\\{(?=[^}]*upstream="${upstream}")(?=[^}]*status="${status}")[^}]*\\} [1-9]`,
      ),
    )
})
