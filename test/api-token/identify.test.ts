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
