import { describe, expect, test } from 'bun:test'
import { cookie as cookiePlugin } from '@elysiajs/cookie'
import fc from 'fast-check'
import { webSession } from '../../plugins/web-session/index.ts'
import { openFixture } from './fixture.ts'

describe('the cookie', () => {
  test('has HttpOnly, SameSite and Secure, and the lifetime of the session', async () => {
    const { login } = await openFixture()
    expect((await login()).headers.getSetCookie()[0]).toMatch(
      /^session=[\w-]{43}\.[A-Za-z0-9+/]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    )
  })

  test('is not Secure when the public address is http; publicUrl may be a function', async () => {
    let url = 'http://127.0.0.1:3000'
    const { login } = await openFixture({ publicUrl: () => url, absoluteMs: 60_000 })
    expect((await login()).headers.getSetCookie()[0]).toEndWith('; Max-Age=60; Path=/; HttpOnly; SameSite=Lax')
    url = 'https://sluice.test'
    expect((await login()).headers.getSetCookie()[0]).toEndWith('; Secure')
  })

  test('has the configured name', async () => {
    const { login, whoIs } = await openFixture({ cookieName: '__Host-other' })
    const { cookie } = await login()
    expect(cookie).toStartWith('__Host-other=')
    expect((await whoIs(cookie)).status).toBe(200)
    expect((await whoIs(cookie.replace('__Host-other', 'session'))).status).toBe(401)
  })

  test('is found among other cookies', async () => {
    const { login, whoIs } = await openFixture()
    const { cookie } = await login()
    expect((await whoIs(`a=b; ${cookie};c="d;=;;"`)).status).toBe(200)
    expect((await whoIs(`xsession=1; ${cookie}; sessions=2; session; =session`)).status).toBe(200)
  })

  test('is rejected when the request has two cookies of its name, in any order', async () => {
    const { login, whoIs } = await openFixture()
    const [one, two] = [(await login()).cookie, (await login()).cookie]
    for (const cookies of [`${one}; ${two}`, `${one}; ${one}`, `${one}; session=x`, `session=; ${one}`]) {
      expect((await whoIs(cookies)).status).toBe(401)
    }
  })

  test('is rejected in any other form', async () => {
    const { login, whoIs } = await openFixture()
    const { cookie } = await login()
    const value = cookie.slice('session='.length)
    for (const form of [
      `session="${value}"`,
      `session= ${value}`,
      `session=${encodeURIComponent(value)}x`,
      `Session=${value}`,
      value,
    ])
      expect([form, (await whoIs(form)).status]).toEqual([form, 401])
  })
})

test('@elysiajs/cookie verifies a cookie of this plugin with the same secret, and only with that', async () => {
  const { login } = await openFixture({ secrets: ['first, a secret of the tests', 'second, a secret of the tests'] })
  const signed = (await login()).cookie.slice('session='.length)
  const [value = ''] = signed.split('.')
  const verify = (secret: string) => {
    // Its declared type names the group of the decorator that it once was.
    const { unsignCookie } = cookiePlugin({ secret }).decorator as unknown as { unsignCookie(signed: string): object }
    return unsignCookie(signed)
  }
  expect(verify('first, a secret of the tests')).toEqual({ valid: true, value })
  expect(verify('second, a secret of the tests')).toMatchObject({ valid: false })
})

describe('secrets rotate', () => {
  test('the first secret signs, and every secret verifies', async () => {
    const old = await openFixture({ secrets: ['old, a secret of the tests'] })
    const { cookie } = await old.login()
    const both = webSession({
      ...old.options,
      secrets: ['new, a secret of the tests', 'middle, a secret of the tests', 'old, a secret of the tests'],
    })
    const fresh = webSession({ ...old.options, secrets: ['new, a secret of the tests'] })
    const who = async (app: { handle(request: Request): Promise<Response> }, sent: string) =>
      (await app.handle(new Request('http://localhost/api/session', { headers: { cookie: sent } }))).status
    expect(await who(both, cookie)).toBe(200)
    expect(await who(fresh, cookie)).toBe(401)
    const renewed = await both.handle(
      new Request('http://localhost/api/session', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"name":"ann","password":"right"}',
      }),
    )
    const [pair = ''] = renewed.headers.get('set-cookie')?.split(';') ?? []
    expect(await who(fresh, pair)).toBe(200)
    expect(await who(webSession(old.options), pair)).toBe(401)
  })
})

describe('a forged cookie', () => {
  test('gets 401 without a query to the store', async () => {
    const { login, options } = await openFixture()
    const { cookie } = await login()
    const value = cookie.slice('session='.length)
    let queries = 0
    const session = (hash: string) => {
      queries++
      return options.store.session(hash)
    }
    const app = webSession({ ...options, store: { ...options.store, session } })
    const character = fc.oneof(
      fc.constantFrom(...'ABCZabcz019-_.+/=;," %\\'),
      fc.integer({ min: 0x21, max: 0xff }).map((code) => String.fromCharCode(code)),
    )
    const index = fc.nat(value.length)
    const mutation = fc.oneof(
      fc.tuple(index, character).map(([at, other]) => value.slice(0, at) + other + value.slice(at + 1)),
      fc.tuple(index, character).map(([at, other]) => value.slice(0, at) + other + value.slice(at)),
      index.map((at) => value.slice(0, at)),
      index.map((at) => value.slice(at + 1)),
      fc.tuple(index, index).map(([from, to]) => value.slice(from) + value.slice(0, to)),
      fc.string({ maxLength: 200 }),
    )
    const sendable = mutation.filter(
      (text) =>
        /^[\x20-\x7e\x80-\xff]*$/.test(text) &&
        !text.split(';').some((part) => part.trim() === value) &&
        text.split(';', 1)[0]?.trim() !== value,
    )
    await fc.assert(
      fc.asyncProperty(sendable, async (forged) => {
        const headers = { cookie: `session=${forged}` }
        const response = await app.handle(new Request('http://localhost/api/session', { headers }))
        expect(response.status).toBe(401)
      }),
      { numRuns: 1_000, seed: 5 },
    )
    expect(queries).toBe(0)
  })

  test('with an empty signature, or its id as signature, gets 401', async () => {
    const { login, whoIs } = await openFixture()
    const { cookie } = await login()
    const [id = ''] = cookie.slice('session='.length).split('.')
    for (const forged of [id, `${id}.`, `${id}.${id}`, `.${cookie.split('.')[1]}`, '.', '']) {
      expect((await whoIs(`session=${forged}`)).status).toBe(401)
    }
  })

  test('repeated a hundred times, or of a megabyte, gets 401', async () => {
    const { whoIs } = await openFixture()
    for (const cookie of [
      'session=x;'.repeat(100),
      `session=${'x'.repeat(1_000_000)}`,
      '='.repeat(100_000),
      ';'.repeat(100_000),
    ])
      expect((await whoIs(cookie)).status).toBe(401)
  })
})
