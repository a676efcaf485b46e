import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { request } from 'node:http'
import type { ServerProcess } from '../support/server.ts'
import { type Office, openOffice, password } from './fixture.ts'

interface Answer {
  readonly status: number
  readonly cookies: readonly string[]
}

/** A login over a connection from an address of this machine's. */
const logIn = (
  { url }: ServerProcess,
  name: string,
  given: string,
  { localAddress = '127.0.0.1', ...headers }: Record<string, string> = {},
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const all = { 'content-type': 'application/json', origin: url, ...headers }
    const to = { hostname, port, localAddress, agent: false, path: '/api/session', method: 'POST', headers: all }
    const sent = request(to, (answer) => {
      answer.resume()
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, cookies: answer.headers['set-cookie'] ?? [] }))
    })
    sent.on('error', reject)
    sent.end(JSON.stringify({ name, password: given }))
  })

const from = (address: string) => ({ 'x-forwarded-for': address })
const deviceOf = ({ cookies }: Answer): string => cookies[1]?.split(';', 1)[0] ?? ''
const statusesOf = (answers: readonly Answer[]) => answers.map(({ status }) => status)

describe.each(['on', 'off'])('a host with no proxy (GET_BODIES %s)', (getBodies) => {
  let office: Office
  let server: ServerProcess
  beforeAll(async () => {
    office = await openOffice()
    await office.addPerson('ann')
    server = await office.start({ GET_BODIES: getBodies })
  })
  afterAll(() => office[Symbol.asyncDispose]())

  test('believes nobody who says to come from elsewhere: after twenty names that address is stopped, and no other one', async () => {
    const here = '127.0.0.5'
    const statuses: number[] = []
    for (let nth = 0; nth < 24; nth++) {
      const headers = { localAddress: here, ...from(`192.0.2.${nth}`) }
      statuses.push((await logIn(server, `nobody ${nth}`, 'wrong', headers)).status)
    }
    expect(statuses).toEqual([...Array(20).fill(401), ...Array(4).fill(429)])
    expect((await logIn(server, 'ann', password, { localAddress: here })).status).toBe(429)
    expect((await logIn(server, 'ann', password, { localAddress: '127.0.0.6', ...from(here) })).status).toBe(200)
  }, 20_000)
})

describe('a host behind two proxies', () => {
  let office: Office
  let server: ServerProcess
  beforeAll(async () => {
    office = await openOffice()
    for (const name of ['ann', 'bob', 'kim']) await office.addPerson(name)
    server = await office.start({ TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8, 2001:db8:ffff::/48' })
  })
  afterAll(() => office[Symbol.asyncDispose]())

  /** What the two proxies make of a request from an address that brings a header of its own. */
  const through = (address: string, own = '192.0.2.1, 10.7.7.7') => from(`${own}, ${address}, 10.0.0.8`)

  test('knows callers by what the outer one saw, whatever they bring along, and however it is written', async () => {
    const statuses: number[] = []
    for (let nth = 0; nth < 22; nth++) {
      const mine = nth % 2 ? '198.51.100.7' : '[::ffff:198.51.100.7]:4000'
      statuses.push((await logIn(server, `nobody ${nth}`, 'wrong', through(mine, `192.0.2.${nth}`))).status)
    }
    expect(statuses).toEqual([...Array(20).fill(401), 429, 429])
    expect((await logIn(server, 'ann', password, through('203.0.113.9'))).status).toBe(200)
    // From beside the proxies the header is worth nothing.
    const beside = { localAddress: '127.0.0.9', ...through('198.51.100.7') }
    expect((await logIn(server, 'ann', password, beside)).status).toBe(200)
  }, 20_000)

  test('stops a network of 56 bits, however many networks of 64 bits the tries come from', async () => {
    const statuses: number[] = []
    for (let round = 0; round < 6; round++) {
      const tries = Array.from({ length: 20 }, (_, nth) =>
        logIn(server, `nobody ${nth}`, 'wrong', through(`2001:db8:1:${(round * 20 + nth).toString(16)}::1`)),
      )
      statuses.push(...statusesOf(await Promise.all(tries)))
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(80)
    expect(statuses.filter((status) => status === 429)).toHaveLength(40)
    expect((await logIn(server, 'bob', password, through('2001:db8:1:ff::1'))).status).toBe(429)
    expect((await logIn(server, 'bob', password, through('2001:db8:1:100::1'))).status).toBe(200)
  }, 30_000)

  test('lets in who has logged in from that browser before, while a hundred strangers keep the name shut', async () => {
    const cookie = deviceOf(await logIn(server, 'kim', password, through('203.0.113.20')))
    const strangers = Array.from({ length: 100 }, (_, nth) =>
      logIn(server, 'kim', 'wrong', through(`2001:db8:${(nth + 16).toString(16)}::1`)),
    )
    expect(statusesOf(await Promise.all(strangers)).filter((status) => status === 401)).toHaveLength(5)
    expect((await logIn(server, 'kim', password, through('203.0.113.20'))).status).toBe(429)
    const known = await logIn(server, 'kim', password, { ...through('203.0.113.20'), cookie })
    expect(known.status).toBe(200)
    expect((await logIn(server, 'kim', password, through('203.0.113.20'))).status).toBe(429)
    // Not by somebody else's, nor by one that has been bent.
    const bobs = deviceOf(await logIn(server, 'bob', password, through('203.0.113.21')))
    for (const other of [bobs, cookie.replace('session-device=', 'session-device=A'), cookie.slice(0, -2)]) {
      expect((await logIn(server, 'kim', password, { ...through('203.0.113.20'), cookie: other })).status).toBe(429)
    }
  }, 20_000)

  test('has room for everybody while one network wants to have all passwords checked', async () => {
    let full = 0
    let nth = 0
    const others: Answer[] = []
    const flood = async (): Promise<void> => {
      while (others.length < 6) {
        nth++
        const { status } = await logIn(server, `flood ${nth}`, 'wrong', through(`2001:db8:f100:${nth.toString(16)}::1`))
        if (status === 503) full++
        await Bun.sleep(50)
      }
    }
    const flooding = Array.from({ length: 48 }, flood)
    while (full === 0) await Bun.sleep(5)
    for (const last of [30, 31, 32, 33, 34, 35]) {
      others.push(await logIn(server, 'ann', password, through(`203.0.113.${last}`)))
    }
    await Promise.all(flooding)
    expect(statusesOf(others)).toEqual(Array(6).fill(200))
  }, 30_000)
})
