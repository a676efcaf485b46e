import { expect, test } from 'bun:test'
import { createToken, hashToken } from '../../plugins/api-token/index.ts'
import { askRaw, type Reply } from '../support/gateway.ts'
import { expectNoInternalDetails, openFixture, until } from './fixture.ts'

const paths = [
  ...['GET', 'POST'].flatMap((method) => [[method, '/assets'] as const, [method, '/assets/groups'] as const]),
  ...['GET', 'PUT', 'PATCH', 'DELETE'].flatMap((method) => [
    [method, '/assets/asset-1'] as const,
    [method, '/assets/groups/group-1'] as const,
  ]),
]

/** Headers of a response without Date. */
const seen = (response: Reply) =>
  Object.entries(Object.fromEntries(response.headers.entries())).filter(
    ([name]) => !/^(?:date|x-request-id)$/.test(name),
  )

test('missing, malformed, unknown, revoked and expired tokens and disabled users have the same response', async () => {
  await using fixture = await openFixture()
  const { ann, bob, store } = fixture
  const addToken = async (more: { expiresAt?: number } = {}) => {
    const token = createToken()
    const id = await store.addToken({ user: ann.id, hash: hashToken(token), start: 'sk-', createdAt: 0, ...more })
    return { token, id }
  }
  const [revoked, expired] = [await addToken(), await addToken({ expiresAt: Date.now() - 1 })]
  expect(await store.revokeToken(revoked.id, Date.now())).toBeNumber()
  expect(await store.disableUser('bob', Date.now())).toBe(true)
  await until(async () => (await bob.ask('GET', '/assets')).status === 401)

  const headers: Record<string, string>[] = [
    {},
    ...[revoked.token, expired.token, bob.token, createToken()].map((token) => ({ authorization: `Bearer ${token}` })),
    ...['', 'Bearer', 'Bearer ', 'Bearer sk-', 'Bearer nothing', `Basic ${ann.token}`, ann.token].map(
      (authorization) => ({ authorization }),
    ),
    ...[`Bearer ${ann.token}x`, `Bearer ${ann.token.slice(0, -1)}`, `Bearer ${ann.token.toLowerCase()}`].map(
      (authorization) => ({ authorization }),
    ),
    { authorization: `Bearer ${ann.token}, Bearer ${ann.token}` },
    { cookie: `session=${ann.token}; token=${ann.token}` },
    { 'x-api-key': expired.token },
    { 'api-key': `Bearer ${ann.token}` },
    { authorization: 'Basic x', 'x-api-key': ann.token, 'api-key': ann.token },
    { 'x-auth-token': ann.token },
    { authorization: `Token ${ann.token}` },
  ]
  fixture.calls()
  const responses: Reply[] = []
  for (const [method, path] of paths) {
    for (const given of headers) {
      const body = method[0] === 'P' ? 'not even json' : undefined
      responses.push(await askRaw(fixture.url, `/api/media/proxy${path}`, { method, headers: given, body }))
    }
  }
  const first = responses[0] as Reply
  expect([first.status, first.text]).toEqual([
    401,
    '{"success":false,"error":{"message":"not authenticated","type":"media_proxy_error"}}',
  ])
  for (const response of responses) {
    expectNoInternalDetails(response)
    expect([response.status, response.text]).toEqual([first.status, first.text])
    expect(seen(response)).toEqual(seen(first))
  }
  expect(fixture.calls()).toEqual([])
})

test('a token in the query is ignored', async () => {
  await using fixture = await openFixture()
  const query = `access_token=${fixture.ann.token}&token=${fixture.ann.token}`
  expect((await fetch(`${fixture.url}/api/media/proxy/assets?${query}`)).status).toBe(401)
})

test('the scheme Bearer is case-insensitive', async () => {
  await using fixture = await openFixture()
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR ']) {
    const headers = { authorization: `${scheme} ${fixture.ann.token}` }
    expect((await fetch(`${fixture.url}/api/media/proxy/assets`, { headers })).status).toBe(200)
  }
})

test('all tokens of a user have the same access', async () => {
  await using fixture = await openFixture()
  const token = createToken()
  await fixture.store.addToken({ user: fixture.ann.id, hash: hashToken(token), start: 'sk-', createdAt: 0 })
  await fixture.ann.ask('POST', '/assets/groups', { Name: 'a' })
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(`${fixture.url}/api/media/proxy/assets/groups`, { headers })
  expect(await response.json()).toMatchObject({ Result: { TotalCount: 1, Items: [{ Name: 'a' }] } })
})
