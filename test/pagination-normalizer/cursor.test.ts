import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createCursors, cutPage, type ListRequest } from '../../plugins/pagination-normalizer/index.ts'
import { anyCharacter } from '../support/any-character.ts'
import { read } from './read-request.ts'

const cursors = createCursors(['first secret'])
const position = { key: '099999999999', id: 'asset-1' }
const list = 'GroupType=AIGC&GroupIds=a,b&Name=n&SortBy=UpdateTime&SortOrder=Asc'
const token = cursors.issue(read(list), 'ann', position)

const redeem = (query: string, nextToken: string, caller = 'ann') =>
  cursors.redeem({ ...read(query), nextToken }, caller)

describe('a page token', () => {
  test('contains its position', () => {
    expect(redeem(list, token)).toEqual({ after: position, offsets: [] })
  })

  test('is URL-safe and contains no secret, caller or filter', () => {
    expect(token).toMatch(/^[\w-]+$/)
    const held = Buffer.from(token, 'base64url').toString('latin1')
    for (const text of ['first secret', 'ann', 'AIGC', 'UpdateTime']) expect(held).not.toContain(text)
  })

  test('has at most 1024 characters, also for the longest ids', () => {
    for (const letter of ['x', '\u{1f600}', 'é', "'", '<']) {
      const id = letter.repeat(256 / Buffer.byteLength(letter))
      const offsets = Array.from({ length: 1_000 }, () => [123_456, 7] as const)
      const long = cursors.issue(read(list), 'ann', { key: id, id }, offsets)
      expect(long.length).toBeLessThanOrEqual(1024)
      expect(redeem(list, long)?.after).toEqual({ key: id, id })
    }
  })
})

describe('a page token contains hints', () => {
  test('for every source, as far as the size allows', () => {
    const offsets = [
      [0, 0],
      [12_345, 2],
    ] as const
    expect(redeem(list, cursors.issue(read(list), 'ann', position, offsets))).toEqual({ after: position, offsets })
  })
})

describe('a page token is bound to its list', () => {
  test('page size, page number and the spelling of the filters may change', () => {
    for (const query of [
      `${list}&PageSize=3`,
      `${list}&MaxResults=50&PageNumber=4`,
      'SortOrder=Asc&SortBy=UpdateTime&Name=n&GroupIds=b&GroupIds=a&GroupIds=b',
    ]) {
      expect(redeem(query, token)).toEqual({ after: position, offsets: [] })
    }
    const body = { SortBy: 'UpdateTime', Filter: { SortOrder: 'Asc', Name: 'n', GroupIds: ['b', 'a'] } }
    expect(cursors.redeem({ ...read('', body), nextToken: token }, 'ann')).toEqual({ after: position, offsets: [] })
  })

  test('another filter, sort, caller or endpoint does not accept it', () => {
    for (const query of [
      list.replace('AIGC', 'LivenessFace'),
      list.replace('a,b', 'a'),
      list.replace('a,b', 'a,b,c'),
      list.replace('Name=n', 'Name=m'),
      list.replace('Name=n', ''),
      list.replace('UpdateTime', 'CreateTime'),
      list.replace('Asc', 'Desc'),
      `${list}&Statuses=Active`,
    ]) {
      expect([query, redeem(query, token)]).toEqual([query, undefined])
    }
    for (const caller of ['bob', 'Ann', '', 'ann ', 'ann"']) expect(redeem(list, token, caller)).toBeUndefined()
    expect(cursors.redeem({ ...read(list), endpoint: 'others', nextToken: token }, 'ann')).toBeUndefined()
  })

  test('the boundaries of signed fields are unambiguous', () => {
    const request = (filter: ListRequest['filter']) => ({ ...read(''), filter })
    const issued = cursors.issue(request({ A: 'x', B: 'y' }), 'ann', position)
    const others: readonly ListRequest['filter'][] = [
      { A: 'x,B:y' },
      { A: ['x'], B: 'y' },
      { AB: 'xy' },
      { B: 'x', A: 'y' },
    ]
    for (const filter of others) {
      expect(cursors.redeem({ ...request(filter), nextToken: issued }, 'ann')).toBeUndefined()
    }
  })
})

describe('a modified page token is ignored', () => {
  test('for every changed bit, also the unused bits of the last character', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    for (const id of ['a', 'ab', 'abc']) {
      const issued = cursors.issue(read(list), 'ann', { ...position, id })
      for (let at = 0; at < issued.length; at++) {
        for (const letter of at === issued.length - 1 ? alphabet : 'A-z') {
          const forged = issued.slice(0, at) + letter + issued.slice(at + 1)
          if (forged !== issued) expect(redeem(list, forged)).toBeUndefined()
        }
      }
    }
  })

  test('when it is truncated, extended or padded', () => {
    for (let length = 0; length < token.length; length++) expect(redeem(list, token.slice(0, length))).toBeUndefined()
    for (const forged of [
      `${token}A`,
      `${token}=`,
      `${token}==`,
      ` ${token}`,
      `${token}\n`,
      token + token,
      `${token}.`,
    ]) {
      expect(redeem(list, forged)).toBeUndefined()
    }
  })

  test('for any other text', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.base64String(), fc.string({ unit: anyCharacter, maxLength: 2000 })),
        (forged) => {
          expect(redeem(list, forged)).toBeUndefined()
        },
      ),
    )
    for (const forged of ['x'.repeat(100_000), '__proto__', '../..', '0']) expect(redeem(list, forged)).toBeUndefined()
  })

  test('and the request uses page mode with its PageNumber', () => {
    const items = ['a', 'b', 'c'].map((id) => ({ key: '1', id }))
    const page = (query: string, nextToken: string) =>
      cutPage(items, { ...read(query), nextToken }, 'ann', cursors).items.map(({ id }) => id)
    expect(page('PageSize=1&SortOrder=Asc', 'forged')).toEqual(['a'])
    expect(page('PageSize=1&SortOrder=Asc&PageNumber=3', 'forged')).toEqual(['c'])
    expect(page('PageSize=1&SortOrder=Asc&PageNumber=3', '')).toEqual(['c'])
    const good = cursors.issue(read('SortOrder=Asc'), 'ann', { key: '1', id: 'a' })
    expect(page('PageSize=1&SortOrder=Asc&PageNumber=3', good)).toEqual(['b'])
  })
})

describe('the rotation of secrets', () => {
  const issued = (secrets: [string, ...string[]]) => createCursors(secrets).issue(read(list), 'ann', position)
  const taken = (secrets: [string, ...string[]], nextToken: string) =>
    createCursors(secrets).redeem({ ...read(list), nextToken }, 'ann')

  test('the first secret signs, and all secrets verify', () => {
    expect(issued(['new', 'old'])).toBe(issued(['new']))
    expect(taken(['new', 'old'], issued(['old']))).toEqual({ after: position, offsets: [] })
    expect(taken(['old', 'new'], issued(['new', 'old']))).toEqual({ after: position, offsets: [] })
    expect(taken(['new'], issued(['old']))).toBeUndefined()
  })
})
