import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { JsonError, turns } from '../../plugins/shared/json/json.ts'
import { parseLossless } from '../../plugins/shared/json/lossless.ts'
import { parseJsonInTurns } from '../../plugins/shared/json/parse-in-turns.ts'

/** More keys and values than one step takes. */
const many = 20_000

const list = <V>(length: number, each: (nth: number) => V): V[] => Array.from({ length }, (_, nth) => each(nth))
const objectOf = (members: readonly string[]) => `{${members.join(',')}}`

const texts: Record<string, string> = {
  'many keys': objectOf(list(many, (nth) => `"${nth}k":${nth}`)),
  'many keys that are indices': objectOf(list(many, (nth) => `"${many - nth}":1`)),
  'many elements': ` [ ${list(3 * many, (nth) => nth).join(' , ')} ] `,
  'many numbers that JSON.parse rounds': `[${list(many, (nth) => `1.${nth}0,12345678901234567890`).join(',')}]`,
  'keys that occur twice': objectOf(list(2 * many, (nth) => `"${nth % many}k":${nth}`)),
  'long strings': JSON.stringify(list(8, (nth) => `${nth}é"\\\n`.repeat(50_000))),
  'objects in objects': JSON.stringify(
    list(30, (nth) => ({ nth, values: list(many / 20, (at) => ({ at, inner: [{}, [], null, true] })) })),
  ),
  'a large value between small ones': `{"a":1,"b":${JSON.stringify({ c: list(many, (nth) => ({ nth })) })},"d":[2],"a":3}`,
  'large values only': `[${list(3, () => `[${list(many, () => '"\\u00e9"').join(',')}]`).join(',')}]`,
  'deep levels': `${'[1,'.repeat(3 * many)}2${']'.repeat(3 * many)}`,
  'an emoji in many keys': objectOf(list(many, (nth) => `"${nth}\u{1f600}":"\u{1f600}"`)),
}

for (const [name, text] of Object.entries(texts)) {
  test(`${name}: the value of several turns is that of one`, async () => {
    const before = turns.count
    const value = await parseJsonInTurns(text)
    expect(turns.count - before).toBeGreaterThan(2)
    // A comparison of so many levels would exceed the stack.
    const written = JSON.stringify(name === 'deep levels' ? 0 : value)
    expect(written).toBe(JSON.stringify(name === 'deep levels' ? 0 : parseLossless(text)))
    if (name === 'deep levels') for (let at = value, nth = 0; nth < 3 * many; nth++) at = (at as unknown[])[1]
  })
}

test('a key __proto__ becomes a member, and not the prototype', async () => {
  const text = objectOf([...list(many, (nth) => `"${nth}k":1`), '"__proto__":{"isAdmin":true}', '"last":2'])
  const large = `{"__proto__":${text}}`
  for (const source of [text, large]) {
    const value = (await parseJsonInTurns(source)) as object
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect('isAdmin' in value).toBe(false)
    expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(source)))
  }
})

test('any value is that of parseLossless', async () => {
  const numbers = fc.constantFrom('1', '-0', '1.50', '1e400', '12345678901234567890')
  const padding = `"padding":[${list(many, (nth) => nth).join(',')}]`
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ maxDepth: 6 }), numbers, async (value, number) => {
      const text = `{"before":${JSON.stringify(value)},${padding},"number":${number},"after":${JSON.stringify(value)}}`
      expect(JSON.stringify(await parseJsonInTurns(text))).toBe(JSON.stringify(parseLossless(text)))
    }),
    { numRuns: 60 },
  )
})

test('no step parses more than a small part of the text', async () => {
  const { parse } = JSON
  let longest = 0
  JSON.parse = (text, ...rest) => {
    longest = Math.max(longest, text.length)
    return parse(text, ...rest)
  }
  try {
    for (const name of ['many keys', 'many elements', 'objects in objects', 'a large value between small ones']) {
      longest = 0
      const text = `[${list(8, () => texts[name]).join(',')}]`
      await parseJsonInTurns(text)
      expect(longest).toBeGreaterThan(0)
      expect([name, longest < text.length / 8]).toEqual([name, true])
    }
  } finally {
    JSON.parse = parse
  }
})

test('a text that is not JSON, or exceeds a limit, is a JsonError', async () => {
  const reasonOf = (text: string, limits?: Parameters<typeof parseJsonInTurns>[1]) =>
    parseJsonInTurns(text, limits).catch((error: unknown) => error)
  const elements = list(many, () => 1).join(',')
  for (const text of ['', ' ', `[${elements}`, `[${elements},]`, `{"a":[${elements}]}}`, '[DONE]'])
    expect(await reasonOf(text)).toBeInstanceOf(JsonError)
  expect(await reasonOf(`[${elements}]`, { maxValues: many })).toBeInstanceOf(JsonError)
  expect(await reasonOf('[[[]]]', { maxDepth: 2 })).toBeInstanceOf(JsonError)
})
