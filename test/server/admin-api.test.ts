import { expect, test } from 'bun:test'
import { createToken, hashToken } from '../../plugins/api-token/index.ts'
import { hashPassword } from '../../plugins/web-session/index.ts'
import type { Body } from '../admin-api/fixture.ts'
import { openServerFixture, type ServerFixture } from '../support/server-fixture.ts'
import { until } from './fixture.ts'

/** Adds an admin with a token and a password. */
const addAdmin = async ({ store }: ServerFixture) => {
  const password = await hashPassword('correct horse battery')
  const user = await store.addAdminUser({ name: 'root', role: 'admin', password, createdAt: Date.now() })
  if (typeof user === 'string') throw new Error(user)
  const token = createToken()
  const made = { hash: hashToken(token), start: token.slice(0, 9), createdAt: Date.now() }
  await store.addUserToken(user.id, { ...made, scopes: ['admin'] })
  return { id: user.id, token }
}

test('the server shows its settings and upstreams to admins, and no secret', async () => {
  await using fixture = await openServerFixture()
  const { emulator } = fixture
  const server = await fixture.start({
    ...{ TEXT_UPSTREAM_URL: emulator.text.url, TEXT_UPSTREAM_KEY: emulator.text.key },
    ...{ VIDEO_UPSTREAM_URL: emulator.video.url, VIDEO_UPSTREAM_KEY: emulator.video.key, VIDEO_SLOTS: '{"*":2}' },
    MEDIA_UPSTREAM_LIMITS: '{"ListAssetGroups":5}',
    USER_LIMITS: '[{"unit":"requests","amount":1000,"window":"day"}]',
  })
  const [root, ann] = [await addAdmin(fixture), await fixture.addUser('ann')]
  const get = async (path: string) => {
    const response = await fetch(`${server.url}/api/admin${path}`, {
      headers: { authorization: `Bearer ${root.token}` },
    })
    expect([path, response.status]).toEqual([path, 200])
    return (await response.json()) as Body
  }
  const { settings } = await get('/settings')
  expect(settings).toMatchObject({
    ...{ MEDIA_UPSTREAM_KEY: 'set', TEXT_UPSTREAM_KEY: 'set', METRICS_TOKEN: 'unset', VIDEO_SLOTS: { '*': 2 } },
    ...{ MEDIA_UPSTREAM_URL: emulator.rest.url, TEXT_TIMEOUT_SECONDS: 200 },
  })
  expect(JSON.stringify(settings)).not.toContain(emulator.rest.key)
  const upstreamNames = ['assets', `text ${new URL(emulator.text.url).host}`, 'video']
  const before = (await get('/upstreams')).upstreams
  expect(before.map(({ kind, state, since, calls }: Body) => [kind, state, since, calls])).toEqual([
    ['rest', 'not called yet', null, 0],
    ['text', 'not called yet', null, 0],
    ['video', 'not called yet', null, 0],
  ])
  expect(before.map(({ name }: Body) => name)).toEqual(upstreamNames)
  const headers = { authorization: `Bearer ${ann.token}`, 'content-type': 'application/json' }
  const chat = { model: 'doubao-seed-emulated', messages: [{ role: 'user', content: 'hello' }] }
  const post = (path: string, body: object) =>
    fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) }).then((response) =>
      response.text(),
    )
  await post('/v1/chat/completions', chat)
  const video = { model: 'doubao-seedance-2-0-260128', content: [{ type: 'text', text: 'a duck' }] }
  for (let nth = 0; nth < 3; nth++) await post('/api/v3/contents/generations/tasks', video)
  const [, text, videos] = (await get('/upstreams')).upstreams
  expect(text).toMatchObject({ state: 'reachable', calls: 1, errors: 0, since: expect.any(String), last_error: null })
  expect(videos?.slots).toEqual([
    {
      ...{ pool: 'doubao-seedance-2-0-260128', slots: 2, running: 2, waiting: 1 },
      users: [{ user: ann.id, user_name: 'ann', running: 2, waiting: 1 }],
    },
  ])
  expect((await get('/videos?status=queued&limit=2')).videos).toHaveLength(2)
  expect((await get(`/users/${ann.id}/limits`)).limits).toMatchObject([
    { subject: { type: 'user', id: ann.id, name: 'ann' }, unit: 'requests', window: 'day', amount: 1_000 },
  ])
  await until(async () => (await get(`/usage?user=${ann.id}&group_by=user`)).rows.length === 1)
  await until(async () => (await get('/audit?action=admin.read')).entries.length > 3)
})

test('an admin logs in, and the session may change things from a page of the address only', async () => {
  await using fixture = await openServerFixture()
  const server = await fixture.start()
  const root = await addAdmin(fixture)
  const login = await fetch(`${server.url}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: server.url },
    body: JSON.stringify({ name: 'root', password: 'correct horse battery' }),
  })
  const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? ''
  const send = (method: string, path: string, headers: Record<string, string> = {}, body?: object) =>
    fetch(`${server.url}/api/admin${path}`, {
      method,
      headers: { cookie, ...(body && { 'content-type': 'application/json' }), ...headers },
      body: body && JSON.stringify(body),
    })
  expect((await send('GET', '/users')).status).toBe(200)
  expect((await send('POST', '/teams', {}, { name: 'red' })).status).toBe(403)
  expect((await send('POST', '/teams', { origin: 'https://evil.example' }, { name: 'red' })).status).toBe(403)
  expect((await send('POST', '/teams', { origin: server.url }, { name: 'red' })).status).toBe(200)
  // Who logs out, or is demoted, is no admin any more.
  const csv = await send('GET', '/usage?format=csv')
  expect([csv.status, await csv.text()]).toEqual([200, expect.stringMatching(/^day,user,user_name,team,/)])
  expect((await send('DELETE', `/users/${root.id}/sessions`, { origin: server.url })).status).toBe(200)
  await until(async () => (await send('GET', '/users')).status === 401)
})
