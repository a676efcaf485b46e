import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import {
  type ConsoleTokenStore,
  type ConsoleTokensOptions,
  consoleTokens,
} from '../../plugins/api-token/console-tokens.ts'
import { type Audit, apiToken, createToken, hashToken } from '../../plugins/api-token/index.ts'
import { identifyBySession, webSession } from '../../plugins/web-session/index.ts'
import { readRevision } from '../../src/store/revision.ts'
import { ask, openHouse, publicUrl, refusal, sameOrigin } from '../web-session/fixture.ts'

const path = '/api/tokens'

/** Sessions, tokens and what they lead to, in one app; ann and bob, both logged in. */
const open = async (options: Partial<ConsoleTokensOptions> = {}) => {
  const house = await openHouse()
  const bob = await house.addUser('bob', 'right')
  const tokens = { ...house.store, revision: () => readRevision(house.database) }
  const app = new Elysia()
    .use(webSession(house.options))
    .use(
      new Elysia({ prefix: path }).use(
        consoleTokens({
          store: house.store,
          identify: identifyBySession(house.options),
          publicUrl,
          now: house.options.now,
          ...options,
        }),
      ),
    )
    .use(apiToken({ store: tokens, now: house.options.now }))
    .get('/asset', ({ identity }) => identity.user, { token: true })
  const as = async (name: string) => ({ cookie: (await house.login(name)).cookie, ...sameOrigin })
  return { ...house, app, bob, asAnn: await as('ann'), asBob: await as('bob') }
}

describe('a token made in the console', () => {
  test('is shown once, works at once, and only its hash is kept', async () => {
    const { app, asAnn, ann, store, clock } = await open()
    const made = await ask(app, 'POST', path, asAnn, { label: '  laptop ', expires_at: '2030-01-31T10:00:00+08:00' })
    const { token, ...rest } = made.json.token
    expect(made.status).toBe(200)
    expect(made.headers.get('cache-control')).toBe('no-store')
    expect(token).toMatch(/^sk-[0-9A-Za-z]{43}$/)
    expect(rest).toEqual({
      id: rest.id,
      label: 'laptop',
      start: token.slice(0, 9),
      created_at: new Date(clock.now).toISOString(),
      expires_at: '2030-01-31T02:00:00.000Z',
    })
    expect((await ask(app, 'GET', '/asset', { authorization: `Bearer ${token}` })).json).toBe(ann)
    expect(await store.ownerOf(hashToken(token))).toMatchObject({ user: ann, token: rest.id })
    const listed = await ask(app, 'GET', path, asAnn)
    expect([listed.status, listed.json]).toEqual([200, { success: true, tokens: [rest] }])
    expect(listed.headers.get('cache-control')).toBe('no-store')
  })

  test('needs neither label nor end, nor even a body', async () => {
    const { app, asAnn } = await open()
    for (const body of [
      undefined,
      '{}',
      '{"label":null,"expires_at":null}',
      '{"label":"","other":1}',
      '{"label":"  "}',
    ]) {
      const { status, json } = await ask(app, 'POST', path, asAnn, body)
      expect([body, status, json.token.label, json.token.expires_at]).toEqual([body, 200, null, null])
    }
  })

  test('stops at its end, and is listed no longer', async () => {
    const { app, asAnn, clock } = await open()
    const end = new Date(clock.now + 60_000).toISOString()
    const { token } = (await ask(app, 'POST', path, asAnn, { expires_at: end })).json.token
    const authorization = `Bearer ${token}`
    expect((await ask(app, 'GET', '/asset', { authorization })).status).toBe(200)
    clock.now += 60_000
    expect((await ask(app, 'GET', '/asset', { authorization })).status).toBe(401)
    expect((await ask(app, 'GET', path, asAnn)).json.tokens).toEqual([])
  })

  for (const [body, message] of [
    ['{', 'request body is not valid JSON'],
    ['[]', 'request body must be a JSON object'],
    [{ label: 5 }, 'label must be a string without control characters'],
    [{ label: 'a\nb' }, 'label must be a string without control characters'],
    [{ label: 'a\0b' }, 'label must be a string without control characters'],
    ['{"label":"\\ud800"}', 'label must be a string without control characters'],
    [{ label: '𝄞'.repeat(129) }, 'label must be at most 128 characters'],
    [{ expires_at: 'tomorrow' }, 'expires_at must be a date and time in ISO 8601 with a time zone'],
    [{ expires_at: '' }, 'expires_at must be a date and time in ISO 8601 with a time zone'],
    [{ expires_at: '2030-01-31' }, 'expires_at must be a date and time in ISO 8601 with a time zone'],
    [{ expires_at: '2030-01-31T10:00' }, 'expires_at must be a date and time in ISO 8601 with a time zone'],
    [{ expires_at: '2030-02-30T10:00Z' }, 'expires_at must be a date and time in ISO 8601 with a time zone'],
    [{ expires_at: '2030-13-01T10:00Z' }, 'expires_at must be a date and time in ISO 8601 with a time zone'],
    [{ expires_at: '2030-01-01T25:00Z' }, 'expires_at must be a date and time in ISO 8601 with a time zone'],
    [{ expires_at: 1_900_000_000 }, 'expires_at must be a date and time in ISO 8601 with a time zone'],
    [{ expires_at: '2020-01-31T10:00Z' }, 'expires_at must be in the future'],
  ] as const) {
    test(`is refused with ${JSON.stringify(body).slice(0, 40)}`, async () => {
      const { app, asAnn } = await open()
      const { status, json } = await ask(app, 'POST', path, asAnn, body)
      expect([status, json]).toEqual([400, refusal(message)])
      expect((await ask(app, 'GET', path, asAnn)).json.tokens).toEqual([])
    })
  }

  test('is refused as another content type, and beyond 8 KiB', async () => {
    const { app, asAnn } = await open()
    expect((await ask(app, 'POST', path, { ...asAnn, 'content-type': 'text/plain' }, '{}')).status).toBe(415)
    expect((await ask(app, 'POST', path, asAnn, { label: 'x'.repeat(9_000) })).status).toBe(413)
  })

  test('may have a label of 128 characters', async () => {
    const { app, asAnn } = await open()
    const label = '𝄞'.repeat(128)
    expect((await ask(app, 'POST', path, asAnn, { label })).json.token.label).toBe(label)
  })
})

describe('one has so many tokens', () => {
  test('as are allowed, of those that work; another user has as many', async () => {
    const { app, asAnn, asBob, clock } = await open({ mostTokens: 3 })
    const create = (as: typeof asAnn, body: object = {}) => ask(app, 'POST', path, as, body)
    const [one, two] = [await create(asAnn), await create(asAnn, { expires_at: new Date(clock.now + 5).toISOString() })]
    expect([one.status, two.status, (await create(asAnn)).status]).toEqual([200, 200, 200])
    const fourth = await create(asAnn)
    expect([fourth.status, fourth.json]).toEqual([409, refusal('there are 3 tokens already; revoke one first')])
    expect((await create(asBob)).status).toBe(200)
    clock.now += 5
    expect([(await create(asAnn)).status, (await create(asAnn)).status]).toEqual([200, 409])
    await ask(app, 'DELETE', `${path}/${one.json.token.id}`, asAnn)
    expect([(await create(asAnn)).status, (await create(asAnn)).status]).toEqual([200, 409])
  })

  test('that is a hundred, unless it is said', async () => {
    const { app, asAnn, ann, store } = await open()
    for (let nth = 0; nth < 99; nth++) await store.addToken({ user: ann, hash: `${nth}`, start: 'sk-', createdAt: 1 })
    expect((await ask(app, 'POST', path, asAnn)).status).toBe(200)
    expect((await ask(app, 'POST', path, asAnn)).status).toBe(409)
  })

  test('and never more, however many are made at once', async () => {
    const house = await openHouse()
    // Every question waits a turn, as with a database elsewhere.
    const slow: ConsoleTokenStore = {
      addToken: async (token, most) => {
        await Bun.sleep(1)
        return house.store.addToken(token, most)
      },
      listTokens: async (user, now) => {
        await Bun.sleep(1)
        return house.store.listTokens(user, now)
      },
      revokeToken: house.store.revokeToken,
    }
    const { app, asAnn, ann, store } = await open({ mostTokens: 3, store: slow, identify: () => ({ user: house.ann }) })
    expect(ann).not.toBe(house.ann)
    expect(await store.listTokens()).toEqual([])
    await Promise.all(Array.from({ length: 20 }, () => ask(app, 'POST', path, asAnn)))
    const kept = (await house.store.listTokens(house.ann)).filter(({ revokedAt }) => revokedAt === undefined)
    expect(kept).toHaveLength(3)
  })
})

describe('whoever makes tokens and revokes them, over and over', () => {
  test('is told after ten times as many as may work to come again later', async () => {
    const { app, asAnn } = await open({ mostTokens: 2 })
    const statuses: number[] = []
    let last: Awaited<ReturnType<typeof ask>> | undefined
    for (let nth = 0; nth < 22; nth++) {
      last = await ask(app, 'POST', path, asAnn)
      statuses.push(last.status)
      if (last.status === 200) await ask(app, 'DELETE', `${path}/${last.json.token.id}`, asAnn)
    }
    expect(statuses).toEqual([...Array(20).fill(200), 429, 429])
    expect(last?.json).toEqual(refusal('too many tokens were made within a day; try again later'))
    expect(last?.headers.get('retry-after')).toBe('3600')
  })

  test('is in the audit trail once for each: not for every time that a token is revoked again', async () => {
    const told: string[] = []
    const audit: Audit = { note() {}, record: async ({ action }) => void told.push(action) }
    const { app, asAnn, clock } = await open({ audit })
    const { id } = (await ask(app, 'POST', path, asAnn)).json.token
    for (let times = 0; times < 5; times++) {
      clock.now += 1
      expect((await ask(app, 'DELETE', `${path}/${id}`, asAnn)).status).toBe(200)
    }
    expect(told).toEqual(['token.create', 'token.revoke'])
  })
})

describe('tokens are one’s own', () => {
  test('nobody sees another’s', async () => {
    const { app, asAnn, asBob } = await open()
    await ask(app, 'POST', path, asAnn, { label: 'mine' })
    expect((await ask(app, 'GET', path, asBob)).json).toEqual({ success: true, tokens: [] })
  })

  test('a revoked one is gone, and may be revoked again', async () => {
    const { app, asAnn } = await open()
    const { id, token } = (await ask(app, 'POST', path, asAnn)).json.token
    for (let times = 0; times < 2; times++) {
      const { status, json, headers } = await ask(app, 'DELETE', `${path}/${id}`, asAnn)
      expect([status, json, headers.get('cache-control')]).toEqual([200, { success: true }, 'no-store'])
    }
    expect((await ask(app, 'GET', '/asset', { authorization: `Bearer ${token}` })).status).toBe(401)
    expect((await ask(app, 'GET', path, asAnn)).json.tokens).toEqual([])
  })

  test('a foreign one, one that never was and what is no id cannot be told apart, and the foreign one stays', async () => {
    const { app, asAnn, asBob } = await open()
    const { id, token } = (await ask(app, 'POST', path, asBob)).json.token
    const ids = [id, crypto.randomUUID(), 'x', '%00', '%ff', '..%2f..', `${id}%20`, 'a'.repeat(300), "'--"]
    const answers = await Promise.all(
      ids.map(async (each) => {
        const { status, json, headers } = await ask(app, 'DELETE', `${path}/${each}`, asAnn)
        return JSON.stringify([status, json, [...headers].sort()])
      }),
    )
    expect(new Set(answers).size).toBe(1)
    expect(answers[0]).toStartWith(`[404,${JSON.stringify(refusal('token not found'))}`)
    expect((await ask(app, 'GET', '/asset', { authorization: `Bearer ${token}` })).status).toBe(200)
  })
})

describe('only a session opens these routes', () => {
  const routes = [
    ['GET', path],
    ['POST', path],
    ['DELETE', `${path}/some-id`],
    ['GET', '/api/session'],
    ['DELETE', '/api/session'],
  ] as const

  for (const [method, route] of routes) {
    test(`${method} ${route} takes no token, and nothing else`, async () => {
      const { app, asAnn } = await open()
      const { token } = (await ask(app, 'POST', path, asAnn)).json.token
      const { cookie } = asAnn
      for (const headers of [
        { authorization: `Bearer ${token}` },
        { authorization: `Bearer ${cookie.slice('session='.length)}` },
        { cookie: `session=${token}` },
        { authorization: `Basic ${btoa('ann:right')}` },
        {},
      ] as Record<string, string>[]) {
        for (const origin of [sameOrigin, {}] as Record<string, string>[]) {
          const { status, json } = await ask(app, method, route, { ...headers, ...origin })
          expect([status, json]).toEqual([401, refusal('not authenticated')])
        }
      }
      expect((await ask(app, 'GET', path, asAnn)).json.tokens).toHaveLength(1)
    })
  }

  test('and it opens none of those that a token opens', async () => {
    const { app, asAnn } = await open()
    const [, value = ''] = asAnn.cookie.split('session=')
    for (const headers of [asAnn, { authorization: `Bearer ${value}` }, { authorization: `Bearer sk-${value}` }]) {
      const { status, json } = await ask(app, 'GET', '/asset', headers)
      expect([status, json]).toEqual([401, refusal('not authenticated')])
    }
  })

  test('and it must come from a page of the public address to change something', async () => {
    const { app, asAnn } = await open()
    const { id } = (await ask(app, 'POST', path, asAnn)).json.token
    const { cookie } = asAnn
    for (const headers of [{}, { origin: 'https://evil.test' }, { 'sec-fetch-site': 'same-site' }] as Record<
      string,
      string
    >[]) {
      for (const [method, route] of [
        ['POST', path],
        ['DELETE', `${path}/${id}`],
      ] as const) {
        const { status, json } = await ask(app, method, route, { cookie, ...headers })
        expect([status, json]).toEqual([403, refusal('request comes from a foreign origin')])
      }
    }
    const listed = await ask(app, 'GET', path, { cookie })
    expect(listed.json.tokens).toHaveLength(1)
    expect((await ask(app, 'DELETE', `${path}/${id}`, { cookie, 'sec-fetch-site': 'same-origin' })).status).toBe(200)
  })

  test('and every other method and path is refused in the same shape', async () => {
    const { app, asAnn } = await open({ segment: 'video' })
    const refused = (message: string) => ({ success: false, error: { message, type: 'video_proxy_error' } })
    for (const [method, route, status, message] of [
      ['PUT', path, 405, 'method not allowed'],
      ['DELETE', path, 405, 'method not allowed'],
      ['GET', `${path}/x`, 405, 'method not allowed'],
      ['GET', `${path}/x/y`, 404, 'not found'],
      ['POST', path, 403, 'request comes from a foreign origin'],
    ] as const) {
      const reply = await ask(app, method, route, { cookie: asAnn.cookie })
      expect([method, route, reply.status, reply.json]).toEqual([method, route, status, refused(message)])
      expect(reply.headers.get('cache-control')).toBe('no-store')
    }
  })
})

describe('beside others', () => {
  test('two in one app know their own tokens, and what is around them stays as it is', async () => {
    const [one, two] = [await openHouse(), await openHouse()]
    const part = (prefix: string, house: typeof one) =>
      new Elysia({ prefix }).use(
        consoleTokens({ store: house.store, identify: () => ({ user: house.ann }), publicUrl }),
      )
    const deep = new Elysia({ prefix: '/deep' }).use(part('/two', two))
    const app = new Elysia()
      .use(part('/one', one))
      .use(deep)
      .get('/open', () => 'open')
      .get('/broken', () => {
        throw new Error('mine')
      })
    await ask(app, 'POST', '/one', sameOrigin, { label: 'first' })
    await ask(app, 'POST', '/deep/two', sameOrigin, { label: 'second' })
    const labels = async (route: string) =>
      (await ask(app, 'GET', route)).json.tokens.map(({ label }: { label: string }) => label)
    expect([await labels('/one'), await labels('/deep/two')]).toEqual([['first'], ['second']])
    expect((await ask(app, 'PUT', '/deep/two')).status).toBe(405)
    expect((await ask(app, 'GET', '/open')).json).toBe('open')
    expect((await ask(app, 'GET', '/broken')).json).toBe('mine')
  })

  test('a store that cannot be asked is a 500 that keeps its reasons', async () => {
    const down = () => Promise.reject(new Error('secret database'))
    for (const broken of ['listTokens', 'addToken', 'revokeToken'] as const) {
      const { store } = await openHouse()
      const { app, asAnn } = await open({ store: { ...store, [broken]: down }, identify: () => ({ user: 'nobody' }) })
      const [method, route] = broken === 'revokeToken' ? (['DELETE', `${path}/x`] as const) : (['POST', path] as const)
      const { status, json } = await ask(app, method, route, asAnn)
      expect([broken, status, json]).toEqual([broken, 500, refusal('tokens could not be asked for')])
    }
  })
})

test('a token that nobody made opens nothing', async () => {
  const { app } = await open()
  expect((await ask(app, 'GET', '/asset', { authorization: `Bearer ${createToken()}` })).status).toBe(401)
})
