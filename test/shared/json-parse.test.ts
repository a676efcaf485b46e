import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { JsonError, type JsonLimits, parseJson, readJson } from '../../plugins/shared/json/json.ts'
import { anyCharacter } from '../support/any-character.ts'

/** The value of a text, or the error. */
const outcome = (read: () => unknown): unknown => {
  try {
    return { value: read() }
  } catch (error) {
    if (error instanceof JsonError) return error.message
    throw error
  }
}

const expectAlike = (given: string, limits?: JsonLimits): void => {
  // Decoded text has no lone surrogates.
  const text = given.toWellFormed()
  expect(outcome(() => parseJson(text, limits))).toEqual(outcome(() => readJson(text, limits).value()))
}

const space = fc.constantFrom('', '', '', ' ', '\t', '\n', '\r\n', '\f', '\ufeff')
const key = fc.constantFrom('a', 'b', 'GroupId', '__proto__', 'constructor', '1', '\\u0061', '[', '{', '\\"', 'ä', '')
const scalar = fc.oneof(
  fc.constantFrom('0', '-0', '1.0', '1e400', '-1E-2', '01', '.5', '1.', '12345678901234567890', 'true', 'null', 'nul'),
  fc.string({ unit: anyCharacter }).map((text) => JSON.stringify(text)),
  fc.constantFrom('"\\ud800"', '"\\x"', '"\u0001"', '"[[[{{{"', '"a', "'a'"),
)

/** Random JSON with duplicate keys and white space, and sometimes invalid text. */
const { document } = fc.letrec<{ document: string; array: string; object: string }>((tie) => ({
  document: fc.oneof({ withCrossShrink: true, depthSize: 'medium' }, scalar, tie('array'), tie('object')),
  array: fc
    .tuple(space, fc.array(tie('document'), { maxLength: 4 }), fc.constantFrom(',', ',', ',', ' ,', ',,'))
    .map(([blank, values, comma]) => `${blank}[${values.join(comma)}]`),
  object: fc
    .tuple(space, fc.array(fc.tuple(key, space, tie('document')), { maxLength: 4 }))
    .map(
      ([blank, members]) => `{${members.map(([name, gap, value]) => `"${name}"${gap}:${value}`).join(',')}${blank}}`,
    ),
}))

describe('the fast and the exact parser', () => {
  test('agree on every text', () => {
    fc.assert(
      fc.property(document, (text) => expectAlike(text)),
      { numRuns: 3_000 },
    )
  })

  test('agree on a text with an added or removed character', () => {
    const signs = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      '0',
      '-',
      'e',
      '.',
      ' ',
      '\0',
      '\ufeff',
      '\ud800',
    )
    fc.assert(
      fc.property(document, fc.nat(), fc.option(signs), (text, at, sign) => {
        const place = at % (text.length + 1)
        expectAlike(text.slice(0, place) + (sign ?? '') + text.slice(sign === null ? place + 1 : place))
      }),
      { numRuns: 3_000 },
    )
  })

  test('have the same limits and errors', () => {
    const limits = fc.record(
      { maxDepth: fc.nat(4), maxValues: fc.nat(9), maxKeyBytes: fc.nat(40) },
      { requiredKeys: [] },
    )
    fc.assert(fc.property(document, limits, expectAlike), { numRuns: 3_000 })
  })

  test('reject a value that is too deep, even if a later duplicate key replaces it', () => {
    const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
    for (const levels of [63, 64, 65, 100, 200_000]) {
      expectAlike(deep(levels))
      expectAlike(`{"a":${deep(levels - 1)},"a":1}`)
    }
    expectAlike(`{"a":"${'['.repeat(1_000)}"}`)
    expect(outcome(() => parseJson(`{"a":${deep(64)},"a":1}`))).toBe('nested deeper than 64 levels')
  })

  test('reject too many values and too long keys', () => {
    for (const count of [99_998, 99_999, 100_000]) expectAlike(`[${'0,'.repeat(count - 1)}0]`)
    for (const length of [2 ** 22 - 3, 2 ** 22 - 2, 2 ** 22]) expectAlike(`{"${'k'.repeat(length)}":"v"}`)
  })
})
