/** Runs with `--all`: hundreds of password hashes; web-session/login-throttle.test.ts tests the rules in one process. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Reply } from '../support/gateway.ts'
import type { ServerProcess } from '../support/server.ts'
import { type Fixture, login, openFixture, send, until } from './fixture.ts'

/** The client address that a proxy on this machine reports. */
const forwardedFor = (address: string) => ({ 'x-forwarded-for': address })

describe('a caller who guesses passwords', () => {
  let fixture: Fixture
  let server: ServerProcess
  beforeAll(async () => {
    fixture = await openFixture()
    for (const name of ['ann', 'bob', 'eve', 'gone', 'bare']) {
      if (name === 'bare') await fixture.store.addUser({ name, createdAt: 1 })
      else await fixture.addPerson(name)
    }
    await fixture.store.disableUser('gone', 1)
    server = await fixture.start({ TRUSTED_PROXIES: '127.0.0.1' })
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const guess = (name: string, headers: Record<string, string>, entered = 'wrong') =>
    login(server.url, name, headers, entered)
  const comparable = ({ status, text, headers }: Reply) => {
    const { date: _, 'x-request-id': id, 'retry-after': wait = '0', ...rest } = Object.fromEntries(headers)
    return { status, text, headers: rest, hasDelay: Number(wait) > 0 && Number(wait) <= 5 }
  }

  test('cannot tell from the responses whether a name exists', async () => {
    const sequences: unknown[][] = []
    for (const [nth, name] of ['eve', 'gone', 'bare', 'nobody', 'nobody\0', '\ud800', 'x'.repeat(5_000)].entries()) {
      const sequence = []
      for (let attempt = 0; attempt < 8; attempt++) {
        sequence.push(comparable(await guess(name, forwardedFor(`192.0.2.${nth}`))))
      }
      sequences.push(sequence)
    }
    expect(sequences[0]?.map((each) => (each as { status: number }).status)).toEqual([
      ...[401, 401, 401, 401, 401, 401, 429, 429],
    ])
    for (const sequence of sequences) expect(sequence).toEqual(sequences[0] ?? [])
  }, 300_000)

  test('is blocked for Retry-After, also with the right password, and no longer', async () => {
    for (let attempt = 0; attempt < 6; attempt++) {
      expect((await guess('ann', forwardedFor('203.0.113.1'))).status).toBe(401)
    }
    const blocked = await login(server.url, 'ann', forwardedFor('203.0.113.2'))
    expect(blocked.status).toBe(429)
    expect(blocked.headers.get('set-cookie')).toBeNull()
    const wait = Number(blocked.headers.get('retry-after'))
    expect(wait).toBeWithin(1, 6)
    expect((await login(server.url, 'bob', forwardedFor('203.0.113.1'))).status).toBe(200)
    await until(async () => (await login(server.url, 'ann', forwardedFor('203.0.113.2'))).status === 200)
    // The network has used up its own failures of the day: it has one again, not five.
    expect((await guess('ann', forwardedFor('203.0.113.3'))).status).toBe(401)
    expect((await guess('ann', forwardedFor('203.0.113.3'))).status).toBe(429)
    // Another network is not blocked.
    expect((await login(server.url, 'ann', forwardedFor('198.51.100.200'))).status).toBe(200)
  }, 300_000)

  test('is blocked at one address after twenty names, in whatever form the header names the address', async () => {
    const client = '198.51.100.9'
    const forms = [
      client,
      `10.0.0.1, ${client}`,
      `192.0.2.77,${client}`,
      `unknown, ${client} `,
      `${client}, 192.0.2.78,  ${client}`,
      `, , ${client}`,
      `::ffff:${client}`,
      // Some proxies add the port, which differs for every connection.
      `${client}:40001`,
      `192.0.2.79, ${client}:40002`,
      `[::ffff:${client}]:40003`,
    ]
    for (let nth = 0; nth < 20; nth++) {
      const reply = await guess(`name ${nth}`, forwardedFor(forms[nth % forms.length] ?? ''))
      expect([nth, reply.status]).toEqual([nth, 401])
    }
    for (const form of forms) expect((await login(server.url, 'bob', forwardedFor(form))).status).toBe(429)
    for (const name of ['forwarded', 'x-real-ip', 'cf-connecting-ip', 'true-client-ip', 'x-client-ip']) {
      expect((await login(server.url, 'bob', { ...forwardedFor(client), [name]: '192.0.2.99' })).status).toBe(429)
    }
    expect((await login(server.url, 'bob', forwardedFor('198.51.100.10'))).status).toBe(200)
  })

  test('gets no further with concurrent logins, with one name or with many', async () => {
    const guessAll = (name: (nth: number) => string, address: (nth: number) => string) =>
      Promise.all(Array.from({ length: 60 }, (_, nth) => guess(name(nth), forwardedFor(address(nth)))))
    const checked = (replies: readonly Reply[]) => replies.filter(({ status }) => ![429, 503].includes(status)).length
    expect(
      checked(
        await guessAll(
          () => 'frank',
          (nth) => `192.0.2.${100 + nth}`,
        ),
      ),
    ).toBeLessThanOrEqual(6)
    expect(
      checked(
        await guessAll(
          (nth) => `many ${nth}`,
          () => '198.51.100.20',
        ),
      ),
    ).toBeLessThanOrEqual(20)
    // Different names from one IPv6 /64.
    expect(
      checked(
        await guessAll(
          (nth) => `six ${nth}`,
          (nth) => (nth % 2 ? `2001:db8:1:2::${nth}` : `[2001:db8:1:2::${nth}]:${nth}`),
        ),
      ),
    ).toBeLessThanOrEqual(20)
  })

  test('gets no count for an invalid body', async () => {
    for (const body of ['{', '[]', '"x"', '{}', '{"name":"bob"}', '{"name":"bob","password":1}']) {
      expect((await send(server.url, 'POST', '/api/session', body, { origin: server.url })).status).toBe(400)
    }
    expect((await login(server.url, 'bob', forwardedFor('203.0.113.50'))).status).toBe(200)
  })
})
