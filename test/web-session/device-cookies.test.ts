import { describe, expect, test } from 'bun:test'
import { createDevices } from '../../plugins/web-session/devices.ts'
import { hashPassword, verifyPassword } from '../../plugins/web-session/index.ts'
import { openFixture, publicUrl, type Shown } from './fixture.ts'

const deviceOf = ({ headers }: Shown): string => headers.getSetCookie()[1]?.split(';', 1)[0] ?? ''
const contentOf = (cookie: string): string => cookie.slice(cookie.indexOf('=') + 1)

/** The statuses of `count` sequential logins. */
const times = async (count: number, login: () => Promise<{ status: number }>) => {
  const statuses: number[] = []
  for (let attempt = 0; attempt < count; attempt++) statuses.push((await login()).status)
  return statuses
}

describe('a browser from which a user has logged in', () => {
  const addressOf = (request: Request) => request.headers.get('x-from') ?? undefined

  test('can log in while failed logins of others block the name; the others stay blocked', async () => {
    const { login, checked } = await openFixture()
    const cookie = deviceOf(await login())
    await times(50, () => login('ann', 'wrong'))
    expect((await login()).status).toBe(429)
    const checksBefore = checked.length
    expect((await login('ann', 'right', { cookie })).status).toBe(200)
    expect(checked).toHaveLength(checksBefore + 1)
    // The login from the known device does not reset the counter of the name.
    expect((await login()).status).toBe(429)
  })

  test('can log in from a network whose free failures are used up', async () => {
    const { login } = await openFixture({ addressOf, throttle: { freePerAddress: 1 } })
    const headers = { 'x-from': '192.0.2.1' }
    const cookie = deviceOf(await login('ann', 'right', headers))
    await times(9, () => login('nobody', 'wrong', headers))
    expect((await login('ann', 'right', headers)).status).toBe(429)
    expect((await login('ann', 'right', { ...headers, cookie })).status).toBe(200)
  })

  test('can log in while logins from sixty other networks fill the queue of password checks', async () => {
    const { login, store } = await openFixture({ addressOf, verify: verifyPassword })
    await store.addUser({ name: 'eve', password: await hashPassword('right'), createdAt: 1 })
    const cookie = deviceOf(await login('eve'))
    const others = Array.from({ length: 60 }, (_, nth) => login(`n${nth}`, 'wrong', { 'x-from': `10.0.${nth}.1` }))
    await Promise.any(others.map(async (other) => expect((await other).status).toBe(503)))
    const [known, unknown] = await Promise.all([login('eve', 'right', { cookie }), login('eve')])
    expect([known.status, unknown.status]).toEqual([200, 503])
    await Promise.all(others)
  })

  test('has its own counter, and counts as unknown when that is used up', async () => {
    const { login, checked, clock } = await openFixture()
    const cookie = deviceOf(await login())
    checked.length = 0
    const statuses = await times(12, () => login('ann', 'wrong', { cookie }))
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429])
    expect(checked).toHaveLength(10)
    // Retry-After names the end of the shorter delay.
    expect((await login('ann', 'right', { cookie })).headers.get('retry-after')).toBe('5')
    clock.now += 5_000
    expect((await login('ann', 'right', { cookie })).status).toBe(200)
    expect(await times(5, () => login('ann', 'wrong', { cookie }))).toEqual(Array(5).fill(401))
  })

  test('gets a new id at each login: a copy of the old cookie does not use up the counter of the new one', async () => {
    const { login } = await openFixture()
    const stolen = deviceOf(await login())
    const cookie = deviceOf(await login('ann', 'right', { cookie: stolen }))
    expect(cookie).not.toBe(stolen)
    await times(30, () => login('ann', 'wrong', { cookie: stolen }))
    expect((await login('ann', 'right', { cookie: stolen })).status).toBe(429)
    expect((await login('ann', 'right', { cookie })).status).toBe(200)
  })

  test('is known for the last eight names that logged in from it, and for no other name', async () => {
    const { login, addUser } = await openFixture()
    const names = Array.from({ length: 9 }, (_, nth) => `person ${nth}`)
    for (const name of [...names, 'bob']) await addUser(name, 'right')
    let cookie = ''
    for (const name of names) cookie = deviceOf(await login(name, 'right', { cookie }))
    for (const name of [...names, 'bob']) await times(6, () => login(name, 'wrong'))
    const statuses = []
    for (const name of [...names, 'bob']) statuses.push((await login(name, 'right', { cookie })).status)
    expect(statuses).toEqual([429, ...Array(8).fill(200), 429])
  })

  test('gets no device cookie from a failed login', async () => {
    const { login } = await openFixture()
    expect((await login('ann', 'wrong')).headers.getSetCookie()).toEqual([])
  })
})

describe('the device cookie', () => {
  const options = { secrets: ['new, a secret of the tests', 'old, a secret of the tests'], publicUrl } as const
  const requestWith = (cookie: string) => new Request('http://localhost/', { headers: { cookie } })

  test('lasts a year, is HttpOnly, and contains no name', async () => {
    const { login, addUser } = await openFixture()
    await addUser('a name like no other', 'right')
    const [, cookie = ''] = (await login('a name like no other')).headers.getSetCookie()
    expect(cookie).toMatch(
      /^session-device=[\w-]{32}\.[A-Za-z0-9+/]{43}; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    )
    expect(Buffer.from(contentOf(cookie), 'base64url').toString('latin1')).not.toContain('a name')
  })

  test('verifies with each secret, also beside an invalid cookie of that name', () => {
    const old = createDevices({ ...options, secrets: ['old, a secret of the tests'] })
    const [cookie = ''] = old.issue(requestWith(''), 'ann').split(';', 1)
    const id = old.idOf(requestWith(cookie), 'ann')
    expect(id).toMatch(/^[\w-]{16}$/)
    const devices = createDevices(options)
    expect(devices.idOf(requestWith(cookie), 'ann')).toBe(id)
    const invalid = `session-device=${'x'.repeat(32)}.${'y'.repeat(43)}`
    expect(devices.idOf(requestWith(`${invalid}; ${cookie}`), 'ann')).toBe(id)
    expect(devices.idOf(requestWith(cookie), 'bob')).toBeUndefined()
    expect(
      createDevices({ ...options, secrets: ['other, a secret of the tests'] }).idOf(requestWith(cookie), 'ann'),
    ).toBeUndefined()
  })

  test('is not valid as a session cookie, nor a session cookie as a device cookie, nor a modified value', async () => {
    const { login, whoIs } = await openFixture()
    const reply = await login()
    const device = deviceOf(reply)
    expect((await whoIs(`session=${contentOf(device)}`)).status).toBe(401)
    await times(5, () => login('ann', 'wrong'))
    const [value = '', signature = ''] = contentOf(device).split('.')
    for (const modified of [
      contentOf(reply.cookie),
      `${value}${value}.${signature}`,
      `${value.slice(0, 31)}.${signature}`,
      `${value.slice(16)}${value.slice(0, 16)}.${signature}`,
      `${value}.${signature.slice(0, 42)}${signature.endsWith('A') ? 'B' : 'A'}`,
      value,
      '',
    ]) {
      expect([modified, (await login('ann', 'right', { cookie: `session-device=${modified}` })).status]).toEqual([
        modified,
        429,
      ])
    }
    expect((await login('ann', 'right', { cookie: device })).status).toBe(200)
  })
})

test('an existing and an unknown name cause the same store calls and hashes, until they are blocked', async () => {
  const calls: string[] = []
  const { options } = await openFixture()
  const recorded = Object.entries(options.store).map(([name, method]) => {
    const record = (...parameters: unknown[]) => {
      calls.push(name)
      return Reflect.apply(method, options.store, parameters)
    }
    return [name, record]
  })
  const store: typeof options.store = Object.fromEntries(recorded)
  const { login, checked } = await openFixture({
    store,
    addressOf: (request) => request.headers.get('x-from') ?? undefined,
  })
  const workOf = async (name: string, address: string) => {
    calls.length = 0
    checked.length = 0
    await times(7, () => login(name, 'wrong', { 'x-from': address }))
    return { calls: [...calls], hashes: checked.length }
  }
  const unknown = await workOf('nobody', '2001:db8:1::1')
  expect(unknown).toEqual(await workOf('ann', '2001:db8:2::1'))
  expect([unknown.hashes, unknown.calls.length]).toEqual([6, 15])
})
