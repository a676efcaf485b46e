import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { createToken, hashToken } from 'sluice/api-token'
import { bearerToken, tokenOf } from '../../plugins/api-token/token.ts'

describe('a new token', () => {
  test('is sk- and 43 base62 digits: more than 160 random bits', () => {
    for (let made = 0; made < 100; made++) expect(createToken()).toMatch(/^sk-[0-9A-Za-z]{43}$/)
    expect(43 * Math.log2(62)).toBeGreaterThan(160)
  })

  test('is unique, and every digit occurs at every position', () => {
    const tokens = Array.from({ length: 5000 }, createToken)
    expect(new Set(tokens).size).toBe(tokens.length)
    for (const at of [3, 20, 45]) expect(new Set(tokens.map((token) => token[at])).size).toBe(62)
  })

  test('is stored as its SHA-256 in hex', () => {
    expect(hashToken('sk-x')).toBe(createHash('sha256').update('sk-x').digest('hex'))
  })
})

describe('the token of an Authorization header', () => {
  const token = createToken()
  for (const header of [`Bearer ${token}`, `bearer ${token}`, `BEARER   ${token}`, `Bearer ${token} `]) {
    test(`is found in ${header.replace(token, '…')}`, () => expect(bearerToken(header)).toBe(token))
  }

  for (const header of [
    '',
    'Bearer',
    'Bearer ',
    `Basic ${token}`,
    token,
    `Bearer\t${token}`,
    `Bearer ${token} x`,
    `Bearer ${token},Bearer ${token}`,
    `Bearer "${token}"`,
    'Bearer sk-',
    'Bearer sk-short',
    `Bearer pk-${token}`,
    `Bearer sk-${'x'.repeat(600)}`,
    `Bearer ${token}\u00e9`,
    `x Bearer ${token}`,
  ]) {
    test(`${JSON.stringify(header)?.replaceAll(token, '…').slice(0, 60)} has none`, () =>
      expect(bearerToken(header)).toBeUndefined())
  }

  test('a hostile header costs little time', () => {
    for (const text of [
      `bearer${' '.repeat(100_000)}`,
      `bearer sk-${'='.repeat(100_000)} x`,
      `bearer sk-aaaaaaaa${' '.repeat(100_000)}x`,
    ]) {
      expect(bearerToken(text)).toBeUndefined()
    }
  })
})

describe('the token of a request', () => {
  const [token, other] = [createToken(), createToken()]
  const found = (headers: Record<string, string>) => tokenOf(new Headers(headers))

  test('may be in x-api-key or api-key', () => {
    expect(found({ 'x-api-key': token })).toBe(token)
    expect(found({ 'api-key': token })).toBe(token)
    expect(found({ 'x-api-key': token, 'api-key': other })).toBe(token)
    expect(found({})).toBeUndefined()
  })

  test('is that of Authorization where this header is present, whatever it has', () => {
    for (const authorization of ['', 'Bearer', 'Basic x', 'Bearer sk-short', `Basic ${token}`])
      expect(found({ authorization, 'x-api-key': token, 'api-key': token })).toBeUndefined()
    expect(found({ authorization: `Bearer ${token}`, 'x-api-key': other })).toBe(token)
  })

  test('is the whole value of x-api-key', () => {
    for (const value of [
      ...['', 'sk-short', `Bearer ${token}`, `${token} x`, `${token},${token}`, `x ${token}`, `${token}\u00e9`],
      ...[`"${token}"`, `sk-${'x'.repeat(600)}`, `sk-${'='.repeat(100_000)}x`],
    ])
      expect(found({ 'x-api-key': value, 'api-key': token })).toBeUndefined()
  })
})
