import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { CustomInputDecoder } from '../../plugins/text-generation/bridge/tools/custom-input.ts'

const decode = (pieces: readonly string[]) => {
  const decoder = new CustomInputDecoder()
  const decoded = pieces.map((piece) => decoder.push(piece))
  return [...decoded, decoder.end()]
}

const splitAt = (text: string, positions: readonly number[]): string[] => {
  const ends = [...new Set(positions.map((at) => at % (text.length + 1)))].sort((one, other) => one - other)
  return [0, ...ends].map((from, nth) => text.slice(from, ends[nth] ?? text.length))
}

const tricky = '*** Begin "patch"\n\t\\d 😀é\u2028\u0000 end'

test('an input arrives whole at every split, and never with half a surrogate pair', () => {
  for (const source of [
    JSON.stringify({ input: tricky }),
    `{ "input" : ${JSON.stringify(tricky)} , "more": 1 }`,
    `{"input":"${tricky.replaceAll(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}"}`,
  ]) {
    for (let at = 0; at <= source.length; at++) {
      for (const pieces of [[source.slice(0, at), source.slice(at)], [...source], source.split('')]) {
        const decoded = decode(pieces)
        expect(decoded.join('')).toBe(tricky)
        for (const each of decoded) expect(each.isWellFormed()).toBe(true)
      }
    }
  }
})

test('any input arrives whole at any splits', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.array(fc.nat()), (input, positions) => {
      expect(decode(splitAt(JSON.stringify({ input }), positions)).join('')).toBe(input)
    }),
    { seed: 13, numRuns: 2000 },
  )
})

test('the input streams: it does not wait for the end', () => {
  expect(decode(['{"in', 'put":"he', 'llo\\', 'n', 'you"', '}'])).toEqual(['', 'he', 'llo', '\n', 'you', '', ''])
})

test('arguments of another form are read at their end', () => {
  const rows: readonly (readonly [args: string, input: string])[] = [
    ['', ''],
    ['{}', ''],
    ['plain text, no JSON', 'plain text, no JSON'],
    ['"a string"', 'a string'],
    ['{"patch":"the only member"}', 'the only member'],
    ['{"reason":"why","input":"the input"}', 'the input'],
    ['{"a":"1","b":"2"}', '{"a":"1","b":"2"}'],
    ['{"input":{"a":1}}', '{"input":{"a":1}}'],
    ['{"a":1}', '{"a":1}'],
    ['[1]', '[1]'],
    ['null', 'null'],
    [`${' '.repeat(80)}{"input":"x"}`, 'x'],
    ['{"input":"in\nvalid \\escape"}', 'in\nvalid \\escape'],
  ]
  for (const [args, input] of rows) expect(decode([...args]).join('')).toBe(input)
})

test('incomplete arguments give the input so far, without half a character', () => {
  expect(decode(['{"input":"so \\ud83d']).join('')).toBe('so ')
  expect(decode(['{"input":"so far\\u00']).join('')).toBe('so far')
  expect(decode(['{"inp']).join('')).toBe('{"inp')
})
