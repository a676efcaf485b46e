import { describe, expect, test } from 'bun:test'
import { createDevices } from '../../plugins/web-session/devices.ts'
import { hashPassword, verifyPassword } from '../../plugins/web-session/index.ts'
import { openHouse, publicUrl, type Shown } from './fixture.ts'

const deviceOf = ({ headers }: Shown): string => headers.getSetCookie()[1]?.split(';', 1)[0] ?? ''
const contentOf = (cookie: string): string => cookie.slice(cookie.indexOf('=') + 1)

/** Statuses of so many logins in a row. */
const times = async (count: number, login: () => Promise<{ status: number }>) => {
  const statuses: number[] = []
  for (let tries = 0; tries < count; tries++) statuses.push((await login()).status)
  return statuses
}

describe('a browser that somebody has logged in from', () => {
  const from = (request: Request) => request.headers.get('x-from') ?? undefined

  test('lets them in while strangers keep the name shut, and the strangers stay out', async () => {
    const { login, checked } = await openHouse()
    const cookie = deviceOf(await login())
    await times(50, () => login('ann', 'wrong'))
    expect((await login()).status).toBe(429)
    const hashed = checked.length
    expect((await login('ann', 'right', { cookie })).status).toBe(200)
    expect(checked).toHaveLength(hashed + 1)
    // Their success is no reason to begin anew with the others.
    expect((await login()).status).toBe(429)
  })

  test('lets them in from a network that strangers have used up', async () => {
    const { login } = await openHouse({ addressOf: from, throttle: { freePerAddress: 1 } })
    const here = { 'x-from': '192.0.2.1' }
    const cookie = deviceOf(await login('ann', 'right', here))
    await times(9, () => login('nobody', 'wrong', here))
    expect((await login('ann', 'right', here)).status).toBe(429)
    expect((await login('ann', 'right', { ...here, cookie })).status).toBe(200)
  })

  test('lets them in while strangers of sixty networks wait for passwords to be checked', async () => {
    const { login, store } = await openHouse({ addressOf: from, verify: verifyPassword })
    await store.addUser({ name: 'eve', password: await hashPassword('right'), createdAt: 1 })
    const cookie = deviceOf(await login('eve'))
    const strangers = Array.from({ length: 60 }, (_, nth) => login(`n${nth}`, 'wrong', { 'x-from': `10.0.${nth}.1` }))
    await Promise.any(strangers.map(async (stranger) => expect((await stranger).status).toBe(503)))
    const [known, unknown] = await Promise.all([login('eve', 'right', { cookie }), login('eve')])
    expect([known.status, unknown.status]).toEqual([200, 503])
    await Promise.all(strangers)
  })

  test('has a count of its own, and is an unknown one when that is used up', async () => {
    const { login, checked, clock } = await openHouse()
    const cookie = deviceOf(await login())
    checked.length = 0
    const statuses = await times(12, () => login('ann', 'wrong', { cookie }))
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429])
    expect(checked).toHaveLength(10)
    // Whichever of the two opens first says when to come again.
    expect((await login('ann', 'right', { cookie })).headers.get('retry-after')).toBe('5')
    clock.now += 5_000
    expect((await login('ann', 'right', { cookie })).status).toBe(200)
    expect(await times(5, () => login('ann', 'wrong', { cookie }))).toEqual(Array(5).fill(401))
  })

  test('has a new id after each login: who has copied the old one does not use up the count of the new one', async () => {
    const { login } = await openHouse()
    const stolen = deviceOf(await login())
    const cookie = deviceOf(await login('ann', 'right', { cookie: stolen }))
    expect(cookie).not.toBe(stolen)
    await times(30, () => login('ann', 'wrong', { cookie: stolen }))
    expect((await login('ann', 'right', { cookie: stolen })).status).toBe(429)
    expect((await login('ann', 'right', { cookie })).status).toBe(200)
  })

  test('is known for the names that logged in from it, eight at most, and for no other one', async () => {
    const { login, addUser } = await openHouse()
    const people = Array.from({ length: 9 }, (_, nth) => `person ${nth}`)
    for (const name of [...people, 'bob']) await addUser(name, 'right')
    let cookie = ''
    for (const name of people) cookie = deviceOf(await login(name, 'right', { cookie }))
    for (const name of [...people, 'bob']) await times(6, () => login(name, 'wrong'))
    const statuses = []
    for (const name of [...people, 'bob']) statuses.push((await login(name, 'right', { cookie })).status)
    expect(statuses).toEqual([429, ...Array(8).fill(200), 429])
  })

  test('has no such cookie from a login that failed', async () => {
    const { login } = await openHouse()
    expect((await login('ann', 'wrong')).headers.getSetCookie()).toEqual([])
  })
})

describe('the cookie of a browser', () => {
  const given = { secrets: ['new', 'old'], publicUrl } as const
  const ask = (cookie: string) => new Request('http://localhost/', { headers: { cookie } })

  test('stays for a year, out of reach of scripts, and holds no name', async () => {
    const { login, addUser } = await openHouse()
    await addUser('a name like no other', 'right')
    const [, cookie = ''] = (await login('a name like no other')).headers.getSetCookie()
    expect(cookie).toMatch(
      /^session-device=[\w-]{32}\.[A-Za-z0-9+/]{43}; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    )
    expect(Buffer.from(contentOf(cookie), 'base64url').toString('latin1')).not.toContain('a name')
  })

  test('is read with each of the secrets, and beside another one that a neighbour has set', () => {
    const old = createDevices({ ...given, secrets: ['old'] })
    const [cookie = ''] = old.issue(ask(''), 'ann').split(';', 1)
    const id = old.idOf(ask(cookie), 'ann')
    expect(id).toMatch(/^[\w-]{16}$/)
    const devices = createDevices(given)
    expect(devices.idOf(ask(cookie), 'ann')).toBe(id)
    expect(devices.idOf(ask(`session-device=${'x'.repeat(32)}.${'y'.repeat(43)}; ${cookie}`), 'ann')).toBe(id)
    expect(devices.idOf(ask(cookie), 'bob')).toBeUndefined()
    expect(createDevices({ ...given, secrets: ['other'] }).idOf(ask(cookie), 'ann')).toBeUndefined()
  })

  test('is not the session’s, nor the other way round, nor anything that is bent', async () => {
    const { login, whoIs } = await openHouse()
    const reply = await login()
    const device = deviceOf(reply)
    expect((await whoIs(`session=${contentOf(device)}`)).status).toBe(401)
    await times(5, () => login('ann', 'wrong'))
    const [value = '', signature = ''] = contentOf(device).split('.')
    for (const bent of [
      contentOf(reply.cookie),
      `${value}${value}.${signature}`,
      `${value.slice(0, 31)}.${signature}`,
      `${value.slice(16)}${value.slice(0, 16)}.${signature}`,
      `${value}.${signature.slice(0, 42)}${signature.endsWith('A') ? 'B' : 'A'}`,
      value,
      '',
    ]) {
      expect([bent, (await login('ann', 'right', { cookie: `session-device=${bent}` })).status]).toEqual([bent, 429])
    }
    expect((await login('ann', 'right', { cookie: device })).status).toBe(200)
  })
})

test('known and unknown names ask the store the same questions, and hash as often, until they are shut', async () => {
  const asked: string[] = []
  const { options } = await openHouse()
  const watched = Object.entries(options.store).map(([name, method]) => {
    const watch = (...given: unknown[]) => {
      asked.push(name)
      return Reflect.apply(method, options.store, given)
    }
    return [name, watch]
  })
  const store: typeof options.store = Object.fromEntries(watched)
  const { login, checked } = await openHouse({
    store,
    addressOf: (request) => request.headers.get('x-from') ?? undefined,
  })
  const course = async (name: string, address: string) => {
    asked.length = 0
    checked.length = 0
    await times(7, () => login(name, 'wrong', { 'x-from': address }))
    return { asked: [...asked], hashes: checked.length }
  }
  const unknown = await course('nobody', '2001:db8:1::1')
  expect(unknown).toEqual(await course('ann', '2001:db8:2::1'))
  expect([unknown.hashes, unknown.asked.length]).toEqual([5, 12])
})
