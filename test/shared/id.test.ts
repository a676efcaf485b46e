import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readId } from '../../plugins/shared/id.ts'
import { anyCharacter } from '../support/any-character.ts'

describe('a valid id', () => {
  test('is an upstream id or any other harmless text', () => {
    for (const id of [
      'group-20260318033332-abcde',
      'a',
      '...',
      '.a',
      'é',
      '\u{1f600}',
      'a:b;c=d&e+f@g!~*()',
      '__proto__',
      '0',
    ]) {
      expect(readId(id)).toBe(id)
    }
  })

  for (const id of [
    '',
    '.',
    '..',
    'a/b',
    'a\\b',
    'a?b',
    'a#b',
    'a%b',
    'a,b',
    'a"b',
    'a b',
    ' a',
    'a\n',
    '\0',
    '\x7f',
    '\u0085',
    '\u00a0',
    '\u2028',
    '\u3000',
    '\ufffd',
    '\ud800',
    'a\udc00',
  ]) {
    test(`is not ${JSON.stringify(id)}`, () => {
      expect(readId(id)).toBeUndefined()
    })
  }

  test('is not a value of another type', () => {
    for (const id of [undefined, null, 5, {}, ['a'], true]) expect(readId(id)).toBeUndefined()
  })

  test('has at most 256 bytes', () => {
    expect(readId('x'.repeat(256))).toHaveLength(256)
    expect(readId('x'.repeat(257))).toBeUndefined()
    expect(readId('é'.repeat(128))).toHaveLength(128)
    expect(readId('é'.repeat(129))).toBeUndefined()
    expect(readId('x'.repeat(10_000_000))).toBeUndefined()
  })

  test('is unchanged by a path, a comma-separated list and JSON', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 20 }), (text) => {
        const id = readId(text)
        if (id === undefined) return
        expect(new URL(`http://h/a/${encodeURIComponent(id)}/b`).pathname.split('/').map(decodeURIComponent)).toEqual([
          '',
          'a',
          id,
          'b',
        ])
        expect([id, id].join(',').split(',')).toEqual([id, id])
        expect(JSON.stringify(id)).toBe(`"${id}"`)
      }),
      { numRuns: 1000 },
    )
  })
})
