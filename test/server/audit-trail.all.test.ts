/** Runs with `--all`: ends and kills processes of both databases; admin/audit.test.ts and audit/writer.test.ts test the trail in one. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { hashToken } from '../../plugins/api-token/index.ts'
import { systemClock } from '../../plugins/shared/clock.ts'
import { openStore } from '../../src/store/index.ts'
import { runCommand } from '../support/admin-command.ts'
import { databaseNames, type TestDatabase } from '../support/database.ts'
import { userAt } from '../support/gateway.ts'
import type { ServerProcess } from '../support/server.ts'
import { arkOf, browse, type Fixture, faces, login, newToken, openFixture, password, send, until } from './fixture.ts'

type Entry = Readonly<Record<string, string | number>>

/** The entries that `admin audit` prints. */
const trailOf = async ({ store }: Pick<Fixture, 'store'>, ...args: readonly string[]): Promise<readonly Entry[]> => {
  const { status, out, err } = await runCommand(store, ['audit', ...args], { clock: systemClock })
  expect([status, err]).toEqual([0, []])
  return out.map((line) => JSON.parse(line))
}

const picture = { URL: 'https://files.example/a.png', AssetType: 'Image' }
const secret = 'a session secret of the test'

describe.each(databaseNames)('the audit trail of two servers (%s)', (kind: TestDatabase['kind']) => {
  let fixture: Fixture
  let servers: readonly [ServerProcess, ServerProcess]
  beforeAll(async () => {
    fixture = await openFixture(kind)
    for (const name of ['ann', 'bob', 'cyd', 'dan', 'fay']) await fixture.addPerson(name)
    const environment = {
      ...arkOf(fixture),
      SESSION_SECRET: secret,
      TRUSTED_PROXIES: '127.0.0.1',
      USER_MAX_TOKENS: '100',
      TEXT_UPSTREAM_URL: fixture.emulator.text.url,
      TEXT_UPSTREAM_KEY: fixture.emulator.text.key,
    }
    servers = [await fixture.start(environment), await fixture.start(environment)]
  }, 300_000)
  afterAll(() => fixture[Symbol.asyncDispose]())

  const forwardedFor = (address: string) => ({ 'x-forwarded-for': address })
  /** The entries of a user. Waits until there are at least `count`. */
  const entriesOf = async (name: string, count: number) => {
    let entries = await trailOf(fixture, '--user', name)
    await until(async () => {
      entries = await trailOf(fixture, '--user', name)
      return entries.length >= count
    })
    return entries
  }
  const brief = (entries: readonly Entry[]) =>
    entries.map(({ action, kind = '-', id = '-', status = '-' }) => `${action} ${kind} ${id} ${status}`)

  test('has logins, failures, lockouts and logouts with their address, and never what the user entered', async () => {
    const [one, other] = servers
    await login(one.url, 'ann', forwardedFor('192.0.2.1'), 'a wrong guess')
    const ann = await login(other.url, 'ann', forwardedFor('2001:db8::7'))
    const cookie = ann.headers.get('set-cookie')?.split(';')[0] ?? ''
    for (let nth = 0; nth < 6; nth++) await login(one.url, 'ann', forwardedFor('192.0.2.2'), 'a wrong guess')
    await send(
      one.url,
      'POST',
      '/api/session',
      { name: 'ann', password },
      { origin: 'http://evil.example', ...forwardedFor('192.0.2.9') },
    )
    await login(one.url, 'a password in the wrong field', forwardedFor('192.0.2.3'), 'x')
    expect((await send(other.url, 'DELETE', '/api/session', undefined, { cookie, origin: other.url })).status).toBe(200)
    const entries = await entriesOf('ann', 10)
    const summaries = entries.map(({ action, address, status = 200 }) => `${action} ${address} ${status}`).sort()
    expect(summaries).toEqual([
      'session.fail 192.0.2.1 401',
      ...Array(5).fill('session.fail 192.0.2.2 401'),
      'session.lockout 192.0.2.2 429',
      'session.lockout 192.0.2.9 429',
      'session.login 2001:db8::7 200',
      'session.logout 127.0.0.1 200',
    ])
    const { id } = ann.json.user
    for (const { user, user_id } of entries) expect([user, user_id]).toEqual(['ann', id])
    let unknown: Entry | undefined
    await until(async () => {
      unknown = (await trailOf(fixture)).find(({ address }) => address === '192.0.2.3')
      return unknown !== undefined
    })
    expect(unknown).toMatchObject({ action: 'session.fail', status: 401, times: 1 })
    expect(unknown).not.toHaveProperty('user')
  })

  test('has logins from a foreign origin', async () => {
    await login(servers[0].url, 'fay', { origin: 'http://evil.example' })
    const [entry] = await entriesOf('fay', 1)
    expect(entry).toMatchObject({ action: 'session.fail', status: 403, reason: 'foreign origin' })
  })

  test('has every change of tokens, groups, assets and face verifications, with the user and the token', async () => {
    const bob = await browse(servers[0], 'bob')
    const dan = await browse(servers[1], 'dan')
    const [{ id, token }, hers] = [await newToken(bob), await newToken(dan)]
    const [mine, foreign] = [userAt(servers[0].url, '', token), userAt(servers[1].url, '', hers.token)]
    const group = (await mine.ask('POST', '/assets/groups', { Name: 'one' })).json.Result.Id
    const theirs = (await foreign.ask('POST', '/assets/groups', { Name: 'two' })).json.Result.Id
    await mine.ask('PATCH', `/assets/groups/${group}`, { Name: 'renamed' })
    const asset = (await mine.ask('POST', '/assets', { GroupId: group, ...picture })).json.Result.Id
    await mine.ask('PATCH', `/assets/${asset}`, { Name: 'an asset' })
    // Ids of another user and unknown ids get the same error.
    expect((await mine.ask('POST', '/assets', { GroupId: theirs, ...picture })).status).toBe(403)
    expect((await mine.ask('GET', `/assets?GroupIds=${group},${theirs}`)).status).toBe(403)
    expect((await mine.ask('GET', '/assets/asset-of-nobody')).status).toBe(403)
    const url = 'asset://asset-of-nobody'
    const content = [{ type: 'image_url', image_url: { url } }]
    const chat = { model: 'doubao-seed-emulated', messages: [{ role: 'user', content }] }
    const authorization = `Bearer ${token}`
    expect((await send(servers[1].url, 'POST', '/v1/chat/completions', chat, { authorization })).status).toBe(403)
    const [body, headers] = [
      { model: 'doubao-seed-emulated', input: 'Hello' },
      { authorization: `Bearer ${hers.token}` },
    ]
    const response = (await send(servers[0].url, 'POST', '/v1/responses', body, headers)).json.id
    const at = `/v1/responses/${response}`
    const next = { ...body, previous_response_id: response }
    expect((await send(servers[1].url, 'POST', '/v1/responses', next, { authorization })).status).toBe(400)
    expect((await send(servers[1].url, 'GET', at, undefined, { authorization })).status).toBe(404)
    expect((await send(servers[1].url, 'DELETE', at, undefined, headers)).status).toBe(200)
    expect((await bob.ask('GET', `${faces}/verification-of-nobody`)).status).toBe(404)
    expect((await bob.ask('DELETE', `/api/tokens/${hers.id}`)).status).toBe(404)
    const evil = { origin: 'http://evil.example' }
    expect((await bob.ask('POST', '/api/tokens', {}, evil)).status).toBe(403)
    await mine.ask('DELETE', `/assets/${asset}`)
    await mine.ask('DELETE', `/assets/groups/${group}`)
    const { verification_id: verification } = (await bob.ask('POST', faces, {})).json
    const [session] = fixture.emulator.face.sessions()
    const callback = new URL(fixture.emulator.face.finish(session?.bytedToken ?? '', 'succeed') ?? '')
    await send(servers[0].url, 'GET', callback.pathname + callback.search)
    let face = ''
    await until(async () => {
      face = (await bob.ask('GET', `${faces}/${verification}`)).json.group_id ?? ''
      return face !== ''
    })
    await bob.ask('DELETE', `/api/tokens/${id}`)

    expect(brief(await entriesOf('dan', 4))).toContain(`response.delete response ${response} -`)
    const entries = await entriesOf('bob', 20)
    expect(brief(entries).sort()).toEqual(
      [
        'session.login - - -',
        `token.create token ${id} -`,
        `group.create group ${group} -`,
        `group.update group ${group} -`,
        `asset.create asset ${asset} -`,
        `asset.update asset ${asset} -`,
        `access.refuse group ${theirs} 403`,
        `access.refuse group ${theirs} 403`,
        'access.refuse asset asset-of-nobody 403',
        'access.refuse asset asset-of-nobody 403',
        `access.refuse response ${response} 400`,
        `access.refuse response ${response} 404`,
        'access.refuse verification verification-of-nobody 404',
        `access.refuse token ${hers.id} 404`,
        'access.refuse origin - 403',
        `asset.delete asset ${asset} -`,
        `group.delete group ${group} -`,
        `verification.create verification ${verification} -`,
        `group.adopt group ${face} -`,
        `token.revoke token ${id} -`,
      ].sort(),
    )
    const used = entries.filter(
      ({ action, kind }) => /^(?:group|asset)\./.test(String(action)) && kind !== 'verification',
    )
    for (const entry of used.filter(({ id }) => id !== face)) expect(entry.token).toBe(id)
    for (const { address, action } of entries) if (action !== 'group.adopt') expect(address).toBe('127.0.0.1')
  })

  test('has the use of an expired token, and the limit of tokens when a user reaches it', async () => {
    const cyd = await browse(servers[0], 'cyd')
    const user = (await fixture.store.userByName('cyd'))?.id ?? ''
    const start = { start: 'sk-000000', createdAt: 1 }
    const old = 'sk-00000000000000000000000000000000000000000old'
    const expired = await fixture.store.addToken({
      user,
      hash: hashToken(old),
      ...start,
      expiresAt: Date.now() - 1_000,
    })
    for (let nth = 0; nth < 100; nth++) await fixture.store.addToken({ user, hash: `hash ${nth}`, ...start })
    expect((await cyd.ask('POST', '/api/tokens', {})).status).toBe(409)
    expect((await userAt(servers[1].url, '', old).ask('GET', '/assets')).status).toBe(401)
    expect(brief(await entriesOf('cyd', 3)).sort()).toEqual([
      'limit.reach token - 409',
      'session.login - - -',
      `token.expire token ${expired} -`,
    ])
  })

  test('has few entries for a thousand rejected requests of one user', async () => {
    const dan = await browse(servers[0], 'dan')
    const { token } = await newToken(dan)
    const user = userAt(servers[0].url, '', token)
    const before = (await trailOf(fixture, '--user', 'dan', '--action', 'access.refuse')).length
    for (let round = 0; round < 20; round++) {
      await Promise.all(
        Array.from({ length: 50 }, (_, nth) => user.ask('GET', `/assets?GroupIds=group-${round}-${nth}`)),
      )
    }
    await Bun.sleep(200)
    expect((await trailOf(fixture, '--user', 'dan', '--action', 'access.refuse')).length - before).toBe(10)
  })

  test('has the actions of an administrator, marked as such', async () => {
    const admin = async (...args: readonly string[]) => {
      const { status, out, err } = await runCommand(fixture.store, args, { clock: systemClock })
      expect([status, err]).toEqual([0, []])
      return out[0] ?? ''
    }
    const user = await admin('user', 'add', 'eve', '--password', 'open sesame street')
    const token = await admin('token', 'add', 'eve', '--label', 'laptop')
    const [listed = ''] = (await admin('token', 'list', 'eve')).split('\t')
    await admin('group', 'adopt', 'eve', 'group-of-old', '--type', 'AIGC', '--name', 'old')
    await admin('token', 'revoke', listed)
    await admin('user', 'password', 'eve', '--password', 'changed again')
    await admin('user', 'disable', 'eve')
    await admin('user', 'enable', 'eve')
    const entries = await trailOf(fixture, '--user', 'eve')
    expect(brief(entries).sort()).toEqual(
      [
        `user.create user ${user} -`,
        `token.create token ${listed} -`,
        'group.adopt group group-of-old -',
        `token.revoke token ${listed} -`,
        `user.password user ${user} -`,
        `user.disable user ${user} -`,
        `user.enable user ${user} -`,
      ].sort(),
    )
    for (const entry of entries) expect(entry).toMatchObject({ user: 'eve', user_id: user, address: 'admin', times: 1 })
    expect(JSON.stringify(entries)).not.toContain(token.slice(3))
  })

  test('contains no credential', async () => {
    const ann = await browse(servers[0], 'dan')
    const { token } = await newToken(ann)
    const mine = userAt(servers[0].url, '', token)
    // Users enter credentials in the wrong fields.
    await mine.ask('GET', `/assets/${token}`)
    await mine.ask('GET', `/assets?GroupIds=${token}`)
    await ann.ask('DELETE', `/api/tokens/${token}`)
    await ann.ask('GET', `${faces}/${token}`)
    await login(servers[0].url, token, {}, token)
    await login(servers[0].url, password, {}, 'another secret')
    await Bun.sleep(200)
    const rows = JSON.stringify(await trailOf(fixture))
    const link = fixture.emulator.face.sessions()[0]
    const secrets = [
      ...[
        password,
        'a wrong guess',
        'a password in the wrong field',
        'another secret',
        'open sesame',
        'changed',
        secret,
      ],
      ...[token, token.slice(3), hashToken(token), ann.cookie, ...ann.cookie.slice('session='.length).split('.')],
      ...[link?.bytedToken, link?.h5, link?.callbackUrl.split('/').at(-1)],
      ...[fixture.emulator.ark.secretKey, fixture.emulator.text.key],
    ]
    expect(rows.length).toBeGreaterThan(5_000)
    for (const one of secrets) {
      expect(String(one).length).toBeGreaterThan(5)
      expect(rows).not.toContain(String(one))
    }
  })
})

describe.each(databaseNames)('the audit trail of a server that ends (%s)', (kind: TestDatabase['kind']) => {
  const groupCreator = async (fixture: Fixture, server: ServerProcess) => {
    const { id, token } = await fixture.addUser('ann')
    const user = userAt(server.url, id, token)
    return async (nth: number) => (await user.ask('POST', '/assets/groups', { Name: `group ${nth}` })).json.Result.Id
  }

  test('has every change that was confirmed before SIGTERM', async () => {
    await using fixture = await openFixture(kind)
    const server = await fixture.start()
    const create = await groupCreator(fixture, server)
    const ids = await Promise.all(Array.from({ length: 40 }, (_, nth) => create(nth)))
    expect(await server.kill('SIGTERM')).toBe(0)
    const created = await trailOf(fixture, '--action', 'group.create')
    expect(created.map(({ id }) => id).sort()).toEqual(ids.sort())
  }, 300_000)

  test('lacks after SIGKILL at most the latest changes, and no login and no change of a token', async () => {
    await using fixture = await openFixture(kind)
    await fixture.addPerson('bob')
    const first = await fixture.start()
    const create = await groupCreator(fixture, first)
    const early = await create(0)
    await Bun.sleep(500)
    const bob = await browse(first, 'bob')
    await first.kill('SIGKILL')
    const second = await fixture.start()
    const { id } = (await bob.ask('POST', '/api/tokens', {}, {}, second)).json.token
    await second.kill('SIGKILL')
    const third = await fixture.start()
    await bob.ask('DELETE', `/api/tokens/${id}`, undefined, {}, third)
    await third.kill('SIGKILL')
    const entries = await trailOf(fixture)
    expect(entries.map(({ action, id = '' }) => `${action} ${id}`).sort()).toEqual(
      [`group.create ${early}`, 'session.login ', `token.create ${id}`, `token.revoke ${id}`].sort(),
    )
  }, 300_000)

  test('has a group whose creation got no response and was recovered later', async () => {
    await using fixture = await openFixture(kind)
    const server = await fixture.start()
    const create = await groupCreator(fixture, server)
    fixture.emulator.faults.add({ kind: 'reset-after', action: 'CreateAssetGroup', times: 1 })
    await create(0).catch(() => undefined)
    let entries: readonly Entry[] = []
    await until(async () => {
      entries = await trailOf(fixture, '--user', 'ann')
      return entries.length > 0
    })
    expect(entries).toMatchObject([{ action: 'group.create', kind: 'group', reason: 'found after a lost response' }])
  }, 300_000)

  test('does not exist with AUDIT_DAYS 0', async () => {
    await using fixture = await openFixture(kind)
    await fixture.addPerson('bob')
    const server = await fixture.start({ AUDIT_DAYS: '0' })
    await newToken(await browse(server, 'bob'))
    await server.kill('SIGTERM')
    const store = openStore(fixture.environment.DATABASE_URL ?? '')
    expect(await store.listAudit()).toEqual([])
    await store.close()
  }, 300_000)
})
