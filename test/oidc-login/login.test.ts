import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { openFixture } from './fixture.ts'

const hex = (text: string) => createHash('sha256').update(text).digest('hex')

describe('a login at an identity provider', () => {
  test('asks for a code with PKCE, a state and a nonce, and sends the browser back to this app', async () => {
    await using host = await openFixture()
    const response = await fetch(host.url + host.start, { redirect: 'manual' })
    expect(response.status).toBe(303)
    const { origin, searchParams } = new URL(response.headers.get('location') ?? '')
    expect(origin).toBe(host.provider.issuer)
    expect(Object.fromEntries(searchParams)).toEqual({
      client_id: 'sluice',
      response_type: 'code',
      scope: 'openid profile email',
      redirect_uri: `${host.url}/api/session/oidc/callback`,
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
    expect(new Set(['state', 'nonce', 'code_challenge'].map((name) => searchParams.get(name))).size).toBe(3)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('referrer-policy')).toBe('no-referrer')
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^oidc=[\w-]+\.[\w+/]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/),
    ])
  })

  test('no two logins have the same state, nonce or code challenge', async () => {
    await using host = await openFixture()
    const values = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const { headers } = await fetch(host.url + host.start, { redirect: 'manual' })
        const { searchParams } = new URL(headers.get('location') ?? '')
        return ['state', 'nonce', 'code_challenge'].map((name) => searchParams.get(name))
      }),
    )
    expect(new Set(values.flat()).size).toBe(60)
  })

  test('adds a user at the first time, and finds the user at the next ones, in every browser', async () => {
    await using host = await openFixture()
    const [desk, laptop] = [host.browser(), host.browser()]
    const page = await host.login(desk)
    expect(page).toEqual({ status: 200, url: `${host.url}/console`, text: 'the console' })
    expect(desk.cookies.get('session')).toBe('u1')
    await host.login(laptop)
    expect(host.users.users).toEqual([
      { id: 'u1', name: 'dora', role: 'user', issuer: host.provider.issuer, subject: 'cn=dora,ou=people' },
    ])
    expect(host.sessions).toEqual(['u1', 'u1'])
    expect(host.events).toEqual([
      { action: 'user.create', user: 'u1', target: { kind: 'user', id: 'u1' }, reason: 'oidc' },
      { action: 'session.login', user: 'u1', reason: 'oidc' },
      { action: 'session.login', user: 'u1', reason: 'oidc' },
    ])
    expect(host.lines).toEqual([])
  })

  test('takes the cookie of the login away again, and no cache keeps the response', async () => {
    await using host = await openFixture()
    const browser = host.browser()
    const callback = await host.authorize(browser)
    expect([...browser.cookies.keys()]).toEqual(['oidc'])
    const cookie = [...browser.cookies].map((pair) => pair.join('=')).join()
    const { status, headers } = await fetch(callback, { redirect: 'manual', headers: { cookie } })
    expect([status, headers.get('location'), headers.get('cache-control')]).toEqual([
      303,
      `${host.url}/console`,
      'no-store',
    ])
    expect(headers.getSetCookie()).toEqual([
      'session=u1; Path=/; HttpOnly; SameSite=Lax',
      'oidc=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax',
    ])
  })

  test('finds the same user after the name has changed at the provider', async () => {
    await using host = await openFixture()
    await host.login()
    host.provider.account.preferred_username = 'dora.new'
    await host.login()
    expect(host.users.users.map(({ name }) => name)).toEqual(['dora'])
    expect(host.sessions).toEqual(['u1', 'u1'])
  })

  test('continues at the path that the browser has asked for', async () => {
    await using host = await openFixture()
    const { url } = await host.login(host.browser(), '?return_to=%2Fother%3Fa%3D1%23b')
    expect(url).toBe(`${host.url}/other?a=1#b`)
  })

  test('accepts the invitation with which the browser came, whatever else happens at the provider', async () => {
    await using host = await openFixture()
    const invitation = 'an-invitation-with-43-letters-and-digits-01'
    host.users.users.push({ id: 'invited', name: 'Dora B.', role: 'user' })
    host.users.invitations.set(hex(invitation), 'invited')
    await host.login(host.browser(), `?invitation=${invitation}&return_to=/other`)
    expect(host.sessions).toEqual(['invited'])
    await host.login()
    expect(host.sessions).toEqual(['invited', 'invited'])
    expect(host.users.users).toMatchObject([{ id: 'invited', name: 'Dora B.', subject: 'cn=dora,ou=people' }])
  })

  test('several tabs of one browser can log in at once', async () => {
    await using host = await openFixture()
    const browser = host.browser()
    const callbacks = [
      await host.authorize(browser, '?return_to=/other'),
      await host.authorize(browser),
      await host.authorize(browser, '?return_to=/other'),
    ]
    const pages = []
    for (const callback of callbacks) pages.push((await browser.send('GET', callback.href)).url)
    expect(pages).toEqual([`${host.url}/other`, `${host.url}/console`, `${host.url}/other`])
    expect([...browser.cookies.keys()]).toEqual(['session'])
  })

  test('works with a client that sends its secret in the body, although the provider knows both ways', async () => {
    await using host = await openFixture({
      provider: {
        authentication: 'client_secret_post',
        respond: (path, response, { headers }) => {
          if (path !== '/token' || headers.authorization === undefined) return false
          response.writeHead(401, { 'content-type': 'application/json', 'www-authenticate': 'Basic realm="x"' })
          response.end('{"error":"invalid_client"}')
          return true
        },
      },
    })
    expect((await host.login()).url).toBe(`${host.url}/console`)
    expect(host.provider.requests.filter((path) => path === '/token')).toHaveLength(2)
  })

  test('works with a provider that knows only the way in the body', async () => {
    await using host = await openFixture({
      provider: {
        authentication: 'client_secret_post',
        metadata: (found) => ({ ...found, token_endpoint_auth_methods_supported: ['client_secret_post'] }),
      },
    })
    expect((await host.login()).url).toBe(`${host.url}/console`)
    expect(host.provider.requests.filter((path) => path === '/token')).toHaveLength(1)
  })

  test('asks the UserInfo endpoint only for claims that the ID token lacks', async () => {
    await using host = await openFixture({ provider: { fullIdToken: true } })
    await host.login()
    expect(host.provider.requests).not.toContain('/me')
    await using other = await openFixture()
    await other.login()
    expect(other.provider.requests).toContain('/me')
    expect([host, other].map(({ users }) => users.logins[0]?.name)).toEqual(['dora', 'dora'])
  })

  test('has the configured prefix, scopes, cookie, return path and claims', async () => {
    await using host = await openFixture({
      prefix: '/login',
      scopes: 'openid email',
      cookieName: 'login',
      returnTo: '/other',
      nameClaim: 'email',
    })
    const browser = host.browser()
    const callback = await host.authorize(browser)
    expect([callback.pathname, [...browser.cookies.keys()]]).toEqual(['/login/callback', ['login']])
    expect((await browser.send('GET', callback.href)).url).toBe(`${host.url}/other`)
    expect(host.users.users[0]?.name).toBe('dora@corp.example')
  })

  test('the cookie is Secure and __Host-, where the public address is https', async () => {
    await using host = await openFixture({ publicUrl: 'https://sluice.example/base' })
    const { headers } = await fetch(host.url + host.start, { redirect: 'manual' })
    expect(headers.getSetCookie()[0]).toMatch(/^__Host-oidc=.*; Path=\/; HttpOnly; SameSite=Lax; Secure$/)
    expect(new URL(headers.get('location') ?? '').searchParams.get('redirect_uri')).toBe(
      'https://sluice.example/base/api/session/oidc/callback',
    )
  })

  test('other methods get 405 with Allow, and other paths 404', async () => {
    await using host = await openFixture()
    for (const [path, status] of [
      ['', 405],
      ['/callback', 405],
      ['/other', 404],
    ] as const) {
      const response = await fetch(host.url + host.start + path, { method: 'POST', body: 'code=1' })
      expect([path, response.status, response.headers.get('allow')]).toEqual([
        path,
        status,
        status === 405 ? 'GET' : null,
      ])
    }
  })
})
