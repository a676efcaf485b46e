import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { anyCharacter } from '../support/any-character.ts'
import { block, idsIn, rejectionOf } from './media-requests.ts'

const escaped = (code: number) => `\\u${code.toString(16).padStart(4, '0')}`
/** A JSON string with some unnecessary escapes. */
const writtenAs = (text: string, mask: readonly boolean[]) =>
  `"${[...Array(text.length).keys()]
    .map((nth) => {
      const char = text.charAt(nth)
      return mask[nth % mask.length] || char < ' ' || char === '"' || char === '\\'
        ? escaped(text.charCodeAt(nth))
        : char
    })
    .join('')}"`

const mask = fc.array(fc.boolean(), { minLength: 1, maxLength: 12 })
const id = fc.stringMatching(/^[a-z0-9-]{1,8}$/)
const spelling = fc
  .tuple(
    fc.constantFrom('', ' ', '\t', '\0', '\u00a0', '"', '\u200b'),
    fc.array(fc.tuple(fc.boolean(), fc.constantFrom('', '', '', '\t', '\n', '\u200d')), { minLength: 6, maxLength: 6 }),
    fc.constantFrom('//', '/', ''),
  )
  .map(([before, letters, slashes]) => {
    const scheme = letters.map(([upper, gap], nth) => {
      const letter = 'asset:'.charAt(nth)
      return (upper ? letter.toUpperCase() : letter) + (nth < 5 ? gap : '')
    })
    return before + scheme.join('') + slashes
  })

const blank = fc.constantFrom('', ' ', '\n', '\t ')
const mediaKey = fc.constantFrom(
  'image_url',
  'video_url',
  'video',
  'url',
  'imageUrl',
  'input_image',
  'file',
  'frames',
  'images',
)
const anyKey = fc.oneof(mediaKey, fc.constantFrom('data', 'extra', 'x', 'type', 'a.b', '0', '__proto__', 'constructor'))
const filler = fc.constantFrom(
  'null',
  '1e400',
  '""',
  '"data:,\\\\"',
  '"data:,\\""',
  '"https://a/]}"',
  '[]',
  '{}',
  '{"a":[1,{"text":"}"}]}',
  'true',
)

/** A value nested some levels deep, as JSON text. */
const wrapping = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('array' as const), before: fc.array(filler, { maxLength: 2 }), blank }),
    fc.record({
      kind: fc.constant('object' as const),
      key: anyKey,
      mask,
      before: fc.array(filler, { maxLength: 2 }),
      blank,
    }),
  ),
  { maxLength: 5 },
)
type Wrapping = typeof wrapping extends fc.Arbitrary<infer Value> ? Value : never
const wrap = (inner: string, levels: Wrapping) =>
  levels.reduce((text, level) => {
    const gap = level.blank
    const parts = level.before
    if (level.kind === 'array') return `[${[...parts, text].map((part) => gap + part + gap).join(',')}]`
    const members = parts.map((part, nth) => `"f${nth}"${gap}:${gap}${part}`)
    return `{${[...members, `${writtenAs(level.key, level.mask)}${gap}:${text}`].map((part) => gap + part + gap).join(',')}}`
  }, inner)

describe('no position and no spelling hides an asset URL', () => {
  test('at a random position of a block in a random spelling it is found or rejected', () => {
    fc.assert(
      fc.property(spelling, id, mask, wrapping, mediaKey, mask, (scheme, id, mask, levels, key, keyMask) => {
        const block = `{${writtenAs(key, keyMask)}:${wrap(writtenAs(scheme + id, mask), levels)}}`
        for (const request of [
          `{"messages":[{"role":"user","content":[${block}]}]}`,
          `{"input":[{"role":"user","content":[${block}]}]}`,
          `{"extra":${block}}`,
        ]) {
          const found = rejectionOf(request)
          if (scheme === 'asset://' || found.length === 1) expect(found).toEqual([id])
          else expect(found).toEqual([400, expect.any(String)])
        }
      }),
      { seed: 43, numRuns: 1000 },
    )
  })

  test('below a media key no key is a text key', () => {
    const textKey = fc.constantFrom(
      'text',
      'content',
      'name',
      'title',
      'description',
      'input',
      'output',
      'metadata',
      'stop',
      'schema',
      'enum',
    )
    fc.assert(
      fc.property(mediaKey, fc.array(textKey, { minLength: 1, maxLength: 4 }), (key, below) => {
        const value = below.reduceRight<unknown>((inner, key) => ({ [key]: inner }), 'asset://x')
        expect(idsIn(block({ [key]: value }))).toEqual(['x'])
      }),
      { seed: 43, numRuns: 300 },
    )
  })

  test('in a text field it is never found', () => {
    const text = fc.tuple(spelling, fc.string({ unit: anyCharacter, maxLength: 12 })).map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, mask, (text, mask) => {
        const written = writtenAs(text, mask)
        expect(idsIn(`{"messages":[{"content":${written}},{"content":[{"type":"text","text":${written}}]}]}`)).toEqual(
          [],
        )
        expect(idsIn(`{"input":${written},"instructions":${written}}`)).toEqual([])
        expect(idsIn(`{"input":[{"content":[{"text":${written},"type":"input_text"}]}]}`)).toEqual([])
      }),
      { seed: 43, numRuns: 500 },
    )
  })

  test('the search ends for any JSON', () => {
    fc.assert(
      fc.property(wrapping, fc.json(), (levels, inner) => {
        // The escape prevents the quick path.
        const text = `{"a":${wrap(inner, levels)},"last":"\\u0061sset:end"}`
        const found = rejectionOf(text)
        if (found[0] !== 400) expect(found.at(-1)).toBe('end')
      }),
      { seed: 43, numRuns: 1000 },
    )
  })
})
