import { describe, expect, test } from 'bun:test'
import { startEmulator } from 'sluice/emulator'
import { ark } from 'sluice/upstream-proxy'
import { createHost } from '../../examples/better-auth.ts'
import { startOidcProvider } from '../support/oidc-provider.ts'
import { Browser } from './browser.ts'
import { serveHost } from './serve-host.ts'

/** A host and its OpenID provider, on loopback. */
const openFixture = async (options?: Parameters<typeof startOidcProvider>[1]) => {
  const stack = new AsyncDisposableStack()
  const emulator = await startEmulator()
  stack.defer(emulator.stop)
  const { url, stop } = await serveHost(async (publicUrl) => {
    const client = { id: 'host', secret: 'secret of the host', redirectUri: `${publicUrl}/api/auth/callback/corporate` }
    const provider = await startOidcProvider(client, options)
    stack.defer(provider.stop)
    return createHost(publicUrl, ark(emulator.ark), emulator.text, {
      providerId: 'corporate',
      discoveryUrl: provider.discoveryUrl,
      clientId: client.id,
      clientSecret: client.secret,
      scopes: ['openid', 'profile', 'email'],
    })
  })
  stack.defer(stop)
  return { url, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

/** Follows the redirects to the provider and back. Returns the address of the page at which the browser ends. */
const login = async (browser: Browser): Promise<URL> => {
  const started = await browser.send('POST', '/api/auth/sign-in/social', {
    provider: 'corporate',
    callbackURL: '/home',
  })
  expect(started.status).toBe(200)
  const authorization = new URL(JSON.parse(started.text).url)
  expect(Object.fromEntries(authorization.searchParams)).toMatchObject({
    response_type: 'code',
    code_challenge_method: 'S256',
    nonce: expect.any(String),
  })
  return new URL((await browser.send('GET', authorization.href)).url)
}

const groups = '/api/media/proxy/assets/groups'

describe('better-auth: login at an OpenID provider', () => {
  test('the user who logs in at the provider has the same groups in every browser', async () => {
    await using host = await openFixture()
    const [desk, laptop] = [new Browser(host.url), new Browser(host.url)]
    expect((await desk.send('GET', groups)).status).toBe(401)
    expect((await login(desk)).href).toBe(`${host.url}/home`)
    expect((await desk.send('POST', groups, { Name: 'holidays' })).status).toBe(200)
    expect((await login(laptop)).href).toBe(`${host.url}/home`)
    expect(JSON.parse((await laptop.send('GET', groups)).text).Result.Items).toMatchObject([{ Name: 'holidays' }])
  })

  test('a foreign page cannot change anything with the session of that user', async () => {
    await using host = await openFixture()
    const browser = new Browser(host.url)
    await login(browser)
    const foreign = browser.at('https://evil.example')
    expect((await foreign.send('POST', host.url + groups, { Name: 'injected' })).status).toBe(403)
    expect(JSON.parse((await browser.send('GET', groups)).text).Result.Items).toEqual([])
  })

  test('an ID token that is not signed with a key of the provider logs nobody in', async () => {
    await using host = await openFixture({ publishes: 'another key' })
    const browser = new Browser(host.url)
    expect((await login(browser)).searchParams.get('error')).toBe('unable_to_get_user_info')
    expect((await browser.send('GET', groups)).status).toBe(401)
  })

  test('a provider without public keys logs nobody in, because its ID tokens cannot be verified', async () => {
    await using host = await openFixture({ publishes: 'no key' })
    const browser = new Browser(host.url)
    const { status } = await browser.send('POST', '/api/auth/sign-in/social', { provider: 'corporate' })
    expect(status).toBe(404)
  })

  test('who has signed up with the e-mail address of the user does not get into that account', async () => {
    await using host = await openFixture()
    const mallory = new Browser(host.url)
    const user = { name: 'Mallory', email: 'dora@corp.example', password: 'correct horse' }
    expect((await mallory.send('POST', '/api/auth/sign-up/email', user)).status).toBe(200)
    const dora = new Browser(host.url)
    expect((await login(dora)).searchParams.get('error')).toBe('account_not_linked')
    expect((await dora.send('GET', groups)).status).toBe(401)
  })
})
