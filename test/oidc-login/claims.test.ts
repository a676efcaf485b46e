import { describe, expect, test } from 'bun:test'
import { claimOf, claimsRead, fitsRules, isClaimRules, userNameOf } from '../../plugins/oidc-login/claims.ts'
import { openFixture } from './fixture.ts'

describe('claim rules', () => {
  test.each([
    ['one value', { hd: 'a' }, { hd: ['a'] }, true],
    ['one of several values', { hd: 'b' }, { hd: ['a', 'b'] }, true],
    ['another value', { hd: 'c' }, { hd: ['a', 'b'] }, false],
    ['another case', { hd: 'A' }, { hd: ['a'] }, false],
    ['a part of a value', { hd: 'ab' }, { hd: ['a'] }, false],
    ['a list with a permitted element', { groups: ['x', 'media'] }, { groups: ['media'] }, true],
    ['a list without one', { groups: ['x', 'y'] }, { groups: ['media'] }, false],
    ['an empty list', { groups: [] }, { groups: ['media'] }, false],
    ['a list in a list', { groups: [['media']] }, { groups: ['media'] }, false],
    ['no claim', {}, { groups: ['media'] }, false],
    ['null', { groups: null }, { groups: ['media'] }, false],
    ['an object', { groups: { media: true } }, { groups: ['media'] }, false],
    ['a truth value', { paid: true }, { paid: [true] }, true],
    ['a truth value as text', { paid: 'true' }, { paid: [true] }, false],
    ['a number', { level: 3 }, { level: [3] }, true],
    ['a number as text', { level: '3' }, { level: [3] }, false],
    ['both of two claims', { hd: 'a', groups: ['g'] }, { hd: ['a'], groups: ['g'] }, true],
    ['one of two claims', { hd: 'a', groups: ['x'] }, { hd: ['a'], groups: ['g'] }, false],
    ['a name of the prototype', {}, { toString: ['a'], constructor: ['b'] }, false],
    ['a verified e-mail address', { email: 'a@b', email_verified: true }, { email: ['a@b'] }, true],
    ['an e-mail address of a provider that does not say', { email: 'a@b' }, { email: ['a@b'] }, true],
    ['an unverified e-mail address', { email: 'a@b', email_verified: false }, { email: ['a@b'] }, false],
    ['an unverified e-mail address, as text', { email: 'a@b', email_verified: 'false' }, { email: ['a@b'] }, false],
  ])('%s', (_name, claims, rules, fits) => {
    expect(fitsRules(claims, rules as never)).toBe(fits)
  })

  test('name at least one claim, and at least one value for each', () => {
    for (const rules of [{ a: ['x'] }, { a: ['x', 1, true], b: ['y'] }]) expect(isClaimRules(rules)).toBe(true)
    for (const rules of [{}, [], null, 'a', { a: [] }, { a: 'x' }, { a: [null] }, { a: [['x']] }, { a: ['x'], b: [] }])
      expect([rules, isClaimRules(rules)]).toEqual([rules, false])
  })
})

describe('the name of a new user', () => {
  test.each([
    ['preferred_username first', { preferred_username: 'ann', email: 'a@b' }, undefined, 'ann'],
    ['else the e-mail address', { email: 'a@b' }, undefined, 'a@b'],
    ['not an unverified one', { email: 'a@b', email_verified: false }, undefined, undefined],
    ['only the configured claim', { preferred_username: 'ann', nick: 'A' }, 'nick', 'A'],
    ['and no other', { preferred_username: 'ann' }, 'nick', undefined],
    ['without spaces around it', { preferred_username: '  ann\t' }, undefined, 'ann'],
    ['no empty one: the next', { preferred_username: ' ', email: 'a@b' }, undefined, 'a@b'],
    ['no number', { preferred_username: 7 }, undefined, undefined],
    ['no list', { preferred_username: ['ann'] }, undefined, undefined],
    ['no line break', { preferred_username: 'ann\nbob' }, undefined, undefined],
    ['no invisible character', { preferred_username: 'a\u200bnn' }, undefined, undefined],
    ['no change of direction', { preferred_username: '\u202enna' }, undefined, undefined],
    ['no lone surrogate', { preferred_username: 'a\ud800' }, undefined, undefined],
    ['at most 128 characters', { preferred_username: '𝒶'.repeat(128) }, undefined, '𝒶'.repeat(128)],
    ['not more', { preferred_username: 'a'.repeat(129) }, undefined, undefined],
    ['not of the prototype', {}, 'toString', undefined],
  ])('%s', (_name, claims, nameClaim, name) => {
    expect(userNameOf(claims, nameClaim)).toBe(name)
  })

  test('is not needed by a user who is known', async () => {
    await using host = await openFixture()
    await host.login()
    delete host.provider.account.preferred_username
    delete host.provider.account.email
    expect((await host.login()).url).toBe(`${host.url}/console`)
    host.provider.account.sub = 'somebody without a name'
    const { status, text } = await host.login()
    expect([status, host.sessions]).toEqual([403, ['u1', 'u1']])
    expect(text).toContain('has given no usable name')
  })
})

test('a login reads the claims of its options, and whether an e-mail address is verified', () => {
  expect(claimsRead(undefined, undefined)).toEqual(['preferred_username', 'email', 'email_verified'])
  expect(claimsRead('nick', { hd: ['a'] }, { groups: ['b'], email: ['c'] })).toEqual([
    'nick',
    'hd',
    'groups',
    'email',
    'email_verified',
  ])
  expect(claimOf({ a: 1 }, 'a')).toBe(1)
})

describe('who may log in, and who is admin', () => {
  const allowed = { hd: ['corp.example'], groups: ['media', 'video'] }
  const admin = { groups: ['operators'] }

  test('only persons whose claims fit', async () => {
    await using host = await openFixture({ allowed })
    const claims = [
      {},
      { hd: 'corp.example' },
      { groups: ['media'] },
      { hd: 'other.example', groups: ['media'] },
      { hd: 'corp.example', groups: ['other'] },
      { hd: 'corp.example', groups: 'medias' },
    ]
    for (const one of claims) {
      Object.assign(host.provider.account, { hd: undefined, groups: undefined, ...one })
      const { status, text } = await host.login()
      expect([one, status]).toEqual([one, 403])
      expect(text).toContain('may not use this service')
    }
    expect([host.sessions, host.users.logins]).toEqual([[], []])
    Object.assign(host.provider.account, { hd: 'corp.example', groups: ['other', 'video'] })
    expect((await host.login()).url).toBe(`${host.url}/console`)
  })

  test('a person who no longer fits does not log in any more', async () => {
    await using host = await openFixture({ allowed: { groups: ['media'] } })
    host.provider.account.groups = ['media']
    await host.login()
    host.provider.account.groups = []
    expect((await host.login()).status).toBe(403)
    expect(host.sessions).toEqual(['u1'])
  })

  test('the role follows the claims at each login', async () => {
    await using host = await openFixture({ admin })
    const roles = []
    for (const groups of [['operators'], ['media'], undefined, ['x', 'operators']]) {
      host.provider.account.groups = groups
      await host.login()
      roles.push(host.users.users[0]?.role)
    }
    expect(roles).toEqual(['admin', 'user', 'user', 'admin'])
  })

  test('without rules, roles do not follow claims', async () => {
    await using host = await openFixture()
    host.provider.account.groups = ['operators']
    await host.login()
    expect(host.users.logins[0]?.role).toBeUndefined()
  })
})
