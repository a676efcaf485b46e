import { describe, expect, test } from 'bun:test'
import type { OidcFaults } from '../support/oidc-provider.ts'
import { openFixture } from './fixture.ts'

const now = () => Math.floor(Date.now() / 1000)

type Faults = Partial<OidcFaults>
type Host = Awaited<ReturnType<typeof openFixture>>

/** Wrong answers of the provider, each with the status, and what the log says of it. Some need the provider itself. */
const answers: Readonly<Record<string, readonly [Faults | ((host: Host) => Faults), number, RegExp]>> = {
  'an ID token with another nonce': [{ idToken: (claims, sign) => sign({ ...claims, nonce: 'other' }) }, 502, /nonce/],
  'an ID token without a nonce': [{ idToken: ({ nonce, ...claims }, sign) => sign(claims) }, 502, /nonce/],
  'an ID token for another client': [{ idToken: (claims, sign) => sign({ ...claims, aud: 'other' }) }, 502, /"aud"/],
  'an ID token for this client and an untrusted one': [
    { idToken: (claims, sign) => sign({ ...claims, aud: ['sluice', 'other'] }) },
    502,
    /"aud"/,
  ],
  'an ID token for two clients, given to the other one': [
    { idToken: (claims, sign) => sign({ ...claims, aud: ['sluice', 'other'], azp: 'other' }) },
    502,
    /"azp"/,
  ],
  'an ID token of another issuer': [
    { idToken: (claims, sign) => sign({ ...claims, iss: 'https://other.example' }) },
    502,
    /"iss"/,
  ],
  'an ID token of the issuer with a slash at the end': [
    { idToken: (claims, sign) => sign({ ...claims, iss: `${claims.iss}/` }) },
    502,
    /"iss"/,
  ],
  'an ID token that somebody else has signed': [
    ({ provider }) => ({ idToken: (claims, sign) => sign(claims, { key: provider.otherKey.privateKey }) }),
    502,
    /signature/,
  ],
  'an ID token with a changed claim': [
    ({ provider }) => ({
      idToken: (claims) => {
        const [header, , signature] = provider.idToken.split('.')
        const content = Buffer.from(JSON.stringify({ ...claims, sub: 'cn=root' })).toString('base64url')
        return `${header}.${content}.${signature}`
      },
    }),
    502,
    /signature/,
  ],
  'an ID token without a signature (alg none)': [
    { idToken: (claims, sign) => sign(claims, { alg: 'none' }) },
    502,
    /"alg"|algorithm/,
  ],
  'an ID token that is signed with the public key as a secret (HS256)': [
    { idToken: (claims, sign) => sign(claims, { alg: 'HS256', key: 'its public key' }) },
    502,
    /"alg"|algorithm/,
  ],
  'an ID token with HS256, which the metadata allow': [
    {
      metadata: (found) => ({ ...found, id_token_signing_alg_values_supported: ['RS256', 'HS256'] }),
      idToken: (claims, sign) => sign(claims, { alg: 'HS256', key: 'its public key' }),
    },
    502,
    /"alg"|algorithm/,
  ],
  'an ID token without a signature, which the metadata allow': [
    {
      metadata: (found) => ({ ...found, id_token_signing_alg_values_supported: ['RS256', 'none'] }),
      idToken: (claims, sign) => sign(claims, { alg: 'none' }),
    },
    502,
    /"alg"|algorithm/,
  ],
  'an ID token with a key that is not published': [
    { idToken: (claims, sign) => sign(claims, { kid: 'unknown' }) },
    502,
    /no applicable keys/,
  ],
  'keys of somebody else': [{ publishes: 'another key' }, 502, /keys|signature/],
  'an ID token that has expired': [{ idToken: (claims, sign) => sign({ ...claims, exp: now() - 40 }) }, 502, /"exp"/],
  'an ID token without an end': [{ idToken: ({ exp, ...claims }, sign) => sign(claims) }, 502, /"exp"/],
  'an ID token from the future': [
    { idToken: (claims, sign) => sign({ ...claims, iat: now() + 90 }) },
    502,
    /issued in the future/,
  ],
  'an ID token that is not valid yet': [
    { idToken: (claims, sign) => sign({ ...claims, nbf: now() + 90 }) },
    502,
    /"nbf"/,
  ],
  'an ID token without a time': [{ idToken: ({ iat, ...claims }, sign) => sign(claims) }, 502, /"iat"/],
  'an ID token without a subject': [{ idToken: ({ sub, ...claims }, sign) => sign(claims) }, 502, /"sub"/],
  'a subject that is no text': [{ idToken: (claims, sign) => sign({ ...claims, sub: 7 }) }, 502, /"sub"/],
  'an empty subject': [{ idToken: (claims, sign) => sign({ ...claims, sub: '' }) }, 502, /sub/],
  'a subject that no database keeps': [{ idToken: (claims, sign) => sign({ ...claims, sub: 'a\0b' }) }, 502, /sub/],
  'a subject of a megabyte': [{ idToken: (claims, sign) => sign({ ...claims, sub: 'a'.repeat(2_000) }) }, 502, /sub/],
  'no ID token': [{ tokenResponse: ({ id_token, ...body }) => body }, 502, /id_token/],
  'an ID token that is none': [{ idToken: () => 'a.b' }, 502, /JWT/],
  'an encrypted ID token': [{ idToken: () => 'a.b.c.d.e' }, 502, /JWE/],
  'UserInfo of another person': [
    (host) => ({
      respond: (path, response) => {
        if (path !== '/me') return false
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ ...host.provider.account, sub: 'cn=root' }))
        return true
      },
    }),
    502,
    /sub/,
  ],
  'the state of another login': [
    { answer: (callback) => callback.searchParams.set('state', 'x'.repeat(43)) },
    400,
    /not that of a login of this browser/,
  ],
  'no state': [
    { answer: (callback) => callback.searchParams.delete('state') },
    400,
    /not that of a login of this browser/,
  ],
  'two states': [
    { answer: (callback) => callback.searchParams.append('state', callback.searchParams.get('state') ?? '') },
    400,
    /not that of a login of this browser/,
  ],
  'another issuer beside the code (mix-up)': [
    { answer: (callback) => callback.searchParams.set('iss', 'https://other.example') },
    502,
    /"iss"/,
  ],
  'no issuer beside the code, although the metadata promise one': [
    { answer: (callback) => callback.searchParams.delete('iss') },
    502,
    /"iss"/,
  ],
  'another code': [{ answer: (callback) => callback.searchParams.set('code', 'x'.repeat(43)) }, 502, /invalid_grant/],
  'no code': [{ answer: (callback) => callback.searchParams.delete('code') }, 502, /code/],
  'two codes': [{ answer: (callback) => callback.searchParams.append('code', 'x') }, 502, /"code"/],
  'an error': [
    {
      answer: (callback) => {
        callback.searchParams.delete('code')
        callback.searchParams.set('error', 'access_denied')
        callback.searchParams.set('error_description', 'the person has cancelled')
      },
    },
    403,
    /access_denied: the person has cancelled/,
  ],
  'a query of ten thousand characters': [
    { answer: (callback) => callback.searchParams.set('more', 'x'.repeat(10_000)) },
    400,
    /not that of a login of this browser/,
  ],
}

describe('nobody is logged in by a wrong answer of the provider, and the log says why', () => {
  for (const [name, [faults, status, cause]] of Object.entries(answers)) {
    test(name, async () => {
      await using host = await openFixture({ provider: { fullIdToken: name !== 'UserInfo of another person' } })
      Object.assign(host.provider.faults, typeof faults === 'function' ? faults(host) : faults)
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
