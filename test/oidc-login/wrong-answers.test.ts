import { describe, expect, test } from 'bun:test'
import { openFixture } from './fixture.ts'
import { wrongAnswers } from './wrong-answers.ts'

describe('nobody is logged in by a wrong answer of the provider, and the log says why', () => {
  for (const [name, [faults, status, cause]] of Object.entries(wrongAnswers)) {
    test(name, async () => {
      await using host = await openFixture({ provider: { fullIdToken: name !== 'UserInfo of another person' } })
      Object.assign(host.provider.faults, typeof faults === 'function' ? faults(host.provider) : faults)
      const browser = host.browser()
      const page = await host.login(browser)
      expect([page.status, new URL(page.url).pathname]).toEqual([status, '/api/session/oidc/callback'])
      expect([host.sessions, host.users.logins, [...browser.cookies.keys()].filter((each) => each !== 'oidc')]).toEqual(
        [[], [], []],
      )
      expect(host.lines).toMatchObject([
        { level: 'warn', fields: { status, err: { message: expect.stringMatching(cause) } } },
      ])
      expect(host.events).toMatchObject([{ action: 'session.fail', status }])
      // Neither the page nor the log has the token, the code or the secret.
      const seen = page.text + JSON.stringify(host.lines) + JSON.stringify(host.events)
      const { searchParams } = new URL(page.url)
      for (const secret of [host.provider.idToken, searchParams.get('code'), searchParams.get('state'), 'secret of'])
        if (secret) expect(seen).not.toContain(secret)
      expect(page.text).not.toMatch(/<script|\bon\w+=/)
      for (const fault of Object.keys(host.provider.faults)) delete host.provider.faults[fault as 'idToken']
      expect((await host.login(browser)).url).toBe(`${host.url}/console`)
    })
  }

  test('a login succeeds when nothing is wrong, in the same fixture', async () => {
    await using host = await openFixture({ provider: { fullIdToken: true, idToken: (claims, sign) => sign(claims) } })
    expect((await host.login()).url).toBe(`${host.url}/console`)
  })

  test('a second subject with a known name is not that user', async () => {
    await using host = await openFixture()
    await host.login()
    host.provider.account.sub = 'cn=mallory,ou=people'
    host.provider.account.preferred_username = 'DORA'
    const { status, text } = await host.login()
    expect([status, host.sessions, host.users.users.length]).toEqual([409, ['u1'], 1])
    expect(text).toContain('Another user of this service has your name')
  })
})
