import { expect, test } from 'bun:test'
import { nobody, openFixture } from './fixture.ts'

const addressOf = (request: Request) => request.headers.get('x-from') ?? undefined
const at = (address: string) => ({ 'x-from': address })
const minuteMs = 60_000

test('an address that fails all day long blocks the name for its own network only', async () => {
  const { login, clock } = await openFixture({ addressOf })
  const elsewhere: number[] = []
  const inNetwork: number[] = []
  for (let minute = 0; minute < 3 * 1_440; minute += 5) {
    clock.now += 5 * minuteMs
    for (let nth = 0; nth < 3; nth++) await login('ann', 'wrong', at('192.0.2.1'))
    if (minute % 60 > 0) continue
    elsewhere.push((await login('ann', 'right', at(`198.51.100.${minute / 60}`))).status)
    inNetwork.push((await login('ann', 'right', at('192.0.2.2'))).status)
  }
  expect(elsewhere).toEqual(Array(72).fill(200))
  expect(inNetwork).toContain(429)
})

test('guesses on one name from any number of networks are limited for all of them together', async () => {
  const { login, clock, checked } = await openFixture({ addressOf })
  const guessesADay: number[] = []
  let networks = 0
  for (let day = 0; day < 3; day++) {
    for (let minute = 0; minute < 1_440; minute += 5) {
      clock.now += 5 * minuteMs
      // New networks until one is rejected, then networks that have used up their own failures.
      while ((await login('ann', 'wrong', at(`10.${networks >> 8}.${networks & 255}.1`))).status === 401) networks++
      for (let nth = 0; nth < 3; nth++) await login('ann', 'wrong', at('192.0.2.1'))
    }
    guessesADay.push(checked.length)
    checked.length = 0
  }
  expect(guessesADay).toEqual([251, 192, 192])
})

test('logins beyond those that wait are rejected before the store is asked, and no count remains', async () => {
  const fixture = await openFixture()
  const calls: string[] = []
  const store = new Proxy(fixture.options.store, {
    get: (target, key) => {
      const name = String(key) as keyof typeof target
      const method = target[name] as (...parameters: unknown[]) => unknown
      return (...parameters: unknown[]) => {
        calls.push(name)
        return method(...parameters)
      }
    },
  })
  const release = Promise.withResolvers<void>()
  const { login } = await openFixture({ store, addressOf, verify: () => release.promise.then(() => false) })
  const replies = Array.from({ length: 200 }, (_, nth) => login(nobody(), 'x', at(`10.0.${nth}.1`)))
  const rejected = await Promise.all(replies.slice(40))
  expect(new Set(rejected.map(({ status, json }) => `${status} ${json.error.message}`))).toEqual(
    new Set(['503 too many logins are in progress']),
  )
  expect(calls.filter((name) => name === 'takeAttempt').length).toBeLessThanOrEqual(8)
  expect(calls).not.toContain('revertAttempt')
  release.resolve()
  expect((await Promise.all(replies.slice(0, 40))).map(({ status }) => status)).toEqual(Array(40).fill(401))
})
