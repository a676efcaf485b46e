import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Reply } from '../support/gateway.ts'
import type { ServerProcess } from '../support/server.ts'
import { login, type Office, openOffice, send, until } from './fixture.ts'

/** The address that a proxy on this machine names. */
const from = (address: string) => ({ 'x-forwarded-for': address })

describe('who guesses passwords', () => {
  let office: Office
  let server: ServerProcess
  beforeAll(async () => {
    office = await openOffice()
    for (const name of ['ann', 'bob', 'eve', 'gone', 'bare']) {
      if (name === 'bare') await office.store.addUser({ name, createdAt: 1 })
      else await office.addPerson(name)
    }
    await office.store.disableUser('gone', 1)
    server = await office.start({ TRUSTED_PROXIES: '127.0.0.1' })
  })
  afterAll(() => office[Symbol.asyncDispose]())

  const guess = (name: string, headers: Record<string, string>, given = 'wrong') =>
    login(server.url, name, headers, given)
  const seen = ({ status, text, headers }: Reply) => {
    const { date: _, 'retry-after': wait = '0', ...rest } = Object.fromEntries(headers)
    return { status, text, headers: rest, waits: Number(wait) > 0 && Number(wait) <= 5 }
  }

  test('learns nothing of a name: not from an answer, its headers, nor from when guessing ends', async () => {
    const courses: unknown[][] = []
    for (const [nth, name] of ['eve', 'gone', 'bare', 'nobody', 'nobody\0', '\ud800', 'x'.repeat(5_000)].entries()) {
      const course = []
      for (let tries = 0; tries < 7; tries++) course.push(seen(await guess(name, from(`192.0.2.${nth}`))))
      courses.push(course)
    }
    expect(courses[0]?.map((each) => (each as { status: number }).status)).toEqual([401, 401, 401, 401, 401, 429, 429])
    for (const course of courses) expect(course).toEqual(courses[0] ?? [])
  }, 20_000)

  test('is kept from the name for as long as it says, even with the right password, and no longer', async () => {
    for (let tries = 0; tries < 5; tries++) expect((await guess('ann', from('203.0.113.1'))).status).toBe(401)
    const refused = await login(server.url, 'ann', from('203.0.113.2'))
    expect(refused.status).toBe(429)
    expect(refused.headers.get('set-cookie')).toBeNull()
    const wait = Number(refused.headers.get('retry-after'))
    expect(wait).toBeWithin(1, 6)
    expect((await login(server.url, 'bob', from('203.0.113.1'))).status).toBe(200)
    await until(async () => (await login(server.url, 'ann', from('203.0.113.2'))).status === 200)
    for (let tries = 0; tries < 5; tries++) expect((await guess('ann', from('203.0.113.3'))).status).toBe(401)
  }, 15_000)

  test('is stopped at one address after twenty names, and cannot talk itself into another one', async () => {
    const mine = '198.51.100.9'
    const disguises = [
      mine,
      `10.0.0.1, ${mine}`,
      `192.0.2.77,${mine}`,
      `unknown, ${mine} `,
      `${mine}, 192.0.2.78,  ${mine}`,
      `, , ${mine}`,
      `::ffff:${mine}`,
      // As some proxies say it: every connection has another port.
      `${mine}:40001`,
      `192.0.2.79, ${mine}:40002`,
      `[::ffff:${mine}]:40003`,
    ]
    for (let nth = 0; nth < 20; nth++) {
      const reply = await guess(`name ${nth}`, from(disguises[nth % disguises.length] ?? ''))
      expect([nth, reply.status]).toEqual([nth, 401])
    }
    for (const disguise of disguises) expect((await login(server.url, 'bob', from(disguise))).status).toBe(429)
    for (const name of ['forwarded', 'x-real-ip', 'cf-connecting-ip', 'true-client-ip', 'x-client-ip']) {
      expect((await login(server.url, 'bob', { ...from(mine), [name]: '192.0.2.99' })).status).toBe(429)
    }
    expect((await login(server.url, 'bob', from('198.51.100.10'))).status).toBe(200)
  })

  test('gets no further by doing it all at once, with one name or with many', async () => {
    const names = (name: (nth: number) => string, address: (nth: number) => string) =>
      Promise.all(Array.from({ length: 60 }, (_, nth) => guess(name(nth), from(address(nth)))))
    const heard = (replies: readonly Reply[]) => replies.filter(({ status }) => ![429, 503].includes(status)).length
    expect(
      heard(
        await names(
          () => 'frank',
          (nth) => `192.0.2.${100 + nth}`,
        ),
      ),
    ).toBeLessThanOrEqual(5)
    expect(
      heard(
        await names(
          (nth) => `many ${nth}`,
          () => '198.51.100.20',
        ),
      ),
    ).toBeLessThanOrEqual(20)
    // A name in a network of one customer's, IPv6.
    expect(
      heard(
        await names(
          (nth) => `six ${nth}`,
          (nth) => (nth % 2 ? `2001:db8:1:2::${nth}` : `[2001:db8:1:2::${nth}]:${nth}`),
        ),
      ),
    ).toBeLessThanOrEqual(20)
  })

  test('finds every other door closed as well: what is no login is no guess', async () => {
    for (const body of ['{', '[]', '"x"', '{}', '{"name":"bob"}', '{"name":"bob","password":1}']) {
      expect((await send(server.url, 'POST', '/api/session', body, { origin: server.url })).status).toBe(400)
    }
    expect((await login(server.url, 'bob', from('203.0.113.50'))).status).toBe(200)
  })
})
