/** Runs with `--all`: thousands of logins from many addresses. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { request } from 'node:http'
import type { ServerProcess } from '../support/server.ts'
import { type Fixture, openFixture, password } from './fixture.ts'

interface LoginReply {
  readonly status: number
  readonly cookies: readonly string[]
}

/** Logs in over a connection from a loopback address. */
const logIn = (
  { url }: ServerProcess,
  name: string,
  entered: string,
  { localAddress = '127.0.0.1', ...headers }: Record<string, string> = {},
): Promise<LoginReply> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const all = { 'content-type': 'application/json', origin: url, ...headers }
    const to = { hostname, port, localAddress, agent: false, path: '/api/session', method: 'POST', headers: all }
    const outgoing = request(to, (response) => {
      response.resume()
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, cookies: response.headers['set-cookie'] ?? [] }),
      )
    })
    outgoing.on('error', reject)
    outgoing.end(JSON.stringify({ name, password: entered }))
  })

const forwardedFor = (address: string) => ({ 'x-forwarded-for': address })
const deviceOf = ({ cookies }: LoginReply): string => cookies[1]?.split(';', 1)[0] ?? ''
const statusesOf = (replies: readonly LoginReply[]) => replies.map(({ status }) => status)

describe.each(['on', 'off'])('a server without a proxy (GET_BODIES %s)', (getBodies) => {
  let fixture: Fixture
  let server: ServerProcess
  beforeAll(async () => {
    fixture = await openFixture()
    await fixture.addPerson('ann')
    server = await fixture.start({ GET_BODIES: getBodies })
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  test('ignores x-forwarded-for: it blocks the peer address after twenty failures, and no other address', async () => {
    const localAddress = '127.0.0.5'
    const statuses: number[] = []
    for (let nth = 0; nth < 24; nth++) {
      const headers = { localAddress, ...forwardedFor(`192.0.2.${nth}`) }
      statuses.push((await logIn(server, `nobody ${nth}`, 'wrong', headers)).status)
    }
    expect(statuses).toEqual([...Array(20).fill(401), ...Array(4).fill(429)])
    expect((await logIn(server, 'ann', password, { localAddress })).status).toBe(429)
    const other = { localAddress: '127.0.0.6', ...forwardedFor(localAddress) }
    expect((await logIn(server, 'ann', password, other)).status).toBe(200)
  }, 300_000)
})

describe('a server behind two proxies', () => {
  let fixture: Fixture
  let server: ServerProcess
  beforeAll(async () => {
    fixture = await openFixture()
    for (const name of ['ann', 'bob', 'kim']) await fixture.addPerson(name)
    server = await fixture.start({ TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8, 2001:db8:ffff::/48' })
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  /** The header that the server gets from the proxies for a client with that address, which sends a header of its own. */
  const through = (address: string, own = '192.0.2.1, 10.7.7.7') => forwardedFor(`${own}, ${address}, 10.0.0.8`)

  test('uses the address that the outer proxy saw, in any notation, whatever header the client sends', async () => {
    const statuses: number[] = []
    for (let nth = 0; nth < 22; nth++) {
      const client = nth % 2 ? '198.51.100.7' : '[::ffff:198.51.100.7]:4000'
      statuses.push((await logIn(server, `nobody ${nth}`, 'wrong', through(client, `192.0.2.${nth}`))).status)
    }
    expect(statuses).toEqual([...Array(20).fill(401), 429, 429])
    expect((await logIn(server, 'ann', password, through('203.0.113.9'))).status).toBe(200)
    // Without the proxies the header is ignored.
    const direct = { localAddress: '127.0.0.9', ...through('198.51.100.7') }
    expect((await logIn(server, 'ann', password, direct)).status).toBe(200)
  }, 300_000)

  test('blocks an IPv6 /56 after failures from many of its /64 networks', async () => {
    const statuses: number[] = []
    for (let round = 0; round < 6; round++) {
      const attempts = Array.from({ length: 20 }, (_, nth) =>
        logIn(server, `nobody ${nth}`, 'wrong', through(`2001:db8:1:${(round * 20 + nth).toString(16)}::1`)),
      )
      statuses.push(...statusesOf(await Promise.all(attempts)))
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(80)
    expect(statuses.filter((status) => status === 429)).toHaveLength(40)
    expect((await logIn(server, 'bob', password, through('2001:db8:1:ff::1'))).status).toBe(429)
    expect((await logIn(server, 'bob', password, through('2001:db8:1:100::1'))).status).toBe(200)
  }, 300_000)

  test('lets a known browser log in while a hundred other callers block the name', async () => {
    const cookie = deviceOf(await logIn(server, 'kim', password, through('203.0.113.20')))
    const statuses: number[] = []
    // Twenty at once have room in the queue.
    for (let round = 0; round < 5; round++) {
      const others = Array.from({ length: 20 }, (_, nth) =>
        logIn(server, 'kim', 'wrong', through(`2001:db8:${(20 * round + nth + 16).toString(16)}::1`)),
      )
      statuses.push(...statusesOf(await Promise.all(others)))
    }
    // Fifty of all networks, and one more of those that get no other.
    expect(statuses.filter((status) => status === 401)).toHaveLength(51)
    expect(statuses.filter((status) => status === 429)).toHaveLength(49)
    expect((await logIn(server, 'kim', password, through('203.0.113.20'))).status).toBe(429)
    const known = await logIn(server, 'kim', password, { ...through('203.0.113.20'), cookie })
    expect(known.status).toBe(200)
    expect((await logIn(server, 'kim', password, through('203.0.113.20'))).status).toBe(429)
    // The device cookie of another user, or a modified one, does not help.
    const bobs = deviceOf(await logIn(server, 'bob', password, through('203.0.113.21')))
    for (const other of [bobs, cookie.replace('session-device=', 'session-device=A'), cookie.slice(0, -2)]) {
      expect((await logIn(server, 'kim', password, { ...through('203.0.113.20'), cookie: other })).status).toBe(429)
    }
  }, 300_000)

  test('serves other networks while one network fills the queue of password checks', async () => {
    let rejected = 0
    let nth = 0
    const others: LoginReply[] = []
    const flood = async (): Promise<void> => {
      while (others.length < 6) {
        nth++
        const { status } = await logIn(server, `flood ${nth}`, 'wrong', through(`2001:db8:f100:${nth.toString(16)}::1`))
        if (status === 503) rejected++
        await Bun.sleep(50)
      }
    }
    const flooding = Array.from({ length: 48 }, flood)
    while (rejected === 0) await Bun.sleep(5)
    for (const last of [30, 31, 32, 33, 34, 35]) {
      others.push(await logIn(server, 'ann', password, through(`203.0.113.${last}`)))
    }
    await Promise.all(flooding)
    expect(statusesOf(others)).toEqual(Array(6).fill(200))
  }, 300_000)
})
