import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import {
  apiToken,
  createToken,
  Freshness,
  hashToken,
  identifyByToken,
  type TokenOwner,
  type TokenStore,
} from 'sluice/api-token'

/** A store of tokens in memory, and a clock for memory's age and for expiry. */
const scene = () => {
  let now = 1_000_000
  let revision = 0
  let down = false
  const owners = new Map<string, TokenOwner>()
  const asked: string[] = []
  const store: TokenStore = {
    async ownerOf(hash) {
      asked.push(hash)
      if (down) throw new Error('secret database')
      return owners.get(hash)
    },
    async revision() {
      if (down) throw new Error('secret database')
      return revision
    },
  }
  const clock = () => now
  const options = { store, now: clock, freshness: new Freshness(() => store.revision(), { now: clock }) }
  return {
    options,
    asked,
    issue(owner: Partial<TokenOwner> = {}) {
      const token = createToken()
      owners.set(hashToken(token), { user: 'ann', token: 'token-1', ...owner })
      return token
    },
    revoke(token: string) {
      owners.delete(hashToken(token))
      revision++
    },
    pass(ms: number) {
      now += ms
    },
    /** Makes a token that had been thought of before; whether the revision rises is the store's affair. */
    begin(token: string, telling: boolean) {
      owners.set(hashToken(token), { user: 'ann', token: 'token-2' })
      if (telling) revision++
    },
    fail() {
      down = true
    },
  }
}

const asking = (authorization?: string, more: Record<string, string> = {}) =>
  new Request('http://localhost/', { headers: { ...(authorization !== undefined && { authorization }), ...more } })

describe('a token says who is calling', () => {
  test('by its hash alone, and is asked for once', async () => {
    const { options, issue, asked } = scene()
    const token = issue()
    const identify = identifyByToken(options)
    for (let use = 0; use < 10; use++)
      expect(await identify(asking(`Bearer ${token}`))).toMatchObject({ user: 'ann', token: 'token-1' })
    expect(asked).toEqual([hashToken(token)])
  })

  test('revoked, it stops within a second', async () => {
    const { options, issue, revoke, pass } = scene()
    const token = issue()
    const identify = identifyByToken(options)
    await identify(asking(`Bearer ${token}`))
    revoke(token)
    pass(1000)
    expect(await identify(asking(`Bearer ${token}`))).toBeUndefined()
  })

  test('expired, it stops at that very moment, remembered or not', async () => {
    const { options, issue, pass } = scene()
    const token = issue({ expiresAt: 1_000_100 })
    const identify = identifyByToken(options)
    pass(99)
    expect(await identify(asking(`Bearer ${token}`))).toMatchObject({ user: 'ann' })
    pass(1)
    expect(await identify(asking(`Bearer ${token}`))).toBeUndefined()
  })

  test('a malformed one asks the store nothing', async () => {
    const { options, asked } = scene()
    const identify = identifyByToken(options)
    for (const header of ['', 'Bearer', 'Bearer sk-x', 'Basic sk-aaaaaaaaaaaa'])
      expect(await identify(asking(header))).toBeUndefined()
    expect(await identify(asking(undefined, { cookie: 'token=sk-aaaaaaaaaa' }))).toBeUndefined()
    expect(asked).toEqual([])
  })
})

describe('a token that nobody knows', () => {
  test('is asked for once in a while, however often it comes, and refused at once', async () => {
    const { options, asked, pass } = scene()
    const identify = identifyByToken(options)
    const request = asking(`Bearer ${createToken()}`)
    expect(await identify(request)).toBeUndefined()
    for (let use = 0; use < 100; use++) expect(identify(request)).toBeUndefined()
    expect(asked.length).toBe(1)
    for (let ms = 0; ms < 60_000; ms += 100) {
      pass(100)
      await identify(request)
    }
    expect(asked.length).toBeGreaterThanOrEqual(30)
    expect(asked.length).toBeLessThanOrEqual(61)
  })

  test('works as soon as the revision says that it was made, and where that says nothing within two seconds', async () => {
    for (const [telling, within] of [
      [true, 900],
      [false, 2_000],
    ] as const) {
      for (let waited = 0; waited < 2_000; waited += 130) {
        const { options, begin, pass } = scene()
        const identify = identifyByToken(options)
        const token = createToken()
        await identify(asking(`Bearer ${createToken()}`))
        pass(waited)
        expect(await identify(asking(`Bearer ${token}`))).toBeUndefined()
        begin(token, telling)
        pass(within)
        expect(await identify(asking(`Bearer ${token}`))).toMatchObject({ user: 'ann' })
      }
    }
  })

  test('is refused while it was being looked for, and works when it was made meanwhile', async () => {
    const { options, begin, pass } = scene()
    const { store } = options
    const answer = Promise.withResolvers<undefined>()
    let late = true
    const slow = { ...store, ownerOf: (hash: string) => (late ? answer.promise : store.ownerOf(hash)) }
    const identify = identifyByToken({ ...options, store: slow })
    const token = createToken()
    const refused = identify(asking(`Bearer ${token}`))
    await Bun.sleep(0)
    late = false
    begin(token, true)
    pass(900)
    await identify(asking(`Bearer ${createToken()}`))
    answer.resolve(undefined)
    expect(await refused).toBeUndefined()
    expect(await identify(asking(`Bearer ${token}`))).toMatchObject({ user: 'ann' })
  })

  test('drives out none that works, however many are made up', async () => {
    const { options, issue, asked } = scene()
    const identify = identifyByToken(options)
    const token = issue()
    await identify(asking(`Bearer ${token}`))
    for (let nth = 0; nth < 25_000; nth++) await identify(asking(`Bearer sk-made-up-${nth}`))
    asked.length = 0
    expect(identify(asking(`Bearer ${token}`))).toMatchObject({ user: 'ann' })
    // The oldest of the others have gone, the newest are still there.
    await identify(asking('Bearer sk-made-up-24999'))
    expect(asked).toEqual([])
    await identify(asking('Bearer sk-made-up-0'))
    expect(asked).toEqual([hashToken('sk-made-up-0')])
  })

  test('that cannot be looked for is no unknown one', async () => {
    const { options, issue } = scene()
    const { store } = options
    let down = true
    const failing = {
      ...store,
      ownerOf: (hash: string) => (down ? Promise.reject(new Error('down')) : store.ownerOf(hash)),
    }
    const identify = identifyByToken({ ...options, store: failing })
    const request = asking(`Bearer ${issue()}`)
    await Promise.try(() => identify(request)).catch(() => {})
    down = false
    expect(await identify(request)).toMatchObject({ user: 'ann' })
  })
})

describe('every refusal is the same', () => {
  test('missing, malformed, unknown, revoked and expired cannot be told apart', async () => {
    const { options, issue, revoke, pass } = scene()
    const [revoked, expired] = [issue(), issue({ expiresAt: 1_000_001 })]
    const app = new Elysia().use(apiToken(options)).get('/', ({ identity }) => identity.user, { token: true })
    revoke(revoked)
    pass(1000)
    const answers = await Promise.all(
      [undefined, 'Bearer x', `Bearer ${createToken()}`, `Bearer ${revoked}`, `Bearer ${expired}`].map(
        async (header) => {
          const response = await app.handle(asking(header))
          return JSON.stringify([response.status, [...response.headers].sort(), await response.text()])
        },
      ),
    )
    expect(new Set(answers).size).toBe(1)
    expect(answers[0]).toStartWith('[401,')
    expect(answers[0]).toContain('not authenticated')
  })

  test('a store that cannot be asked is a 500 that keeps its reasons', async () => {
    const { options, issue, fail } = scene()
    const token = issue()
    fail()
    const app = new Elysia().use(apiToken(options)).get('/', ({ identity }) => identity.user, { token: true })
    const response = await app.handle(asking(`Bearer ${token}`))
    expect([response.status, await response.json()]).toEqual([
      500,
      { success: false, error: { message: 'token could not be checked', type: 'media_proxy_error' } },
    ])
  })
})
