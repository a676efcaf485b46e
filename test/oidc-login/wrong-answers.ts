import type { OidcFaults, startOidcProvider } from '../support/oidc-provider.ts'

const now = () => Math.floor(Date.now() / 1000)

type Provider = Awaited<ReturnType<typeof startOidcProvider>>

/** Wrong answers of the provider, each with the status, and what the log says of it. */
export const wrongAnswers: Readonly<
  Record<string, readonly [OidcFaults | ((provider: Provider) => OidcFaults), number, RegExp]>
> = {
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
    (provider) => ({ idToken: (claims, sign) => sign(claims, { key: provider.otherKey.privateKey }) }),
    502,
    /signature/,
  ],
  'an ID token with a changed claim': [
    (provider) => ({
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
    (provider) => ({
      respond: (path, response) => {
        if (path !== '/me') return false
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ ...provider.account, sub: 'cn=root' }))
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
