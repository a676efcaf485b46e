/** Runs with `--all`: a process of the command for each output; settings and upstreams of the admin API have tests of their own. */
import { expect, test } from 'bun:test'
import { createToken, hashToken } from '../../plugins/api-token/index.ts'
import { openServerFixture } from '../support/server-fixture.ts'
import { runCommand } from './command.ts'

const parsed = (out: string) =>
  out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

test('settings and upstreams print what the admin API shows, but for what only a server knows', async () => {
  await using fixture = await openServerFixture('sqlite', { video: { runningMs: 3_600_000 } })
  const { emulator, store } = fixture
  const environment = {
    ...{ TEXT_UPSTREAM_URL: emulator.text.url, TEXT_UPSTREAM_KEY: emulator.text.key },
    ...{ VIDEO_UPSTREAM_URL: emulator.video.url, VIDEO_UPSTREAM_KEY: emulator.video.key, VIDEO_SLOTS: '{"*":2}' },
    ...{ MEDIA_UPSTREAM_LIMITS: '{"ListAssetGroups":5}', PORT: '0' },
  }
  const server = await fixture.start(environment)
  const root = await store.addAdminUser({ name: 'root', role: 'admin', createdAt: 1 })
  if (typeof root === 'string') throw new Error(root)
  const token = createToken()
  const scopes = ['admin', 'video'] as const
  await store.addUserToken(root.id, { hash: hashToken(token), start: token.slice(0, 9), scopes, createdAt: 1 })
  const send = async (path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const init = body && { method: 'POST', body: JSON.stringify(body) }
    const response = await fetch(server.url + path, { ...init, headers })
    expect([path, response.status]).toEqual([path, 200])
    return (await response.json()) as Record<string, never>
  }
  const video = { model: 'doubao-seedance-2-0-260128', content: [{ type: 'text', text: 'a duck' }] }
  for (let nth = 0; nth < 3; nth++) await send('/api/v3/contents/generations/tasks', video)

  const run = async (...args: readonly string[]) => {
    const result = await runCommand(args, { ...fixture.environment, ...environment })
    expect([args, result.status, result.err]).toEqual([args, 0, ''])
    return result.out
  }
  const { settings = {} } = await send('/api/admin/settings')
  const printed = Object.fromEntries(
    parsed(await run('settings', '--json')).map(({ variable, value }) => [variable, value]),
  )
  // The server of the test has some settings of its own.
  const ofServer = ['DRAIN_GRACE_SECONDS', 'SESSION_SECRET', 'LOG_LEVEL', 'METRICS_TOKEN', 'PUBLIC_URL', 'PORT', 'HOST']
  for (const name of ofServer) delete (settings as Record<string, unknown>)[name]
  expect(printed).toMatchObject(settings)
  expect(printed).toMatchObject({ MEDIA_UPSTREAM_KEY: 'set', METRICS_TOKEN: 'unset', VIDEO_SLOTS: { '*': 2 } })
  const lines = (await run('settings')).split('\n')
  expect(lines).toContain('TEXT_UPSTREAM_KEY\tset')
  expect(lines).toContain('MEDIA_UPSTREAM_LIMITS\t{"ListAssetGroups":5}')
  expect(lines.join()).not.toContain(emulator.text.key)

  const { upstreams = [] } = await send('/api/admin/upstreams')
  const known = (upstreams as readonly Record<string, unknown>[]).map(({ name, kind, limits, slots, asset_slots }) => ({
    ...{ name, kind, limits, slots, asset_slots },
  }))
  expect(known.map(({ kind }) => kind)).toEqual(['rest', 'text', 'video'])
  expect(parsed(await run('upstreams', '--json'))).toEqual(known)
  expect((await run('upstreams')).split('\n')).toEqual([
    'assets\trest',
    'assets\trest\tlimit ListAssetGroups\tcalls 0 of 5 a second\twaiting 0',
    `text ${new URL(emulator.text.url).host}\ttext`,
    'video\tvideo',
    `video\tvideo\tslots ${video.model}\trunning 2 of 2\twaiting 1\troot 2 and 1`,
    '',
  ])
}, 300_000)

test('settings that are not valid are named, and none is printed', async () => {
  for (const command of ['settings', 'upstreams']) {
    const result = await runCommand([command], { DATABASE_URL: 'sqlite::memory:', PORT: 'x', TEXT_UPSTREAM_URL: 'y' })
    expect(result).toMatchObject({
      status: 2,
      out: '',
      err: expect.stringMatching(/^TEXT_UPSTREAM_URL must be .*\nPORT must be [^\n]*\n$/),
    })
  }
})
