import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Json, readJson } from '../../plugins/shared/json/json.ts'
import { withAdditions } from '../../plugins/text-generation/chat/request.ts'

const asStream = (request: Json) => withAdditions(request, new Set())

describe('a changed request keeps every other byte', () => {
  const rewrite = (change: (request: Json) => Json, text: string) => change(readJson(text)).raw
  const maximum = (request: Json) => withAdditions(request, new Set(['stream']), {}, 4096)

  test('max_tokens is added when the request has no maximum', () => {
    expect(rewrite(maximum, '{ "seed" : 12345678901234567890 }')).toBe(
      '{ "seed" : 12345678901234567890 ,"max_tokens":4096}',
    )
    expect(rewrite(maximum, '{}')).toBe('{"max_tokens":4096}')
    expect(rewrite(maximum, '{ "max_tokens" : null ,\n "a":1.0}')).toBe('{ "max_tokens" : 4096 ,\n "a":1.0}')
    expect(rewrite(maximum, '{"max_completion_tokens":null}')).toBe('{"max_completion_tokens":null,"max_tokens":4096}')
  })

  test('a maximum with either name stays', () => {
    for (const text of [
      '{"max_tokens":7}',
      '{"max_completion_tokens":7}',
      '{"max_tokens":null,"max_completion_tokens":7}',
    ]) {
      const request = readJson(text)
      expect(maximum(request)).toBe(request)
    }
  })

  test('a maximum of -1 counts as absent, and is removed', () => {
    for (const [text, changed] of [
      ['{ "max_tokens" : -1 ,"a":1.0}', '{ "max_tokens" : 4096 ,"a":1.0}'],
      ['{"max_completion_tokens":-1,"a":1.0}', '{"a":1.0,"max_tokens":4096}'],
      ['{"max_tokens":-1,"max_completion_tokens":-1}', '{"max_tokens":4096}'],
      ['{"max_tokens":-1,"max_completion_tokens":7}', '{"max_completion_tokens":7}'],
      ['{"max_tokens":7,"max_completion_tokens":-1}', '{"max_tokens":7}'],
    ] as const)
      expect([text, JSON.parse(rewrite(maximum, text))]).toEqual([text, JSON.parse(changed)])
    const without = (request: Json) => withAdditions(request, new Set(['stream', 'max_tokens']), {}, 4096)
    expect(rewrite(without, '{"max_tokens":-1,"a":1.0}')).toBe('{"a":1.0}')
    expect(rewrite((request) => withAdditions(request, new Set(['stream'])), '{"max_tokens":-1}')).toBe('{}')
  })

  test('without a default nothing is added', () => {
    const request = readJson('{}')
    expect(withAdditions(request, new Set(['stream']))).toBe(request)
  })

  test('stream and include_usage are set', () => {
    expect(rewrite(asStream, '{"a":1e400 }')).toBe('{"a":1e400 ,"stream":true,"stream_options":{"include_usage":true}}')
    expect(rewrite(asStream, '{ "stream" : false , "a":[ 1 ] }')).toBe(
      '{ "stream" : true , "a":[ 1 ] ,"stream_options":{"include_usage":true}}',
    )
    expect(rewrite(asStream, '{"stream":null,"stream_options":null}')).toBe(
      '{"stream":true,"stream_options":{"include_usage":true}}',
    )
  })

  test('other stream options stay', () => {
    expect(
      rewrite(asStream, '{"stream_options":{ "x":9007199254740993, "include_usage" : false },"stream":true}'),
    ).toBe('{"stream_options":{ "x":9007199254740993, "include_usage" : true },"stream":true}')
  })

  test('an escaped key is the same key, and a duplicate key occurs once afterwards', () => {
    expect(rewrite(asStream, '{"\\u0073tream":false,"stream_options":{"include_usage":true},"stream" : null}')).toBe(
      '{"stream_options":{"include_usage":true},"stream" : true}',
    )
  })

  const space = fc.constantFrom('', ' ', '\n\t')
  const memberText = fc
    .tuple(
      fc.constantFrom('"stream"', '"stream_options"', '"max_tokens"', '"a"', '"\\u0061"', '"b"'),
      fc.constantFrom(
        'null',
        'true',
        'false',
        '1.0',
        '9007199254740993',
        '"\\u0041"',
        '{ "x" : [ 1e5 ] }',
        '{"include_usage":false}',
      ),
      space,
      space,
    )
    .map(([key, value, before, after]) => ({ key, text: `${before}${key}${after}:${before}${value}${after}` }))
  const requestText = fc
    .uniqueArray(memberText, { selector: ({ key }) => key, maxLength: 6 })
    .map((members) => `{${members.map(({ text }) => text).join(',')}}`)
  const changed = new Set(['stream', 'stream_options', 'max_tokens'])
  /** The text without the values that may change. */
  const others = (text: string) => {
    const json = readJson(text)
    return json
      .members()
      .filter(({ key }) => !changed.has(key))
      .map((member) => member.raw)
  }

  for (const [name, change] of [
    ['maximum', maximum],
    ['asStream', asStream],
  ] as const) {
    test(`${name}: the rest stays, and a repetition changes nothing`, () => {
      fc.assert(
        fc.property(requestText, (text) => {
          const once = change(readJson(text))
          expect(JSON.parse(once.raw)).toBeObject()
          expect(others(once.raw)).toEqual(others(text))
          expect(change(once)).toBe(once)
        }),
        { seed: 5, numRuns: 500 },
      )
    })
  }
})
