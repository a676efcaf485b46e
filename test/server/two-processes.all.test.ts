/** Runs with `--all`: two processes that change the same objects, many times. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { hashToken } from '../../plugins/api-token/index.ts'
import { hashPassword } from '../../plugins/web-session/index.ts'
import { openStore } from '../../src/store/index.ts'
import { statusAndText } from '../routes/fixture.ts'
import { databaseNames } from '../support/database.ts'
import type { ServerProcess } from '../support/server.ts'
import { type Browser, browse, cookieOf, type Fixture, login, newToken, openFixture, send } from './fixture.ts'

/** A revocation takes effect in every process within this time. */
const revocationMs = 1_000

describe.each(databaseNames)('two servers on one database (%s)', (kind) => {
  let fixture: Fixture
  let servers: readonly [ServerProcess, ServerProcess]
  beforeAll(async () => {
    fixture = await openFixture(kind)
    const environment = {
      TEXT_UPSTREAM_URL: fixture.emulator.text.url,
      TEXT_UPSTREAM_KEY: fixture.emulator.text.key,
      TRUSTED_PROXIES: '127.0.0.1',
    }
    servers = [await fixture.start(environment), await fixture.start(environment)]
  }, 300_000)
  afterAll(() => fixture[Symbol.asyncDispose]())

  const person = async (name: string): Promise<Browser> => {
    await fixture.addPerson(name)
    return browse(servers[0], name)
  }
  const who = async (browser: Browser, at: ServerProcess) =>
    (await browser.ask('GET', '/api/session', undefined, {}, at)).status

  test('a token revoked at one server, or by an administrator, stops working at both within a second', async () => {
    const kim = await person('kim')
    const statuses = async (token: string) => {
      const requests = ['/v1/models', '/api/media/proxy/assets/groups'].flatMap((path) =>
        servers.map(({ url }) => send(url, 'GET', path, undefined, { authorization: `Bearer ${token}` })),
      )
      return (await Promise.all(requests)).map(({ status }) => status)
    }
    for (const revoke of [
      async (id: string) => (await kim.ask('DELETE', `/api/tokens/${id}`)).status === 200,
      async (id: string) => (await fixture.store.revokeToken(id, Date.now())) !== undefined,
    ]) {
      const { id, token } = await newToken(kim)
      // The servers cache the token now.
      expect(await statuses(token)).toEqual([200, 200, 200, 200])
      expect(await revoke(id)).toBe(true)
      await Bun.sleep(revocationMs)
      expect(await statuses(token)).toEqual([401, 401, 401, 401])
    }
  })

  test('a login and a logout take effect at the other server at once', async () => {
    const ann = await person('ann')
    expect(await who(ann, servers[1])).toBe(200)
    expect((await ann.ask('DELETE', '/api/session')).status).toBe(200)
    for (const server of servers) expect(await who(ann, server)).toBe(401)
    // A login never reuses the id of the cookie that the browser sends.
    const again = await login(servers[1].url, 'ann', { cookie: ann.cookie })
    expect(again.headers.get('set-cookie')).not.toContain(ann.cookie.slice(8, 51))
    expect(await who(ann, servers[0])).toBe(401)
  })

  test('a login in a browser with a session of any user ends that session for both', async () => {
    const [before] = [await person('planter'), await person('victim')]
    const reply = await login(servers[1].url, 'victim', { cookie: before.cookie })
    expect(reply.status).toBe(200)
    for (const server of servers) expect(await who(before, server)).toBe(401)
  })

  test('a disabled user has no session at either, also after being enabled again', async () => {
    const dan = await person('dan')
    const { token } = await newToken(dan)
    await fixture.store.disableUser('dan', Date.now())
    for (const server of servers) expect(await who(dan, server)).toBe(401)
    expect((await login(servers[1].url, 'dan')).status).toBe(401)
    await Bun.sleep(revocationMs)
    for (const { url } of servers) {
      expect((await send(url, 'GET', '/v1/models', undefined, { authorization: `Bearer ${token}` })).status).toBe(401)
    }
    await fixture.store.enableUser('dan')
    for (const server of servers) expect(await who(dan, server)).toBe(401)
  })

  test('a new password ends the earlier sessions at both', async () => {
    const eve = await person('eve')
    await fixture.store.setPassword('eve', await hashPassword('another one'))
    for (const server of servers) expect(await who(eve, server)).toBe(401)
    expect((await login(servers[1].url, 'eve')).status).toBe(401)
    expect((await login(servers[1].url, 'eve', {}, 'another one')).status).toBe(200)
  })

  test('a login starts no session when its user is disabled or gets another password meanwhile', async () => {
    const [server] = servers
    for (const name of ['ida', 'jon']) await fixture.addPerson(name)
    // Other logins fill the queue of password checks. So the two users are read before the change, and their passwords are checked after it.
    const others = Array.from({ length: 30 }, (_, nth) =>
      login(server.url, `nobody ${nth}`, { 'x-forwarded-for': `192.0.2.${nth}` }),
    )
    await Bun.sleep(100)
    const logins = ['ida', 'jon'].map((name) => login(server.url, name))
    await Bun.sleep(100)
    await fixture.store.disableUser('ida', Date.now())
    await fixture.store.setPassword('jon', 'the hash of another password')
    const replies = await Promise.all(logins)
    const expectNoSession = async () => {
      for (const reply of replies) {
        const cookie = cookieOf(reply)
        expect((await send(servers[1].url, 'GET', '/api/session', undefined, { cookie })).status).toBe(401)
      }
    }
    await expectNoSession()
    await fixture.store.enableUser('ida')
    await expectNoSession()
    await Promise.all(others)
  })

  test('of 120 concurrent token creations at most 100 succeed, and the created tokens work', async () => {
    const max = await person('max')
    const replies = await Promise.all(
      Array.from({ length: 120 }, (_, nth) => max.ask('POST', '/api/tokens', {}, {}, servers[nth % 2])),
    )
    const created = replies.filter(({ status }) => status === 200)
    const listed = (await max.ask('GET', '/api/tokens')).json.tokens
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 409]))
    expect(created.length).toBeLessThanOrEqual(100)
    expect(new Set(listed.map(({ id }: { id: string }) => id))).toEqual(
      new Set(created.map(({ json }) => json.token.id)),
    )
    for (const { json } of created) expect(await fixture.store.ownerOf(hashToken(json.token.token))).toBeDefined()
    for (let more = created.length; more < 100; more++)
      expect((await max.ask('POST', '/api/tokens', {})).status).toBe(200)
    expect(statusAndText(await max.ask('POST', '/api/tokens', {}))).toMatchObject({ status: 409 })
    expect((await max.ask('DELETE', `/api/tokens/${listed[0].id}`)).status).toBe(200)
    expect((await max.ask('POST', '/api/tokens', {})).status).toBe(200)
  })

  test('of 100 concurrent guesses at one name from one network six are checked; then it gets no further, with the right password', async () => {
    await fixture.addPerson('nat')
    const guess = (nth: number) =>
      login(servers[nth % 2]?.url ?? '', 'nat', { 'x-forwarded-for': `198.51.100.${nth}` }, `guess ${nth}`)
    const replies = await Promise.all(Array.from({ length: 100 }, (_, nth) => guess(nth)))
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(6)
    const blocked = replies.filter(({ status }) => status === 429)
    // In each process, eight logins run and 32 wait: the others are refused before they are counted.
    expect(replies.filter(({ status }) => status === 429 || status === 503)).toHaveLength(94)
    expect(blocked.length).toBeGreaterThanOrEqual(74)
    for (const { headers } of blocked) expect(Number(headers.get('retry-after'))).toBeWithin(1, 7)
    for (const { url } of servers)
      expect((await login(url, 'nat', { 'x-forwarded-for': '198.51.100.200' })).status).toBe(429)
    for (const { url } of servers) expect((await login(url, 'nat')).status).toBe(200)
  })

  test('no session survives the disabling of its user, in any order of a concurrent login', async () => {
    const other = openStore(fixture.environment.DATABASE_URL ?? '')
    const id = await fixture.addPerson('zoe')
    const password = (await other.userByName('zoe'))?.password ?? ''
    const survivors: number[] = []
    for (let round = 0; round < 40; round++) {
      const [hash, createdAt] = [`hash ${round}`, Date.now()]
      const ends = { idleUntil: createdAt + 60_000, endsAt: createdAt + 60_000 }
      await Promise.all([
        Bun.sleep(round % 3).then(() =>
          other.addSession({ hash, id: hash, user: id, name: 'zoe', password, createdAt, ...ends }),
        ),
        Bun.sleep(round % 2).then(() => fixture.store.disableUser('zoe', createdAt)),
      ])
      await fixture.store.enableUser('zoe')
      if (await other.session(hash)) survivors.push(round)
    }
    await other.close()
    expect(survivors).toEqual([])
  }, 300_000)
})
