import { expect, test } from 'bun:test'
import {
  bytesPerTurn,
  composeInTurns,
  JsonError,
  readJson,
  readJsonInTurns,
  toJson,
  turns,
} from '../../plugins/shared/json.ts'

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
