import { describe, expect, test } from 'bun:test'
import { LoginProblem } from '../../plugins/oidc-login/login-failures.ts'
import { openFixture } from './fixture.ts'

const failures = [
  ...(['expired', 'denied', 'invalid', 'unreachable', 'not-allowed', 'name-taken', 'no-name'] as const),
  ...(['invitation', 'known', 'busy', 'failed'] as const),
]

const problemOf = (failure: (typeof failures)[number], headers: Record<string, string>) =>
  new LoginProblem(failure, new Request('http://localhost/', { headers }), {
    cause: new Error('the inner cause'),
    again: 'https://sluice.example/api/session/oidc?return_to=%2Fa&invitation="><script>alert(1)</script>',
  })

describe('a login that fails', () => {
  for (const failure of failures) {
    test(`${failure}: shows a page without scripts, in the language of the browser`, async () => {
      const [en, zh] = ['en', 'zh-CN,zh;q=0.9'].map((language) =>
        problemOf(failure, { accept: 'text/html,*/*', 'accept-language': language }).toResponse(),
      ) as [Response, Response]
      const texts = [await en.text(), await zh.text()] as const
      expect(texts[0]).toMatch(
        /<html lang="en">[\s\S]*<h1>[A-Z][^<]+<\/h1><p>[A-Z][^<]+\.<\/p><p><a href="[^"]+">Log in<\/a>/,
      )
      expect(texts[0]).not.toMatch(/\p{Script=Han}/u)
      expect(texts[1]).toMatch(/<html lang="zh-CN">[\s\S]*<h1>[^<]*\p{Script=Han}[^<]*<\/h1><p>[^<]*\p{Script=Han}/u)
      for (const text of texts) expect(text).not.toMatch(/<script|inner cause|\bon\w+=/)
      expect(Object.fromEntries(en.headers)).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': expect.stringMatching(/^default-src 'none'; style-src 'sha256-[^']+'; /),
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      })
    })

    test(`${failure}: tells a program the same in JSON`, async () => {
      const problem = problemOf(failure, { accept: 'application/json' })
      const response = problem.toResponse()
      expect([response.status, response.headers.get('content-type')]).toEqual([problem.status, 'application/json'])
      expect(await response.json()).toEqual({
        success: false,
        error: { message: expect.stringMatching(/^[a-z][^.<]+$/), type: 'request_error' },
      })
    })
  }

  test('leads to the login again, with the same return path and invitation', async () => {
    await using host = await openFixture({ provider: { idToken: () => 'x' } })
    const invitation = 'an-invitation-of-43-letters-and-digits-0001'
    const { text } = await host.login(host.browser(), `?return_to=/other&invitation=${invitation}`)
    expect(text).toContain(`<a href="${host.url}${host.start}?return_to=%2Fother&amp;invitation=${invitation}">`)
  })

  test('an invitation that has ended does not stay in the link', async () => {
    await using host = await openFixture()
    const { status, text } = await host.login(
      host.browser(),
      '?return_to=/other&invitation=an-invitation-that-has-ended',
    )
    expect([status, host.sessions]).toEqual([403, []])
    expect(text).toContain(`<a href="${host.url}${host.start}?return_to=%2Fother">`)
    expect(text).toContain('This invitation is not valid any more')
  })

  test.each(['short', 'x'.repeat(129), 'an invitation with spaces', '"><script>alert(1)</script>'])(
    'an invitation of the wrong form is rejected before the provider is asked: %s',
    async (invitation) => {
      await using host = await openFixture()
      const { status, text } = await host.login(host.browser(), `?invitation=${encodeURIComponent(invitation)}`)
      expect([status, host.provider.requests]).toEqual([403, []])
      expect(text).not.toContain('<script')
    },
  )

  test('an invitation for somebody else does not change who is known', async () => {
    await using host = await openFixture()
    await host.login()
    const { createHash } = await import('node:crypto')
    const invitation = 'an-invitation-of-43-letters-and-digits-0001'
    host.users.users.push({ id: 'invited', name: 'bob', role: 'user' })
    host.users.invitations.set(createHash('sha256').update(invitation).digest('hex'), 'invited')
    const { status, text } = await host.login(host.browser(), `?invitation=${invitation}`)
    expect([status, host.sessions, host.users.invitations.size]).toEqual([409, ['u1'], 1])
    expect(text).toContain(`<a href="${host.url}${host.start}">`)
  })

  test('a disabled user sees what a person sees who was never allowed', async () => {
    await using host = await openFixture({ allowed: { hd: ['corp.example'] } })
    const stranger = await host.login()
    host.provider.account.hd = 'corp.example'
    await host.login()
    for (const user of host.users.users) user.disabled = true
    const disabled = await host.login()
    expect([disabled.status, disabled.text]).toEqual([stranger.status, stranger.text])
    expect(host.sessions).toEqual(['u1'])
    expect(JSON.stringify(host.lines)).toContain('the login was rejected: disabled')
  })

  test('a user who is disabled while the session begins gets none', async () => {
    await using host = await openFixture({ beginSession: async () => undefined })
    const browser = host.browser()
    expect((await host.login(browser)).status).toBe(403)
    expect(browser.cookies.has('session')).toBe(false)
    expect(host.events.map(({ action }) => action)).toEqual(['user.create', 'session.fail'])
  })

  test('a store that fails is not described', async () => {
    await using host = await openFixture()
    host.users.logInOidcUser = () => Promise.reject(new Error('connection to 10.0.0.1 refused'))
    const { status, text } = await host.login()
    expect(status).toBe(500)
    expect(text).toContain('could not be completed')
    expect(text).not.toContain('10.0.0.1')
    expect(JSON.stringify(host.lines)).toContain('connection to 10.0.0.1 refused')
  })

  test('its reason is in the audit trail', async () => {
    await using host = await openFixture()
    await host.browser().send('GET', `${host.start}/callback?state=x`)
    expect(host.events).toEqual([{ action: 'session.fail', reason: 'oidc: expired', status: 400 }])
  })

  test('a program gets JSON in the form of the option errors', async () => {
    await using host = await openFixture({ errors: ({ message, status }) => ({ code: status, message }) })
    const response = await fetch(`${host.url}${host.start}/callback`)
    expect([response.status, await response.json()]).toEqual([
      400,
      { code: 400, message: 'this login was started too long ago, or in another browser' },
    ])
  })
})
