/** Runs with `--all`: every character of Unicode. media.test.ts has the forms of asset URLs. */
import { expect, test } from 'bun:test'
import { readJson } from '../../plugins/shared/json/json.ts'
import { assetIn, assetInText, maxPrefixBytes } from '../../plugins/shared/media/asset-text.ts'
import { assetsIn } from '../../plugins/shared/media/media-fields.ts'

/** Parts of JSON strings, as JSON text. */
const parts = [
  ...[
    'a',
    'A',
    's',
    'S',
    'ſ',
    'e',
    't',
    ':',
    '/',
    'x',
    '7',
    ' ',
    '\\n',
    '\\t',
    '\\"',
    '\\\\',
    '\\/',
    '\\u0061',
    '\\u0053',
    '\\u003a',
  ],
  ...[
    '\\u002F',
    '\\u017f',
    '\\ud83d\\ude00',
    '\\ud835\\udc1a',
    '\\ud83d',
    '\\ude00',
    '\u200b',
    '\\u200b',
    '\u00a0',
    '\u{1f600}',
    'é',
    '\u0345',
  ],
  ...['.', '-', '\u007f', 'asset', 'asset:', 'asset://', 'ASSET:/', '\u{1d41a}', '中', 'K', '²'],
]

test('the start of a string is classified as in the full decoded string, with any context', () => {
  let seed = 7
  const random = (most: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    return (seed >>> 8) % most
  }
  let found = 0
  for (let nth = 0; nth < 60_000; nth++) {
    const text = `"${Array.from({ length: random(14) }, () => parts[random(parts.length)]).join('')}"`
    const expected = assetInText(JSON.parse(text))
    if (expected !== undefined) found++
    expect([text, assetIn(readJson(text))]).toEqual([text, expected])
  }
  expect(found).toBeGreaterThan(1_000)
})

test('for every character it is known whether an asset URL may follow it', () => {
  const wrong: number[] = []
  for (let code = 0x20; code <= 0x10_ff_ff; code++) {
    const text = `${String.fromCodePoint(code).toWellFormed()}asset:x`
    if (code === 0x22 || code === 0x5c) continue
    if (assetIn(readJson(`"${text}"`)) !== assetInText(text)) wrong.push(code)
  }
  expect(wrong).toEqual([])
}, 300_000)

test('of an id above the maximum length only the start is read', () => {
  expect(assetIn(readJson(`"asset://${'x'.repeat(100_000)}"`))?.length).toBe(4_096)
  expect(assetIn(readJson(`"asset://${'\\n'.repeat(100_000)}"`))?.length).toBe(4_096)
})

test('strings that start with megabytes of special characters are rejected early', () => {
  for (const filler of [' ', '.', '\\n', '\\u2000', '\u{1f600}', 'a ']) {
    const scanned = { bytes: 0 }
    expect(assetIn(readJson(`"${filler.repeat(2 ** 22 / filler.length)}asset:x"`), scanned)).toBeUndefined()
    expect(scanned.bytes).toBeLessThanOrEqual(maxPrefixBytes + 12)
  }
  const one = `"${' '.repeat(maxPrefixBytes + 100)}asset:x"`
  const many = Array(2 ** 15).fill(`"${'.'.repeat(100)}asset:x"`)
  const [first, second] = [`{"messages":[{"content":${one}}]}`, `{"x":[${many}]}`].map((text) => readJson(text))
  const wrong = 'begins with too many characters that are no letters or digits'
  expect(() => assetsIn(first as never)).toThrow(`messages[0].content ${wrong}`)
  expect(() => assetsIn(second as never)).toThrow(wrong)
})
