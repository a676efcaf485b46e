import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Json, JsonError, readJson, toJson } from '../../plugins/shared/json/json.ts'
import { anyCharacter } from '../support/any-character.ts'

const space = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 2 })

const escaped = (text: string) =>
  [...text].map((_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')

const stringText = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 8 }).map((text) => JSON.stringify(text)),
  fc.string({ maxLength: 4 }).map((text) => `"${[...text].map(escaped).join('')}"`),
  fc.constantFrom(
    '""',
    '"\\\\"',
    '"\\""',
    '"\\\\\\""',
    '"{"',
    '"]"',
    '","',
    '":"',
    '"\\/"',
    '"\\ud800"',
    '"\u2028"',
    '"\u007f"',
  ),
)
const keyText = fc.oneof(
  stringText,
  fc.constantFrom('"a"', '"\\u0061"', '"b"', '"1"', '"0"', '"10"', '"__proto__"', '"constructor"', '"length"'),
)
const scalarText = fc.oneof(
  stringText,
  fc.constantFrom('null', 'true', 'false', '0', '-0', '1.0', '1e400', '-1E-7', '12345678901234567890', '0.1e+1'),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
)

/** An unusual text of a JSON value, with white space, escapes and duplicate keys. */
const { value: valueText } = fc.letrec<{ value: string }>((tie) => {
  const spaced = fc.tuple(space, tie('value'), space).map((parts) => parts.join(''))
  const member = fc
    .tuple(space, keyText, space, spaced)
    .map(([before, key, after, value]) => `${before}${key}${after}:${value}`)
  return {
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      scalarText,
      fc
        .tuple(fc.array(spaced, { maxLength: 4 }), space)
        .map(([items, gap]) => `[${items.length ? items.join(',') : gap}]`),
      fc
        .tuple(fc.array(member, { maxLength: 5 }), space)
        .map(([items, gap]) => `{${items.length ? items.join(',') : gap}}`),
    ),
  }
})
const objectText = valueText.filter((text) => text.startsWith('{'))
const documentText = fc.tuple(space, valueText, space).map((parts) => parts.join(''))

/** The value that results from reading all parts with the Json classes. */
const rebuilt = (json: Json): unknown => {
  if (json.isArray) return json.elements().map(rebuilt)
  if (!json.isObject) return json.value()
  const object: Record<string, unknown> = {}
  for (const { key, value } of json.members())
    Object.defineProperty(object, key, { value: rebuilt(value), enumerable: true, configurable: true, writable: true })
  return object
}

describe('reading', () => {
  test('agrees with JSON.parse in every part', () => {
    fc.assert(
      fc.property(documentText, (text) => {
        const json = readJson(text)
        expect(json.raw).toBe(text.trim())
        expect(JSON.stringify(json.value())).toBe(JSON.stringify(JSON.parse(text)))
        expect(rebuilt(json)).toEqual(JSON.parse(text))
      }),
      { numRuns: 500 },
    )
  })

  test('keeps the order of members and duplicates; the last one counts', () => {
    const json = readJson('{"b":1,"2":2,"1":3,"b":4,"\\u0062":5}')
    expect(json.members().map(({ key, value }) => [key, value.raw])).toEqual([
      ['b', '1'],
      ['2', '2'],
      ['1', '3'],
      ['b', '4'],
      ['b', '5'],
    ])
    expect(json.get('b')?.raw).toBe('5')
    expect(json.get('__proto__')).toBeUndefined()
    expect(json.get('toString')).toBeUndefined()
  })

  test('keeps numbers, escapes and white space', () => {
    const text = '{"n" : 12345678901234567890.10 , "s":"\\u00e9\\/" }'
    const json = readJson(` ${text}\n`)
    expect(json.raw).toBe(text)
    expect([json.get('n')?.raw, json.get('s')?.raw, json.get('s')?.string(), json.get('n')?.string()]).toEqual([
      '12345678901234567890.10',
      '"\\u00e9\\/"',
      'é/',
      undefined,
    ])
  })

  test('finds objects at every depth', () => {
    const json = readJson('[{"a":[{"b":{}}]},[[{}]],"{}"]')
    expect([...json.objects()].map(({ raw }) => raw)).toEqual(['{"a":[{"b":{}}]}', '{"b":{}}', '{}', '{}'])
  })

  test('a non-object has no members, and a non-array no elements', () => {
    for (const text of ['1', '"{"', 'null', '[]']) expect(readJson(text).members()).toEqual([])
    for (const text of ['1', '"["', 'null', '{}']) expect(readJson(text).elements()).toEqual([])
  })
})

describe('an edit changes nothing else', () => {
  const texts = (json: Json) => json.members().map((member) => member.raw)

  test('removing a member keeps the text of all others', () => {
    fc.assert(
      fc.property(objectText, fc.constantFrom('a', 'b', '1', '__proto__', ''), (text, key) => {
        const json = readJson(text)
        const edited = json.without((name) => name === key)
        const expected = json.members().filter((member) => member.key !== key)
        expect(
          readJson(edited.raw)
            .members()
            .map((member) => member.key),
        ).toEqual(expected.map((member) => member.key))
        expect(texts(edited)).toEqual(expected.map((member) => member.raw))
        if (expected.length === json.members().length) expect(edited).toBe(json)
      }),
      { numRuns: 500 },
    )
  })

  test('setting a member leaves it once and keeps the text of all others', () => {
    fc.assert(
      fc.property(
        objectText,
        fc.constantFrom('a', 'b', '1', '__proto__', '', '"', '\ud800'),
        valueText,
        (text, key, value) => {
          const json = readJson(text)
          const edited = readJson(json.with(key, readJson(value)).raw)
          const others = (of: Json) => of.members().filter((member) => member.key !== key)
          expect(others(edited).map((member) => member.raw)).toEqual(others(json).map((member) => member.raw))
          expect(
            edited
              .members()
              .filter((member) => member.key === key)
              .map((member) => member.value.raw),
          ).toEqual([value])
          if (!json.get(key)) expect(edited.members().at(-1)?.key).toBe(key)
        },
      ),
      { numRuns: 500 },
    )
  })

  test('a created value is ordinary JSON', () => {
    expect(
      toJson({ a: [1, 'ä'], b: undefined })
        .get('a')
        ?.elements()[1]
        ?.string(),
    ).toBe('ä')
  })
})

describe('invalid JSON is rejected as by JSON.parse', () => {
  const accepts = (read: () => unknown): boolean => {
    try {
      read()
      return true
    } catch (error) {
      if (error instanceof JsonError || error instanceof SyntaxError) return false
      throw error
    }
  }

  test('for damaged texts', () => {
    const damage = fc.tuple(
      fc.nat(),
      fc.nat(2),
      fc.oneof(fc.constantFrom(...'{}[]",:\\ 0-+.eE\t\n\0\ufeff\u00a0\u2028n/'), fc.string({ maxLength: 2 })),
    )
    fc.assert(
      fc.property(documentText, fc.array(damage, { minLength: 1, maxLength: 3 }), (text, damages) => {
        let damaged = text
        for (const [at, gone, added] of damages) {
          const from = at % (damaged.length + 1)
          damaged = damaged.slice(0, from) + added + damaged.slice(from + gone)
        }
        // A lone surrogate cannot occur in UTF-8.
        damaged = damaged.toWellFormed()
        expect(accepts(() => readJson(damaged))).toBe(accepts(() => JSON.parse(damaged)))
        if (!accepts(() => JSON.parse(damaged))) return
        expect(rebuilt(readJson(damaged))).toEqual(JSON.parse(damaged))
      }),
      { numRuns: 2000 },
    )
  })

  for (const text of [
    '',
    ' ',
    '\ufeff{}',
    '{}\u00a0',
    '\u2028{}',
    '{}x',
    '{"a":1,}',
    '[1,]',
    "{'a':1}",
    '// x\n{}',
    '{a:1}',
    '01',
    '+1',
    '.5',
    '1.',
    'NaN',
    '"\t"',
    '"\\x"',
    '{"a"}',
    '[',
    ']',
    '"',
    '\\',
    '{"a":"}',
  ]) {
    test(JSON.stringify(text), () => {
      expect(() => readJson(text)).toThrow(JsonError)
    })
  }

  test('for invalid UTF-8 and for a BOM', () => {
    const quoted = (...bytes: number[]) => new Uint8Array([0x22, ...bytes, 0x22])
    for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe2, 0x82], [0xf5, 0x80, 0x80, 0x80]]) {
      expect(() => readJson(quoted(...bytes))).toThrow('not valid UTF-8')
    }
    expect(readJson(quoted(0xf0, 0x9f, 0x98, 0x80)).string()).toBe('\u{1f600}')
    expect(() => readJson(new Uint8Array([0xef, 0xbb, 0xbf, 0x7b, 0x7d]))).toThrow(JsonError)
    expect(() => readJson(new Uint8Array([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]))).toThrow(JsonError)
  })
})

describe('the depth is limited before any recursion', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

  test('to 64 by default', () => {
    expect(readJson(nested(64)).isArray).toBeTrue()
    expect(() => readJson(nested(65))).toThrow('nested deeper than 64 levels')
    expect(() => readJson('{"a":{"b":1}}', { maxDepth: 1 })).toThrow('nested deeper than 1 levels')
    expect(readJson('[[],[],[[]]]', { maxDepth: 3 }).elements()).toHaveLength(3)
  })

  test('brackets in strings do not count', () => {
    expect(readJson(JSON.stringify(`"\\${'['.repeat(1000)}`)).string()).toContain('[[')
    expect(readJson(`{"${'{'.repeat(1000)}":"\\\\"}`).members()).toHaveLength(1)
  })

  test('a million levels are rejected like 65', () => {
    for (const text of [
      '['.repeat(1e6),
      '{"a":'.repeat(1e6),
      `${']'.repeat(1e6)}${'['.repeat(1e6)}`,
      `"${'['.repeat(1e6)}`,
    ]) {
      expect(() => readJson(text)).toThrow(JsonError)
    }
  })
})

test('a duplicate key that was set occurs once', () => {
  const json = readJson('{"a":1,"b":2,"a":3}').with('a', toJson(4))
  expect([...json.keys()].sort()).toEqual(['a', 'b'])
  expect([...readJson(json.bytes).keys()]).toEqual(['b', 'a'])
})

describe('hostile texts take linear time', () => {
  const million = 1_000_000
  const limits = { maxValues: 2 * million, maxKeyBytes: 1e7 }
  // A quadratic algorithm would take hours and fail by timeout.
  for (const [what, text] of [
    ['backslashes', `{"a":"${'\\\\'.repeat(million)}"}`],
    ['escaped quotes', `{"a":"${'\\"'.repeat(million)}"}`],
    ['space', `{${' '.repeat(million)}"a"${' '.repeat(million)}:${' '.repeat(million)}1${' '.repeat(million)}}`],
    ['members', `{${'"a":1,'.repeat(million)}"b":2}`],
    ['elements', `{"a":[${'1,'.repeat(million)}1]}`],
    ['empty strings', `{"a":[${'"",'.repeat(million)}""]}`],
    ['a long number', `{"a":${'1'.repeat(million)}}`],
    ['deep copies', `{"a":${'['.repeat(60)}"${'x'.repeat(million)}"${']'.repeat(60)}}`],
  ] as const) {
    test(`many ${what}`, () => {
      const json = readJson(text, limits)
      expect(json.members().length).toBeGreaterThan(0)
      expect([...json.objects()]).toHaveLength(1)
      expect(
        json
          .without((key) => key === 'a')
          .with('c', toJson(1))
          .get('c')?.raw,
      ).toBe('1')
    })
  }
})
