import { expect, test } from 'bun:test'
import { runInTurns, valuesPerStep } from '../../plugins/shared/background/turns.ts'
import { readJson, turns } from '../../plugins/shared/json/json.ts'
import { indexed } from '../../plugins/shared/json/value-index.ts'
import { translateRequest } from '../../plugins/text-generation/bridge/request/chat-request.ts'
import { freeFunctionName } from '../../plugins/text-generation/chat/function-names.ts'
import { toChatRequest } from './in-one-step.ts'

const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }

/** The chat request for a conversation, and how many bytes of JSON its translation has read. */
const translate = (input: readonly object[]) => {
  const text = JSON.stringify({ model: 'm', input })
  const request = readJson(text)
  const before = indexed.bytes
  const { json } = toChatRequest(request)
  const [message, ...others] = (json.value() as { messages: { content: unknown }[] }).messages
  expect(others).toEqual([])
  return { content: message?.content, read: (indexed.bytes - before) / text.length }
}

test('messages of the model after a call are joined at once', () => {
  const texts = Array.from({ length: 300 }, (_, at) => ({ role: 'assistant', content: `${at} `.padEnd(100, 'x') }))
  const joined = translate([{ role: 'assistant', content: 'a' }, call, ...texts])
  expect(joined.content).toBe(`a${texts.map(({ content }) => content).join('')}`)
  expect(joined.read).toBeLessThan(3)

  const parts = ['x', 'y'].map((text) => ({ type: 'output_text', text }))
  const listed = translate([
    { role: 'assistant', content: 'a' },
    call,
    ...texts.map((each) => ({ ...each, content: parts })),
  ])
  expect(listed.content).toHaveLength(601)
  expect(listed.read).toBeLessThan(3)
})

test('a long name of a tool is read once, however many of its short names are taken', () => {
  let reads = 0
  let taken = 1_000
  const tool = {
    kind: 'function' as const,
    get name() {
      reads++
      return 'x'.repeat(100)
    },
  }
  expect(freeFunctionName(tool, { has: () => taken-- > 0 })).toMatch(/^x{55}_[0-9a-f]{8}$/)
  expect(reads).toBeLessThan(5)
})

test('an error quotes no more than the beginning of a value', () => {
  const type = '\u{1f600}'.repeat(1_000)
  for (const request of [
    { input: [{ type }] },
    { input: 'x', include: [type] },
    { input: [{ role: type, content: 'x' }] },
    { input: 'x', tools: [{ type: 'namespace', name: 'n', tools: [{ type }] }] },
  ]) {
    let message = ''
    try {
      toChatRequest(readJson(JSON.stringify({ model: 'm', ...request })))
    } catch (error) {
      ;({ message } = error as Error)
    }
    expect(message.length).toBeGreaterThan(100)
    expect(message.length).toBeLessThan(300)
    expect(message.isWellFormed()).toBe(true)
  }
})

test('a request with many items is translated over several turns of the event loop, to the same chat request', async () => {
  const input = Array.from({ length: 2_600 }, (_, n) => ({ role: n % 2 ? 'assistant' : 'user', content: `text ${n}` }))
  const request = readJson(JSON.stringify({ model: 'm', input }))
  const before = turns.count
  const { json } = await runInTurns(translateRequest(request))
  expect(turns.count - before).toBe(3 + Math.floor(input.length / valuesPerStep))
  expect(json.raw).toBe(toChatRequest(request).json.raw)
})
