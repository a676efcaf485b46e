import { describe, expect, test } from 'bun:test'
import { createCookies } from '../../plugins/shared/login/cookie.ts'
import { openFixture } from './fixture.ts'

const expired = { status: 400 }

describe('only the browser that has started a login ends it', () => {
  test('a callback in a browser without the cookie logs nobody in: a foreign page cannot log its visitor in', async () => {
    await using host = await openFixture()
    const callback = await host.authorize(host.browser())
    const victim = host.browser()
    expect(await victim.send('GET', callback.href)).toMatchObject(expired)
    expect([host.sessions, [...victim.cookies]]).toEqual([[], []])
    // Not even the provider was asked.
    expect(host.provider.requests).not.toContain('/token')
  })

  test('a callback in a browser that has started another login logs nobody in', async () => {
    await using host = await openFixture()
    const [mallory, victim] = [host.browser(), host.browser()]
    const callback = await host.authorize(mallory)
    await host.authorize(victim)
    expect(await victim.send('GET', callback.href)).toMatchObject(expired)
    expect(host.sessions).toEqual([])
  })

  test('a code of somebody else with the state of this browser logs nobody in: its nonce and PKCE are others', async () => {
    await using host = await openFixture()
    const [mallory, victim] = [host.browser(), host.browser()]
    const stolen = (await host.authorize(mallory)).searchParams.get('code') ?? ''
    const callback = await host.authorize(victim)
    callback.searchParams.set('code', stolen)
    expect(await victim.send('GET', callback.href)).toMatchObject({ status: 502 })
    expect(host.sessions).toEqual([])
    expect(JSON.stringify(host.lines)).toContain('invalid_grant')
  })

  test('a callback works once: the browser forgets the login', async () => {
    await using host = await openFixture()
    const browser = host.browser()
    const callback = await host.authorize(browser)
    expect((await browser.send('GET', callback.href)).status).toBe(200)
    expect(await browser.send('GET', callback.href)).toMatchObject(expired)
    expect(host.sessions).toEqual(['u1'])
  })

  test('a replayed code is refused by the provider, also for who has kept the cookie', async () => {
    await using host = await openFixture()
    const browser = host.browser()
    const callback = await host.authorize(browser)
    const kept = browser.cookies.get('oidc') ?? ''
    await browser.send('GET', callback.href)
    const response = await fetch(callback, { redirect: 'manual', headers: { cookie: `oidc=${kept}` } })
    expect([response.status, host.sessions]).toEqual([502, ['u1']])
    expect(JSON.stringify(host.lines)).toContain('invalid_grant')
  })

  test('a login that takes longer than ten minutes is over', async () => {
    let passedMs = 0
    await using host = await openFixture({ clock: { now: () => Date.now() + passedMs } })
    const browser = host.browser()
    const callback = await host.authorize(browser)
    const late = await host.authorize(browser)
    passedMs = 590_000
    // The ID token has expired by then; the login itself is not too old.
    expect((await browser.send('GET', callback.href)).status).toBe(502)
    passedMs = 601_000
    expect(await browser.send('GET', late.href)).toMatchObject(expired)
  })

  test('a changed cookie, one of another secret, and two cookies are none', async () => {
    await using host = await openFixture()
    await using other = await openFixture({ secrets: ['another secret of the tests'] })
    const browser = host.browser()
    const callback = await host.authorize(browser)
    const cookie = browser.cookies.get('oidc') ?? ''
    const foreign = other.browser()
    await other.authorize(foreign)
    const [content = '', signature = ''] = cookie.split('.')
    const changed = Buffer.from(
      Buffer.from(content, 'base64url').toString().replace(',"",""', ',"/other",""'),
    ).toString('base64url')
    for (const sent of [
      `oidc=${changed}.${signature}`,
      `oidc=${content}.${signature.replace(/^./, (first) => (first === 'x' ? 'y' : 'x'))}`,
      `oidc=${foreign.cookies.get('oidc')}`,
      `oidc=${cookie}; oidc=${foreign.cookies.get('oidc')}`,
      `session=${cookie}`,
      'oidc=',
    ]) {
      const response = await fetch(callback, { redirect: 'manual', headers: { cookie: sent } })
      expect([sent, response.status]).toEqual([sent, 400])
    }
    const response = await fetch(callback, { redirect: 'manual', headers: { cookie: `oidc=${cookie}` } })
    expect(response.status).toBe(303)
  })

  test('a value that is signed for another purpose with the same secret is none', async () => {
    const secrets = ['a secret of the tests']
    await using host = await openFixture({ secrets })
    const browser = host.browser()
    const callback = await host.authorize(browser)
    const [content = ''] = browser.cookies.get('oidc')?.split('.') ?? []
    const sessions = createCookies({ name: 'oidc', secrets, secure: () => false })
    for (const value of [content, 'bm8ganNvbg']) {
      const [cookie = ''] = sessions.issue(value, 60).split(';')
      expect((await fetch(callback, { redirect: 'manual', headers: { cookie } })).status).toBe(400)
    }
  })

  test('a cookie of the secret before is valid, so that secrets can rotate', async () => {
    const secrets = ['a secret of the tests']
    await using host = await openFixture({ secrets })
    const browser = host.browser()
    const callback = await host.authorize(browser)
    await using rotated = await openFixture({ secrets: ['a new secret of the tests', ...secrets] })
    const cookie = `oidc=${browser.cookies.get('oidc')}`
    const url = rotated.url + callback.pathname + callback.search
    // The state is known. Only the issuer is another one.
    expect((await fetch(url, { redirect: 'manual', headers: { cookie } })).status).toBe(502)
    await using other = await openFixture({ secrets: ['a new secret of the tests'] })
    expect((await fetch(other.url + callback.pathname + callback.search, { headers: { cookie } })).status).toBe(400)
  })

  test('a browser remembers its last four logins', async () => {
    await using host = await openFixture()
    const browser = host.browser()
    const callbacks = []
    for (let count = 0; count < 5; count++) callbacks.push(await host.authorize(browser))
    const statuses = []
    for (const { href } of callbacks) statuses.push((await browser.send('GET', href)).status)
    expect(statuses).toEqual([400, 200, 200, 200, 200])
  })

  test('long paths and invitations push out older logins, and the cookie stays small', async () => {
    await using host = await openFixture()
    const browser = host.browser()
    const query = `?return_to=/${'x'.repeat(255)}&invitation=${'y'.repeat(128)}`
    await host.authorize(browser)
    await host.authorize(browser, query)
    const last = await host.authorize(browser, query)
    expect(browser.cookies.get('oidc')?.length).toBeLessThan(1_100)
    expect((await browser.send('GET', last.href)).text).toContain('invitation')
    expect(host.users.logins.map(({ invitation }) => invitation?.length)).toEqual([64])
  })
})
