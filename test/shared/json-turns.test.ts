import { expect, test } from 'bun:test'
import {
  bytesPerTurn,
  composeArray,
  composeInTurns,
  composeObject,
  JsonError,
  joinStrings,
  quoteJson,
  readJson,
  readJsonInTurns,
  slicesOf,
  textInTurns,
  toJson,
  turns,
} from '../../plugins/shared/json/json.ts'

const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

test('a large document is parsed and assembled over several turns of the event loop', async () => {
  const bytes = encode(`{"a":"${'é'.repeat(4 * bytesPerTurn)}","b":1}`)
  const before = turns.count
  const json = await readJsonInTurns(bytes)
  expect(turns.count - before).toBe(8)
  const changed = json.with('stream', toJson(true))
  const composed = await composeInTurns(changed)
  expect(turns.count - before).toBe(16)
  expect(Buffer.compare(composed, changed.bytes)).toBe(0)
})

test('invalid UTF-8 is detected at every boundary of turns, without false errors', async () => {
  const start = '{"a":"'
  for (const character of ['é', '中', '\u{1f600}']) {
    const whole = encode(character)
    for (let before = 1; before <= whole.length; before++) {
      const bytes = encode(
        `${start}${'x'.repeat(bytesPerTurn - start.length - before)}${character}${'y'.repeat(100)}"}`,
      )
      expect((await readJsonInTurns(bytes)).get('a')?.string()?.length).toBeGreaterThan(bytesPerTurn - 20)
      for (let nth = 0; nth < whole.length; nth++) {
        const wrong = bytes.slice()
        wrong[bytesPerTurn - before + nth] = 0xff
        expect(await readJsonInTurns(wrong).catch((error) => error)).toBeInstanceOf(JsonError)
      }
    }
  }
  const late = encode(`${start}${'x'.repeat(2 * bytesPerTurn)}"}`)
  late[late.length - 3] = 0xc3
  expect(await readJsonInTurns(late).catch((error) => error)).toBeInstanceOf(JsonError)
})

test('assembling an unchanged document returns its text', async () => {
  const json = readJson('{"a":[1,2]}')
  expect(new TextDecoder().decode(await composeInTurns(json))).toBe('{"a":[1,2]}')
})

test('many short values and long texts are composed over several turns of the event loop', async () => {
  const turnsOf = async (json: ReturnType<typeof toJson>, value: unknown) => {
    const before = turns.count
    const text = new TextDecoder().decode(await composeInTurns(json))
    expect(JSON.parse(text)).toEqual(value)
    return turns.count - before
  }
  const short = Array.from({ length: 20_000 }, (_, nth) => `${nth} \u{1f600} `.padEnd(300, 'x'))
  const document = readJson(JSON.stringify(short))
  expect(await turnsOf(composeArray(document.elements()), short)).toBeGreaterThan(9)
  const long = '\u{1f600}'.repeat(bytesPerTurn)
  expect(await turnsOf(toJson(long), long)).toBeGreaterThan(6)
  const value = { a: `"\\\n${long}` }
  expect(await turnsOf(quoteJson(readJson(JSON.stringify(value))), JSON.stringify(value))).toBeGreaterThan(6)
})

test('a long text is escaped while it is composed, and not before', () => {
  const json = readJson(JSON.stringify({ a: 'x'.repeat(bytesPerTurn) }))
  const { stringify } = JSON
  let longest = 0
  JSON.stringify = ((value: unknown) => {
    longest = Math.max(longest, String(value).length)
    return stringify(value)
  }) as typeof stringify
  try {
    const quoted = quoteJson(json)
    expect(longest).toBe(0)
    expect(quoted.string()).toBe(json.raw)
    expect(longest).toBeWithin(2 ** 15, 2 ** 16 + 1)
  } finally {
    JSON.stringify = stringify
  }
})

test('strings are joined without a change of their values', () => {
  for (const texts of [
    [],
    ['a'],
    ['', ''],
    ['"', '\\', '\n'],
    ['\ud83d', '\ude00'],
    ['\u{1f600}'.repeat(9_000), 'é'],
  ]) {
    const strings = texts.map((text) => readJson(JSON.stringify({ text })).get('text') ?? toJson(''))
    expect(joinStrings(strings, '').string()).toBe(texts.join(''))
    expect(composeObject({ a: joinStrings(strings, '\\n') }).value()).toEqual({ a: texts.join('\n') })
  }
})

test('no slice of a text ends within a character', () => {
  for (const text of ['', 'abc', 'a\u{1f600}b\u{1f600}\u{1f600}', '\u{1f600}'.repeat(5)]) {
    for (const length of [2, 3, 4]) {
      const slices = [...slicesOf(text, length)]
      expect(slices.join('')).toBe(text)
      for (const slice of slices) expect([slice.isWellFormed(), slice.length <= length]).toEqual([true, true])
    }
  }
})

test('the text of a large value is decoded over several turns of the event loop, without divided characters', async () => {
  for (const character of ['x', 'é', '中', '\u{1f600}']) {
    const text = `"a${character.repeat(3 * bytesPerTurn)}"`
    const json = readJson(text)
    const start = turns.count
    await composeInTurns(json)
    const composed = turns.count - start
    expect(await textInTurns(json)).toBe(text)
    // The last step of a text of a multiple of the bytes of a turn is short.
    const length = new TextEncoder().encode(text).length
    expect(turns.count - start - 2 * composed).toBeGreaterThanOrEqual(Math.ceil(length / bytesPerTurn) - 1)
  }
})
