import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type OpenAI from 'openai'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { call, clientOf, dataOf, MODEL, post } from './text-client.ts'

let now = Date.UTC(2026, 0)
let emulator: Emulator
let client: OpenAI

beforeAll(async () => {
  emulator = await startEmulator({ clock: () => now, text: { queuedMs: 1000, backgroundMs: 4000 } })
  client = clientOf(emulator)
})
afterAll(() => emulator.stop())
beforeEach(() => emulator.text.objects.clear())

const begin = (input: string, more: object = {}) =>
  client.responses.create({ model: MODEL, input, background: true, ...more }) as Promise<OpenAI.Responses.Response>
const stateOf = async (id: string) => {
  const { status, usage, output, background } = await client.responses.retrieve(id)
  return { status, background, used: usage !== null, items: output.length }
}

describe('a background response', () => {
  test('is queued, then in progress, then completed with its usage', async () => {
    const { id, status, output, usage } = await begin('hi')
    expect([status, output, usage]).toEqual(['queued', [], null as never])
    now += 999
    expect(await stateOf(id)).toEqual({ status: 'queued', background: true, used: false, items: 0 })
    now += 1
    expect(await stateOf(id)).toEqual({ status: 'in_progress', background: true, used: false, items: 0 })
    now += 3999
    expect((await stateOf(id)).status).toBe('in_progress')
    now += 1
    expect(await stateOf(id)).toEqual({ status: 'completed', background: true, used: true, items: 1 })
  })

  test('is incomplete when the token limit truncates it', async () => {
    const { id } = await begin('hi', { max_output_tokens: 3 })
    now += 5000
    expect((await stateOf(id)).status).toBe('incomplete')
  })

  test('stays cancelled, and cancelling a completed response has no effect', async () => {
    const { id } = await begin('hi')
    expect((await client.responses.cancel(id)).status).toBe('cancelled')
    now += 9000
    expect((await client.responses.cancel(id)).status).toBe('cancelled')
    expect(await stateOf(id)).toMatchObject({ status: 'cancelled', used: false, items: 0 })
    const done = await begin('hi')
    now += 5000
    expect((await client.responses.cancel(done.id)).status).toBe('completed')
  })

  test('adds its output to the context only when it has completed', async () => {
    const { id } = await begin('mango')
    const items = async () => (await call(emulator, 'GET', `/responses/${id}/input_items`)).json.data.length
    expect(await items()).toBe(1)
    now += 5000
    const { input_tokens = 0 } = (await begin('kiwi', { previous_response_id: id, background: false })).usage ?? {}
    const other = await begin('mango')
    const early = await begin('kiwi', { previous_response_id: other.id, background: false })
    expect(early.usage?.input_tokens).toBeLessThan(input_tokens)
  })
})

describe('a stream of a background response', () => {
  const types = (text: string) => dataOf(text).map((event) => event.type)

  test('follows the response to its end, and can be read again after any event', async () => {
    const body = { model: MODEL, input: 'hi', background: true, stream: true }
    const following = post(emulator, '/responses', body)
    const reader = setInterval(() => {
      now += 500
    }, 5)
    const { text } = await following
    clearInterval(reader)
    const seen = dataOf(text)
    expect(types(text).slice(0, 3)).toEqual(['response.created', 'response.queued', 'response.in_progress'])
    expect(seen.map((event) => event.sequence_number)).toEqual(seen.map((_, index) => index))
    expect(seen.at(-1)).toMatchObject({ type: 'response.completed', response: { background: true } })
    const { id } = seen[0].response
    const again = async (query: string) => (await call(emulator, 'GET', `/responses/${id}?stream=true${query}`)).text
    expect(await again('')).toBe(text)
    expect(dataOf(await again('&starting_after=2'))).toEqual(seen.slice(3))
    expect((await call(emulator, 'GET', `/responses/${id}?stream=true&starting_after=-1`)).json.error.param).toBe(
      'starting_after',
    )
  })

  test('can be resumed by the official client', async () => {
    const { id } = await begin('hi', { stream: false })
    expect((await call(emulator, 'GET', `/responses/${id}?stream=true`)).json.error).toMatchObject({ param: 'stream' })
    const stream = await client.responses.create({ model: MODEL, input: 'hi', background: true, stream: true })
    let last: OpenAI.Responses.ResponseStreamEvent | undefined
    for await (const event of stream) {
      last = event
      if (event.type === 'response.queued') break
    }
    expect(last?.type).toBe('response.queued')
    now += 5000
    const resumed = (last as { response: { id: string } }).response.id
    const rest = await client.responses.retrieve(resumed, { stream: true, starting_after: 1 })
    const seen: string[] = []
    for await (const event of rest) seen.push(event.type)
    expect([seen[0], seen.at(-1)]).toEqual(['response.in_progress', 'response.completed'])
  })

  test('ends when the response is cancelled or deleted', async () => {
    for (const end of [(id: string) => client.responses.cancel(id), (id: string) => client.responses.delete(id)]) {
      const stream = await client.responses.create({ model: MODEL, input: 'hi', background: true, stream: true })
      const seen: string[] = []
      for await (const event of stream) {
        seen.push(event.type)
        if (event.type === 'response.queued') await end(event.response.id)
      }
      expect(seen).toEqual(['response.created', 'response.queued'])
    }
  })
})
