import { describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../src/config.ts'

const read = (env: Record<string, string>) => {
  const config = readConfig(env)
  return 'problems' in config ? config.problems : config.login
}

const oidc = { OIDC_ISSUER: 'https://id.example', OIDC_CLIENT_ID: 'sluice', OIDC_CLIENT_SECRET: 'the-secret' }
const required = {
  ...{ issuer: 'https://id.example', clientId: 'sluice', clientSecret: 'the-secret' },
  scopes: 'openid profile email',
}

describe('the login', () => {
  test('is with a password by default', () => {
    expect(read({})).toEqual({ password: true })
  })

  test('may be at an identity provider too, or only there', () => {
    expect(read(oidc)).toEqual({ password: true, oidc: required })
    expect(read({ ...oidc, PASSWORD_LOGIN: 'off' })).toEqual({ password: false, oidc: required })
  })

  test('has optional scopes, claims, rules and a label', () => {
    const more = {
      OIDC_SCOPES: 'openid groups',
      OIDC_NAME_CLAIM: 'https://claims.example/name',
      OIDC_ALLOWED: '{"hd":["corp.example"],"email_verified":[true]}',
      OIDC_ADMIN: '{"groups":["operators"]}',
      OIDC_LABEL: ' Log in at Corp ',
    }
    expect(read({ ...oidc, ...more })).toEqual({
      password: true,
      oidc: {
        ...required,
        scopes: 'openid groups',
        nameClaim: 'https://claims.example/name',
        allowed: { hd: ['corp.example'], email_verified: [true] },
        admin: { groups: ['operators'] },
        label: 'Log in at Corp',
      },
    })
  })

  test('keeps the slash at the end of the issuer, because it is a part of its name', () => {
    expect(read({ ...oidc, OIDC_ISSUER: 'https://id.example/app/' })).toMatchObject({
      oidc: { issuer: 'https://id.example/app/' },
    })
  })

  test('may have its rules in a file, which every process reads', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-config-'))
    const path = join(folder, 'admins.json')
    await Bun.write(path, '{"groups":["operators"]}')
    const config = readConfig({ ...oidc, OIDC_ADMIN: `@${path}` })
    expect(config).toMatchObject({ login: { oidc: { admin: { groups: ['operators'] } } }, files: [path] })
    await rm(folder, { recursive: true })
  })

  test('hides the secret of the client in the log', () => {
    expect(readConfig(oidc)).toMatchObject({ secrets: ['the-secret'] })
  })

  test('without a client is a problem', () => {
    expect(read({ OIDC_ISSUER: 'https://id.example' })).toEqual([
      'OIDC_CLIENT_ID is required for an OIDC_ISSUER',
      'OIDC_CLIENT_SECRET is required for an OIDC_ISSUER',
    ])
  })

  test.each(['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_NAME_CLAIM', 'OIDC_LABEL'])(
    'with %s and no issuer is a problem',
    (name) => {
      expect(read({ [name]: 'x' })).toEqual([`OIDC_ISSUER is required for ${name}`])
    },
  )

  test('that nobody can use is a problem', () => {
    expect(read({ PASSWORD_LOGIN: 'off' })).toEqual([
      'OIDC_ISSUER is required for PASSWORD_LOGIN=off: nobody could log in',
    ])
  })

  test.each([
    ['PASSWORD_LOGIN', ['no', 'OFF', '0']],
    [
      'OIDC_ISSUER',
      [
        ...['id.example', 'http://id.example', 'http://10.0.0.1', 'http://localhost.example', 'ftp://id.example'],
        ...['https://u:p@id.example', 'https://id.example?a=b', 'https://id.example#a', ' https://id.example'],
      ],
    ],
    ['OIDC_CLIENT_ID', ['a b', 'ä']],
    ['OIDC_CLIENT_SECRET', ['a b', 'a\nb']],
    ['OIDC_SCOPES', ['profile', 'openid  email', ' openid', 'openid,email', 'openid "x"', 'xopenid']],
    ['OIDC_NAME_CLAIM', ['a b']],
    ['OIDC_ALLOWED', ['{}', '[]', 'null', 'x', '{"a":[]}', '{"a":"b"}', '{"a":[null]}', '{"a":[["b"]]}', '@/no/such']],
    ['OIDC_ADMIN', ['{}', '{"groups":"operators"}']],
    ['OIDC_LABEL', [' ', 'x'.repeat(65)]],
  ] as const)('%s is validated, and its value is never quoted', (name, values) => {
    for (const value of values) {
      expect(read({ ...oidc, [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name} must .*[^.]$`))])
    }
  })

  test('an issuer on loopback may be http', () => {
    for (const issuer of ['http://localhost:4000', 'http://127.0.0.1:4000/realm', 'http://[::1]:4000'])
      expect(read({ ...oidc, OIDC_ISSUER: issuer })).toMatchObject({ oidc: { issuer } })
  })
})
