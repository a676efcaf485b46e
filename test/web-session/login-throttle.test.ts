import { describe, expect, test } from 'bun:test'
import { sql } from '../../src/store/database/statement.ts'
import { nobody, openFixture, rejection } from './fixture.ts'

const addressOf = (request: Request) => request.headers.get('x-from') ?? undefined

/** The statuses of `count` sequential logins. */
const times = async (count: number, login: () => Promise<{ status: number }>) => {
  const statuses: number[] = []
  for (let attempt = 0; attempt < count; attempt++) statuses.push((await login()).status)
  return statuses
}

describe('failed logins', () => {
  test('have no delay five times; then the name is blocked, also for the right password, without hashing', async () => {
    const { login, checked } = await openFixture()
    expect(await times(7, () => login('ann', 'wrong'))).toEqual([401, 401, 401, 401, 401, 429, 429])
    const { status, json, headers } = await login()
    expect([status, json]).toEqual([429, rejection('too many failed logins; try again later')])
    expect(headers.get('retry-after')).toBe('5')
    expect(checked).toHaveLength(5)
  })

  test('double the delay each time, up to a quarter of an hour', async () => {
    const { login, clock } = await openFixture()
    await times(5, () => login('ann', 'wrong'))
    const waits: number[] = []
    for (let round = 0; round < 12; round++) {
      const wait = Number((await login('ann', 'wrong')).headers.get('retry-after'))
      waits.push(wait)
      clock.now += wait * 1000 - 1
      expect((await login('ann', 'wrong')).status).toBe(429)
      clock.now += 1
      expect((await login('ann', 'wrong')).status).toBe(401)
    }
    expect(waits).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 900, 900, 900, 900])
  })

  test('during a delay do not extend it', async () => {
    const { login, clock } = await openFixture()
    await times(5, () => login('ann', 'wrong'))
    await times(50, () => login('ann', 'wrong'))
    clock.now += 5_000
    expect((await login()).status).toBe(200)
  })

  test('count for one name, however it is written', async () => {
    const { login, checked } = await openFixture()
    for (const name of ['ann', 'ANN', 'aNn', 'ａｎｎ', 'Ann']) expect((await login(name, 'wrong')).status).toBe(401)
    for (const name of ['AnN', 'ANn', 'ann']) expect((await login(name, 'right')).status).toBe(429)
    expect(checked).toHaveLength(5)
  })

  test('of one name do not count for another name', async () => {
    const { login, addUser } = await openFixture()
    await addUser('bob', 'right')
    await times(6, () => login('ann', 'wrong'))
    expect((await login('bob')).status).toBe(200)
  })

  test('of an unknown name count like those of an existing one', async () => {
    const { login, clock } = await openFixture()
    const unknown = nobody()
    const responsesFor = async (name: string) => {
      const replies = []
      for (let attempt = 0; attempt < 8; attempt++) replies.push(await login(name, 'wrong'))
      clock.now += 5_000
      replies.push(await login(name, 'wrong'), await login(name, 'wrong'))
      return replies.map(({ status, json, headers }) => JSON.stringify([status, json, [...headers].sort()]))
    }
    expect(await responsesFor(unknown)).toEqual(await responsesFor('ann'))
  })

  test('expire after a day without a failure', async () => {
    const { login, clock } = await openFixture()
    await times(5, () => login('ann', 'wrong'))
    clock.now += 86_399_999
    expect(await times(2, () => login('ann', 'wrong'))).toEqual([401, 429])
    clock.now += 86_400_000
    expect(await times(6, () => login('ann', 'wrong'))).toEqual([401, 401, 401, 401, 401, 429])
  })

  test('are reset by a successful login', async () => {
    const { login } = await openFixture()
    await times(4, () => login('ann', 'wrong'))
    expect((await login()).status).toBe(200)
    expect(await times(6, () => login('ann', 'wrong'))).toEqual([401, 401, 401, 401, 401, 429])
  })

  test('have the configured limits; the factory throws for a limit below 1', async () => {
    const { login } = await openFixture({ throttle: { freePerName: 1 } })
    expect(await times(2, () => login('ann', 'wrong'))).toEqual([401, 429])
    for (const throttle of [{ freePerName: 0 }, { freePerAddress: 0 }]) {
      await expect(openFixture({ throttle })).rejects.toThrow('freePerName and freePerAddress must be at least 1')
    }
  })

  test('leave no name in the database', async () => {
    const { login, database } = await openFixture()
    await login('my password by mistake', 'wrong')
    await login('x'.repeat(7_000), 'wrong')
    const rows = await database.query<{ key: string }>(sql`select key from login_attempts`)
    expect(rows.map(({ key }) => /^[0-9a-f]{64}$/.test(key))).toEqual([true, true])
  })
})

describe('failed logins from one address', () => {
  test('have no delay twenty times, whatever the names; then that address is blocked, and no other one', async () => {
    const { login, checked } = await openFixture({ addressOf })
    expect(await times(21, () => login(nobody(), 'x', { 'x-from': '192.0.2.1' }))).toEqual([
      ...Array(20).fill(401),
      429,
    ])
    expect(checked).toHaveLength(20)
    expect((await login('ann', 'right', { 'x-from': '192.0.2.1' })).status).toBe(429)
    expect((await login('ann', 'right', { 'x-from': '192.0.2.2' })).status).toBe(200)
  })

  test('blocked by the address do not count for the name', async () => {
    const { login } = await openFixture({ addressOf })
    await times(20, () => login(nobody(), 'x', { 'x-from': '192.0.2.1' }))
    await times(10, () => login('ann', 'wrong', { 'x-from': '192.0.2.1' }))
    expect(await times(5, () => login('ann', 'wrong', { 'x-from': '192.0.2.2' }))).toEqual([401, 401, 401, 401, 401])
  })

  test('blocked by the name do not count for the address', async () => {
    const { login } = await openFixture({ addressOf, throttle: { freePerAddress: 7 } })
    await times(20, () => login('ann', 'wrong', { 'x-from': '192.0.2.1' }))
    expect((await login(nobody(), 'wrong', { 'x-from': '192.0.2.1' })).status).toBe(401)
    expect((await login(nobody(), 'wrong', { 'x-from': '192.0.2.1' })).status).toBe(429)
  })

  test('are not reset by a successful login, which does not count either', async () => {
    const { login } = await openFixture({ addressOf, throttle: { freePerAddress: 3 } })
    const headers = { 'x-from': '192.0.2.1' }
    await times(2, () => login(nobody(), 'x', headers))
    expect(await times(9, () => login('ann', 'right', headers))).toEqual(Array(9).fill(200))
    expect(await times(2, () => login(nobody(), 'x', headers))).toEqual([401, 429])
  })

  test('expire after an hour without a failure', async () => {
    const { login, clock } = await openFixture({ addressOf, throttle: { freePerAddress: 2 } })
    const fail = () => login(nobody(), 'x', { 'x-from': '192.0.2.1' })
    await times(2, fail)
    clock.now += 3_599_999
    expect(await times(2, fail)).toEqual([401, 429])
    clock.now += 3_600_000
    expect(await times(3, fail)).toEqual([401, 401, 429])
  })
})

describe('concurrent logins', () => {
  test('get no further than sequential ones, for a name', async () => {
    const { login, checked } = await openFixture()
    const replies = await Promise.all(Array.from({ length: 50 }, () => login('ann', 'wrong')))
    expect(checked).toHaveLength(5)
    // 8 run at once, 32 wait, and the others are rejected before the store is asked.
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(35)
    expect(replies.filter(({ status }) => status === 503)).toHaveLength(10)
  })

  test('get no further than sequential ones, for an address', async () => {
    const { login, checked } = await openFixture({ addressOf: () => '192.0.2.1' })
    await Promise.all(Array.from({ length: 50 }, () => login(nobody(), 'wrong')))
    expect(checked).toHaveLength(20)
  })

  test('in two instances on one store get no further than in one', async () => {
    const one = await openFixture()
    const other = await openFixture({ store: one.store })
    await Promise.all(Array.from({ length: 50 }, (_, nth) => (nth % 2 ? one : other).login('ann', 'wrong')))
    expect(one.checked.length + other.checked.length).toBe(5)
  })
})

describe('failed logins from one network', () => {
  const at = (address: string) => ({ 'x-from': address })

  test('of IPv6 are blocked, whatever addresses they come from: /64, /56 and /48', async () => {
    for (const [bits, max, address] of [
      [64, 20, (nth: number) => `2001:db8:1:2::${nth.toString(16)}`],
      [56, 80, (nth: number) => `2001:db8:1:${(nth % 256).toString(16)}::1`],
      [48, 320, (nth: number) => `2001:db8:1:${((nth * 256) % 65_536).toString(16)}::1`],
    ] as const) {
      const { login, checked } = await openFixture({ addressOf })
      for (let nth = 0; nth < max + 40; nth++) await login(nobody(), 'x', at(address(nth)))
      expect([bits, checked.length]).toEqual([bits, max])
      expect((await login('ann', 'right', at(address(5_000)))).status).toBe(429)
      expect((await login('ann', 'right', at('2001:db8:2::1'))).status).toBe(200)
    }
  })

  test('of an IPv4 /24 are blocked after sixteen times the failures of one address', async () => {
    const { login, checked } = await openFixture({ addressOf })
    for (let nth = 0; nth < 400; nth++) await login(nobody(), 'x', at(`192.0.2.${nth % 256}`))
    expect(checked).toHaveLength(320)
    expect((await login('ann', 'right', at('192.0.3.1'))).status).toBe(200)
  })
})
