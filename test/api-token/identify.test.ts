import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import {
  apiToken,
  createToken,
  hashToken,
  identifyByToken,
  RevisionClock,
  type TokenOwner,
  type TokenStore,
} from 'sluice/api-token'
import { systemClock } from '../../plugins/shared/clock.ts'

/** A token store in memory, and a clock for the cache and for the expiry of tokens. */
const openFixture = () => {
  let now = 1_000_000
  let revision = 0
  let down = false
  const owners = new Map<string, TokenOwner>()
  const lookups: string[] = []
  const store: TokenStore = {
    async ownerOf(hash) {
      lookups.push(hash)
      if (down) throw new Error('secret database')
      return owners.get(hash)
    },
    async revision() {
      if (down) throw new Error('secret database')
      return revision
    },
  }
  const clock = { ...systemClock, now: () => now }
  const options = { store, clock, revisionClock: new RevisionClock(() => store.revision(), { clock }) }
  return {
    options,
    lookups,
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
    change(token: string, owner: Partial<TokenOwner>) {
      const before = owners.get(hashToken(token))
      if (before) owners.set(hashToken(token), { ...before, ...owner })
      revision++
    },
    /** Adds a token that has been tried before. `raisesRevision`: whether the store raises its revision. */
    activate(token: string, raisesRevision: boolean) {
      owners.set(hashToken(token), { user: 'ann', token: 'token-2' })
      if (raisesRevision) revision++
    },
    fail() {
      down = true
    },
  }
}

const requestWith = (authorization?: string, more: Record<string, string> = {}) =>
  new Request('http://localhost/', { headers: { ...(authorization !== undefined && { authorization }), ...more } })

describe('a known token', () => {
  test('identifies the caller by its hash, with one store lookup', async () => {
    const { options, issue, lookups } = openFixture()
    const token = issue()
    const identify = identifyByToken(options)
    for (let use = 0; use < 10; use++)
      expect(await identify(requestWith(`Bearer ${token}`))).toMatchObject({ user: 'ann', token: 'token-1' })
    expect(lookups).toEqual([hashToken(token)])
  })

  test('stops working within a second after it is revoked', async () => {
    const { options, issue, revoke, pass } = openFixture()
    const token = issue()
    const identify = identifyByToken(options)
    await identify(requestWith(`Bearer ${token}`))
    revoke(token)
    pass(1000)
    expect(await identify(requestWith(`Bearer ${token}`))).toBeUndefined()
  })

  test('stops working when it expires, also when it is cached', async () => {
    const { options, issue, pass } = openFixture()
    const token = issue({ expiresAt: 1_000_100 })
    const identify = identifyByToken(options)
    pass(99)
    expect(await identify(requestWith(`Bearer ${token}`))).toMatchObject({ user: 'ann' })
    pass(1)
    expect(await identify(requestWith(`Bearer ${token}`))).toBeUndefined()
  })

  test('must be well formed: otherwise there is no store lookup', async () => {
    const { options, lookups } = openFixture()
    const identify = identifyByToken(options)
    for (const header of ['', 'Bearer', 'Bearer sk-x', 'Basic sk-aaaaaaaaaaaa'])
      expect(await identify(requestWith(header))).toBeUndefined()
    expect(await identify(requestWith(undefined, { cookie: 'token=sk-aaaaaaaaaa' }))).toBeUndefined()
    expect(lookups).toEqual([])
  })
})

describe('the streams of a token', () => {
  const ended = async (before: Partial<TokenOwner>, after: Partial<TokenOwner>): Promise<boolean> => {
    const { options, issue, change, pass } = openFixture()
    const token = issue(before)
    const found = await identifyByToken({ ...options, clock: { ...options.clock, at: () => () => {} } })(
      requestWith(`Bearer ${token}`),
    )
    let end = false
    found?.whenRevoked?.(() => {
      end = true
    })
    change(token, after)
    pass(1_000)
    await options.revisionClock.check()
    // The check of the watch runs when the clock has seen the change.
    await new Promise((resolve) => setImmediate(resolve))
    return end
  }

  test('end when it may do less', async () => {
    for (const [before, after] of [
      [{ scopes: ['media', 'text'] }, { scopes: ['text'] }],
      [{}, { scopes: ['media', 'text', 'video'] }],
      [{ models: ['a', 'b'] }, { models: ['a'] }],
      [{ models: ['a*'] }, { models: ['ab*'] }],
      [{}, { models: ['a'] }],
    ] as const)
      expect([before, after, await ended(before, after)]).toEqual([before, after, true])
  })

  test('go on when it may do as much or more', async () => {
    for (const [before, after] of [
      [{ scopes: ['text'] }, { scopes: ['media', 'text'] }],
      [
        { scopes: ['text'], models: ['a'] },
        { scopes: ['text', 'read'], models: ['b', 'a'] },
      ],
      [{ models: ['ab', 'a*'] }, { models: ['a*'] }],
      [{ scopes: ['text'] }, { scopes: undefined }],
      [{ models: ['a'] }, { models: undefined }],
    ] as const)
      expect([before, after, await ended(before, after)]).toEqual([before, after, false])
  })
})

describe('an unknown token', () => {
  test('is cached as unknown: it is rejected at once, with a store lookup only from time to time', async () => {
    const { options, lookups, pass } = openFixture()
    const identify = identifyByToken(options)
    const request = requestWith(`Bearer ${createToken()}`)
    expect(await identify(request)).toBeUndefined()
    for (let use = 0; use < 100; use++) expect(identify(request)).toBeUndefined()
    expect(lookups.length).toBe(1)
    for (let ms = 0; ms < 60_000; ms += 100) {
      pass(100)
      await identify(request)
    }
    expect(lookups.length).toBeGreaterThanOrEqual(30)
    expect(lookups.length).toBeLessThanOrEqual(61)
  })

  test('works once the revision rises after its creation, or within two seconds without a new revision', async () => {
    for (const [raisesRevision, within] of [
      [true, 900],
      [false, 2_000],
    ] as const) {
      for (let waited = 0; waited < 2_000; waited += 130) {
        const { options, activate, pass } = openFixture()
        const identify = identifyByToken(options)
        const token = createToken()
        await identify(requestWith(`Bearer ${createToken()}`))
        pass(waited)
        expect(await identify(requestWith(`Bearer ${token}`))).toBeUndefined()
        activate(token, raisesRevision)
        pass(within)
        expect(await identify(requestWith(`Bearer ${token}`))).toMatchObject({ user: 'ann' })
      }
    }
  })

  test('that is created during its lookup is rejected once, and then works', async () => {
    const { options, activate, pass } = openFixture()
    const { store } = options
    const response = Promise.withResolvers<undefined>()
    let late = true
    const slow = { ...store, ownerOf: (hash: string) => (late ? response.promise : store.ownerOf(hash)) }
    const identify = identifyByToken({ ...options, store: slow })
    const token = createToken()
    const refused = identify(requestWith(`Bearer ${token}`))
    await Bun.sleep(0)
    late = false
    activate(token, true)
    pass(900)
    await identify(requestWith(`Bearer ${createToken()}`))
    response.resolve(undefined)
    expect(await refused).toBeUndefined()
    expect(await identify(requestWith(`Bearer ${token}`))).toMatchObject({ user: 'ann' })
  })

  test('never evicts a known token from the cache', async () => {
    const { options, issue, lookups } = openFixture()
    const identify = identifyByToken(options)
    const token = issue()
    await identify(requestWith(`Bearer ${token}`))
    for (let nth = 0; nth < 25_000; nth++) await identify(requestWith(`Bearer sk-made-up-${nth}`))
    lookups.length = 0
    expect(identify(requestWith(`Bearer ${token}`))).toMatchObject({ user: 'ann' })
    // The cache has evicted the oldest unknown tokens and keeps the newest.
    await identify(requestWith('Bearer sk-made-up-24999'))
    expect(lookups).toEqual([])
    await identify(requestWith('Bearer sk-made-up-0'))
    expect(lookups).toEqual([hashToken('sk-made-up-0')])
  })

  test('is not cached when the lookup fails', async () => {
    const { options, issue } = openFixture()
    const { store } = options
    let down = true
    const failing = {
      ...store,
      ownerOf: (hash: string) => (down ? Promise.reject(new Error('down')) : store.ownerOf(hash)),
    }
    const identify = identifyByToken({ ...options, store: failing })
    const request = requestWith(`Bearer ${issue()}`)
    await Promise.try(() => identify(request)).catch(() => {})
    down = false
    expect(await identify(request)).toMatchObject({ user: 'ann' })
  })
})

describe('the error response', () => {
  test('is the same for a missing, malformed, unknown, revoked and expired token', async () => {
    const { options, issue, revoke, pass } = openFixture()
    const [revoked, expired] = [issue(), issue({ expiresAt: 1_000_001 })]
    const app = new Elysia().use(apiToken(options)).get('/', ({ identity }) => identity.user, { token: true })
    revoke(revoked)
    pass(1000)
    const responses = await Promise.all(
      [undefined, 'Bearer x', `Bearer ${createToken()}`, `Bearer ${revoked}`, `Bearer ${expired}`].map(
        async (header) => {
          const response = await app.handle(requestWith(header))
          return JSON.stringify([response.status, [...response.headers].sort(), await response.text()])
        },
      ),
    )
    expect(new Set(responses).size).toBe(1)
    expect(responses[0]).toStartWith('[401,')
    expect(responses[0]).toContain('not authenticated')
  })

  test('is a 500 without details when the store fails', async () => {
    const { options, issue, fail } = openFixture()
    const token = issue()
    fail()
    const app = new Elysia().use(apiToken(options)).get('/', ({ identity }) => identity.user, { token: true })
    const response = await app.handle(requestWith(`Bearer ${token}`))
    expect([response.status, await response.json()]).toEqual([
      500,
      { success: false, error: { message: 'token could not be checked', type: 'request_error' } },
    ])
  })
})

test('a handler may return the identity: the response has the user and the id of the token', async () => {
  const { options, issue } = openFixture()
  const authorization = `Bearer ${issue({ expiresAt: 2_000_000 })}`
  const app = new Elysia().use(apiToken(options)).get('/', ({ identity }) => identity, { token: true })
  const response = await app.handle(requestWith(authorization))
  expect(Object.keys((await response.json()) as object)).toEqual(['user', 'token'])
})
