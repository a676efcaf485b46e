import { describe, expect, test } from 'bun:test'
import { sql } from '../../src/store/database.ts'
import { nobody, openHouse, refusal } from './fixture.ts'

const from = (request: Request) => request.headers.get('x-from') ?? undefined

/** Statuses of so many logins in a row. */
const times = async (count: number, login: () => Promise<{ status: number }>) => {
  const statuses: number[] = []
  for (let tries = 0; tries < count; tries++) statuses.push((await login()).status)
  return statuses
}

describe('failed logins', () => {
  test('have no consequence five times, then the name is refused, even with the right password, and nothing is hashed', async () => {
    const { login, checked } = await openHouse()
    expect(await times(7, () => login('ann', 'wrong'))).toEqual([401, 401, 401, 401, 401, 429, 429])
    const { status, json, headers } = await login()
    expect([status, json]).toEqual([429, refusal('too many failed logins; try again later')])
    expect(headers.get('retry-after')).toBe('5')
    expect(checked).toHaveLength(5)
  })

  test('cost twice as long each time, up to a quarter of an hour', async () => {
    const { login, clock } = await openHouse()
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

  test('that are refused do not prolong the refusal: a stranger keeps nobody out for longer than one delay', async () => {
    const { login, clock } = await openHouse()
    await times(5, () => login('ann', 'wrong'))
    await times(50, () => login('ann', 'wrong'))
    clock.now += 5_000
    expect((await login()).status).toBe(200)
  })

  test('of one name are no other name’s', async () => {
    const { login, addUser } = await openHouse()
    await addUser('bob', 'right')
    await times(6, () => login('ann', 'wrong'))
    expect((await login('bob')).status).toBe(200)
  })

  test('of a name that nobody has are counted as if somebody had it', async () => {
    const { login, clock } = await openHouse()
    const unknown = nobody()
    const story = async (name: string) => {
      const replies = []
      for (let tries = 0; tries < 8; tries++) replies.push(await login(name, 'wrong'))
      clock.now += 5_000
      replies.push(await login(name, 'wrong'), await login(name, 'wrong'))
      return replies.map(({ status, json, headers }) => JSON.stringify([status, json, [...headers].sort()]))
    }
    expect(await story(unknown)).toEqual(await story('ann'))
  })

  test('are forgotten after a day without one', async () => {
    const { login, clock } = await openHouse()
    await times(5, () => login('ann', 'wrong'))
    clock.now += 86_399_999
    expect(await times(2, () => login('ann', 'wrong'))).toEqual([401, 429])
    clock.now += 86_400_000
    expect(await times(6, () => login('ann', 'wrong'))).toEqual([401, 401, 401, 401, 401, 429])
  })

  test('are forgotten with a right password', async () => {
    const { login } = await openHouse()
    await times(4, () => login('ann', 'wrong'))
    expect((await login()).status).toBe(200)
    expect(await times(6, () => login('ann', 'wrong'))).toEqual([401, 401, 401, 401, 401, 429])
  })

  test('may be free in other numbers', async () => {
    const { login } = await openHouse({ throttle: { freePerName: 1 } })
    expect(await times(2, () => login('ann', 'wrong'))).toEqual([401, 429])
    await expect(openHouse({ throttle: { freePerName: 0 } })).rejects.toThrow('at least one failure has to be free')
    await expect(openHouse({ throttle: { freePerAddress: 0 } })).rejects.toThrow('at least one failure has to be free')
  })

  test('leave no name in the database, however long', async () => {
    const { login, database } = await openHouse()
    await login('my password by mistake', 'wrong')
    await login('x'.repeat(7_000), 'wrong')
    const rows = await database.query<{ key: string }>(sql`select key from login_attempts`)
    expect(rows.map(({ key }) => /^[0-9a-f]{64}$/.test(key))).toEqual([true, true])
  })
})

describe('failed logins from one address', () => {
  test('have no consequence twenty times, whatever the names; then others go on, and that address waits', async () => {
    const { login, checked } = await openHouse({ addressOf: from })
    expect(await times(21, () => login(nobody(), 'x', { 'x-from': '192.0.2.1' }))).toEqual([
      ...Array(20).fill(401),
      429,
    ])
    expect(checked).toHaveLength(20)
    expect((await login('ann', 'right', { 'x-from': '192.0.2.1' })).status).toBe(429)
    expect((await login('ann', 'right', { 'x-from': '192.0.2.2' })).status).toBe(200)
  })

  test('that are refused for the address are not counted for the name', async () => {
    const { login } = await openHouse({ addressOf: from })
    await times(20, () => login(nobody(), 'x', { 'x-from': '192.0.2.1' }))
    await times(10, () => login('ann', 'wrong', { 'x-from': '192.0.2.1' }))
    expect(await times(5, () => login('ann', 'wrong', { 'x-from': '192.0.2.2' }))).toEqual([401, 401, 401, 401, 401])
  })

  test('that are refused for the name are not counted for the address', async () => {
    const { login } = await openHouse({ addressOf: from, throttle: { freePerAddress: 6 } })
    await times(20, () => login('ann', 'wrong', { 'x-from': '192.0.2.1' }))
    expect((await login(nobody(), 'wrong', { 'x-from': '192.0.2.1' })).status).toBe(401)
    expect((await login(nobody(), 'wrong', { 'x-from': '192.0.2.1' })).status).toBe(429)
  })

  test('are not forgotten with a right password, which is not counted itself either', async () => {
    const { login } = await openHouse({ addressOf: from, throttle: { freePerAddress: 3 } })
    const here = { 'x-from': '192.0.2.1' }
    await times(2, () => login(nobody(), 'x', here))
    expect(await times(9, () => login('ann', 'right', here))).toEqual(Array(9).fill(200))
    expect(await times(2, () => login(nobody(), 'x', here))).toEqual([401, 429])
  })

  test('are forgotten after an hour without one', async () => {
    const { login, clock } = await openHouse({ addressOf: from, throttle: { freePerAddress: 2 } })
    const tryOnce = () => login(nobody(), 'x', { 'x-from': '192.0.2.1' })
    await times(2, tryOnce)
    clock.now += 3_599_999
    expect(await times(2, tryOnce)).toEqual([401, 429])
    clock.now += 3_600_000
    expect(await times(3, tryOnce)).toEqual([401, 401, 429])
  })
})

describe('many logins at once', () => {
  test('get no further than as many in a row, for a name', async () => {
    const { login, checked } = await openHouse()
    const replies = await Promise.all(Array.from({ length: 50 }, () => login('ann', 'wrong')))
    expect(checked).toHaveLength(5)
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(45)
  })

  test('get no further than as many in a row, for an address', async () => {
    const { login, checked } = await openHouse({ addressOf: () => '192.0.2.1' })
    await Promise.all(Array.from({ length: 50 }, () => login(nobody(), 'wrong')))
    expect(checked).toHaveLength(20)
  })

  test('by two plugins on one store get no further than with one', async () => {
    const one = await openHouse()
    const other = await openHouse({ store: one.store })
    await Promise.all(Array.from({ length: 50 }, (_, nth) => (nth % 2 ? one : other).login('ann', 'wrong')))
    expect(one.checked.length + other.checked.length).toBe(5)
  })
})

describe('failed logins from one network', () => {
  const at = (address: string) => ({ 'x-from': address })

  test('of IPv6 are stopped, however many addresses of it they come from: 64, 56 and 48 bits', async () => {
    for (const [bits, most, address] of [
      [64, 20, (nth: number) => `2001:db8:1:2::${nth.toString(16)}`],
      [56, 80, (nth: number) => `2001:db8:1:${(nth % 256).toString(16)}::1`],
      [48, 320, (nth: number) => `2001:db8:1:${((nth * 256) % 65_536).toString(16)}::1`],
    ] as const) {
      const { login, checked } = await openHouse({ addressOf: from })
      for (let nth = 0; nth < most + 40; nth++) await login(nobody(), 'x', at(address(nth)))
      expect([bits, checked.length]).toEqual([bits, most])
      expect((await login('ann', 'right', at(address(5_000)))).status).toBe(429)
      expect((await login('ann', 'right', at('2001:db8:2::1'))).status).toBe(200)
    }
  })

  test('of IPv4 are stopped after sixteen addresses’ worth', async () => {
    const { login, checked } = await openHouse({ addressOf: from })
    for (let nth = 0; nth < 400; nth++) await login(nobody(), 'x', at(`192.0.2.${nth % 256}`))
    expect(checked).toHaveLength(320)
    expect((await login('ann', 'right', at('192.0.3.1'))).status).toBe(200)
  })
})
