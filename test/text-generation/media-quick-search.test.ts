import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { readJson } from '../../plugins/shared/json/json.ts'
import { objectReferences } from '../../plugins/text-generation/objects/references.ts'
import { rejectionOf } from './media-requests.ts'

/** Parts of asset URLs, media keys and ids, and characters that may hide them, as JSON text. */
const pieces = [
  ...[
    'asset:',
    'asset://x',
    'ASSET:/',
    'as\u017fet:',
    'as\u200bset:',
    'ass\u{e0001}et:',
    'asse\u00a0\\nt:',
    'a',
    's',
    'S',
    '\u017f',
    'e',
    't',
    ':',
    '/',
    'b',
    '7',
    '中',
    'é',
    '\u{1d41a}',
    '\u{e0001}',
    '\u3164',
  ],
  ...[
    '\\n',
    '\\t',
    '\\r',
    '\\b',
    '\\f',
    '\\/',
    '\\"',
    '\\\\',
    '\\u0061',
    '\\u017F',
    '\\u003a',
    ' ',
    '.',
    '-',
    '\u200b',
    '\u00a0',
    '\u0085',
    '\u007f',
  ],
  ...[
    'image_url',
    'url',
    'URL',
    'files',
    'profile',
    'mask_data',
    'video',
    'Asset',
    'file_id',
    'id',
    'ID\u017f',
    'conver\u017fation',
    'batch',
  ],
]
const text = fc.array(fc.constantFrom(...pieces), { maxLength: 9 }).map((some) => `"${some.join('')}"`)
const space = fc.constantFrom('', '', ' ', '\n', '\t')
const { value } = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    text,
    fc.constant('1'),
    tie('object'),
    fc.array(tie('value'), { maxLength: 3 }).map((all) => `[${all}]`),
  ),
  object: fc
    .array(
      fc.tuple(
        fc.oneof(text, fc.constantFrom('"content"', '"type"', '"metadata"', '"tools"', '"parameters"')),
        space,
        tie('value'),
      ),
      { maxLength: 4 },
    )
    .map((members) => `{${members.map(([key, blank, inner]) => `${key}${blank}:${inner}`)}}`),
}))

/** Long enough for the full search. */
const padding = 'x'.repeat(2 ** 14)

test('the quick search in short requests finds everything that the full search finds', () => {
  const found = { something: 0 }
  fc.assert(
    fc.property(value, (inner) => {
      const short = `{"messages":[${inner}]}`
      const walked = rejectionOf(`{"messages":[${inner}],"pad":"${padding}"}`)
      expect(rejectionOf(short)).toEqual(walked)
      if (walked.length > 0) found.something++
    }),
    { numRuns: 3_000 },
  )
  expect(found.something).toBeGreaterThan(300)
})

test('the quick search for ids does, too', () => {
  const paddingBeyond = 'x'.repeat(2 ** 20)
  fc.assert(
    fc.property(value, (inner) => {
      const places = (json: string) => objectReferences(readJson(json)).map(({ param }) => param)
      expect(places(`{"input":[${inner}]}`)).toEqual(places(`{"input":[${inner}],"pad":"${paddingBeyond}"}`))
    }),
    { numRuns: 300 },
  )
})

test('a text that looks like a URL at each of its quotes is searched in linear time', () => {
  for (const filler of ['\\"', '\\\\', '\\n', '.', 'as ', '"," ', 'url" ', '" ']) {
    const content =
      filler === '"," ' ? '.","'.repeat(3_000) : filler.replaceAll('" ', '\\" ').repeat(12_000 / filler.length)
    const request = `{"messages":["${content}"]}`
    rejectionOf(request)
    // Not the time, which depends on what else the machine does.
    const before = process.cpuUsage()
    for (let nth = 0; nth < 20; nth++) rejectionOf(request)
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000)
  }
})
