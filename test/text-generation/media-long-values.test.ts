import { describe, expect, test } from 'bun:test'
import { bytesPerTurn, readJson, turns } from '../../plugins/shared/json/json.ts'
import { assetsIn, assetsInTurns } from '../../plugins/shared/media/media-fields.ts'
import { checkChatRequest } from './in-one-step.ts'

const picture = 'iVBORw0KGgoA'
const long = 'QUJD'.repeat(40_000)

/** Values as JSON text, and whether a media field accepts them. */
const media: readonly (readonly [text: string, field: string, may: boolean])[] = [
  [`${picture}${long}`, 'image', true],
  [`${picture}${long}QUI=`, 'image', true],
  [`${picture}${long}QQ==`, 'image', true],
  [`${picture}${long}\\/\\/\\/A`, 'image', true],
  [`data:image\\/png;base64,${long}`, 'image', true],
  [`\\u0064ata:,${long}`, 'image', true],
  [`${picture}${long}Q`, 'image', false],
  [`${picture}${long}QUI!`, 'image', false],
  [`${picture}${long}=QUI`, 'image', false],
  [`${picture}${long}Q===`, 'image', false],
  [`${picture}${long}\\n\\nQUJD`, 'image', false],
  [`${picture}${long}\\u0041QUI`, 'image', false],
  [`${picture},asset://x${long}`, 'image', false],
  [`https://files.example/${long}`, 'image', false],
  [`${long}`, 'image', false],
  [`${long}`, 'image_data', true],
  [`asset://${long}`, 'image_data', false],
  [`${' '.repeat(200_000)}asset://x`, 'image', false],
]

describe('a value that is too long for a URL must be complete media content', () => {
  for (const [text, field, may] of media) {
    test(`${text.slice(0, 24)}…${text.slice(-8)} as ${field}`, async () => {
      const request = readJson(`{"x":{"${field}":"${text}"}}`)
      const rejection = expect.objectContaining({ status: 400, param: `x.${field}` })
      if (may) expect(assetsIn(request)).toEqual([])
      else expect(() => assetsIn(request)).toThrow(rejection)
      const inTurns = await (async () => assetsInTurns(request))().catch((error: unknown) => error)
      expect(inTurns).toEqual(may ? [] : rejection)
    })
  }
})

test('content of megabytes is checked over several turns of the event loop', async () => {
  const request = readJson(`{"image":"${picture}${'QUJD'.repeat(bytesPerTurn)}"}`)
  const before = turns.count
  expect(await assetsInTurns(request)).toEqual([])
  expect(turns.count - before).toBeGreaterThanOrEqual(4)
})

test('a value that is too long for an enum is not decoded', () => {
  const escapes = '\\\\'.repeat(70_000)
  const ask = (request: string) => () => checkChatRequest(readJson(request))
  expect(ask(`{"model":"${escapes}"}`)).toThrow('model is too long')
  expect(ask(`{"model":"m","messages":[{"role":"${escapes}"}]}`)).toThrow('messages[0].role must be one of')
  expect(ask(`{"model":"m","messages":[{"role":"tool","content":"x","tool_call_id":""}]}`)).toThrow('non-empty')
})
