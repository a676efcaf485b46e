import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { clientOf, dataOf, post } from './text-client.ts'

let emulator: Emulator
let client: ReturnType<typeof clientOf>

beforeAll(async () => {
  emulator = await startEmulator()
  client = clientOf(emulator)
})
afterAll(() => emulator.stop())

const MODEL = 'emulated-instruct'
const complete = (prompt: unknown, more: object = {}) =>
  post(emulator, '/completions', { model: MODEL, prompt, ...more })

describe('text completions', () => {
  test('generate 16 tokens by default, one choice for each prompt and each n', async () => {
    const { json } = await complete(['hello', 'there'], { n: 2 })
    expect(json).toMatchObject({ object: 'text_completion', model: MODEL, id: expect.stringMatching(/^cmpl-/) })
    expect(json.choices.map((choice: { index: number }) => choice.index)).toEqual([0, 1, 2, 3])
    expect(json.choices[2].text).toContain('“there')
    expect(json.choices[0]).toMatchObject({ finish_reason: 'length', logprobs: null })
    expect(json.usage).toMatchObject({ completion_tokens: 64 })
    expect((await complete([1, 2, 3])).json.choices[0].text).toContain('“1 2')
  })

  test('respect stop, echo and logprobs', async () => {
    const stopped = await complete('hello', { stop: ['wrote'], max_tokens: 90, echo: true, logprobs: 2 })
    const [choice] = stopped.json.choices
    expect(choice).toMatchObject({ text: 'helloYou ', finish_reason: 'stop' })
    expect(choice.logprobs.tokens.join('')).toBe(choice.text)
    expect(choice.logprobs.text_offset).toEqual([0, 5, 8])
    expect(Object.keys(choice.logprobs.top_logprobs[0])).toHaveLength(2)
  })

  test('stream the same text as the official client reads, and the usage if asked', async () => {
    const body = { prompt: 'hello', max_tokens: 40 }
    const whole = (await complete(body.prompt, body)).json
    let text = ''
    for await (const chunk of await client.completions.create({ ...body, model: MODEL, stream: true }))
      text += chunk.choices[0]?.text
    expect(text).toBe(whole.choices[0].text)
    const streamed = await complete('hello', { ...body, stream: true, stream_options: { include_usage: true } })
    const events = dataOf(streamed.text)
    expect(events.at(-1)).toBe('[DONE]')
    expect(events.at(-2)).toMatchObject({ choices: [], usage: whole.usage })
    expect(events.at(-3).choices[0]).toMatchObject({ text: '', finish_reason: 'length' })
  })

  test('have their rules', async () => {
    for (const [more, status, param, message] of [
      [{ prompt: undefined }, 400, 'prompt', 'Missing required parameter'],
      [{ prompt: [{}] }, 400, 'prompt', 'Invalid type'],
      [{ best_of: 1, n: 2 }, 400, 'best_of', 'more choices'],
      [{ logprobs: 6 }, 400, 'logprobs', 'above maximum'],
      [{ model: 'emulated-wide' }, 404, 'model', 'This is a chat model and not supported'],
    ] as const) {
      const { status: got, json } = await complete('x', more)
      expect([got, json.error.param, json.error.message]).toEqual([status, param, expect.stringContaining(message)])
    }
  })
})

describe('embeddings', () => {
  const model = 'emulated-embedding'
  const vectorsOf = async (input: string | string[], more: object = {}) =>
    (await client.embeddings.create({ model, input, ...more })).data.map(({ embedding }) => embedding)
  const dot = (a: readonly number[] = [], b: readonly number[] = []) =>
    a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0)

  test('are vectors of length 1 that depend only on the text, nearer for texts that share words', async () => {
    const [cats, dogs, stocks] = await vectorsOf(['my cat sleeps', 'my dog sleeps', 'shares rise'])
    expect(cats).toHaveLength(1536)
    expect(dot(cats, cats)).toBeCloseTo(1, 5)
    expect(dot(cats, dogs)).toBeGreaterThan(dot(cats, stocks) + 0.2)
    expect((await vectorsOf('my cat sleeps', { dimensions: 1536 }))[0]).toEqual(cats)
    expect((await vectorsOf('my cat sleeps', { dimensions: 8 }))[0]).toHaveLength(8)
  })

  test('are numbers or base64, and count their tokens', async () => {
    const send = async (more: object) => (await post(emulator, '/embeddings', { model, input: 'hello', ...more })).json
    const floats = await send({ dimensions: 4 })
    expect(floats).toMatchObject({ object: 'list', model, data: [{ object: 'embedding', index: 0 }] })
    expect(floats.usage).toEqual({ prompt_tokens: 2, total_tokens: 2 })
    const { embedding } = (await send({ dimensions: 4, encoding_format: 'base64' })).data[0]
    const bytes = Uint8Array.from(Buffer.from(embedding, 'base64'))
    expect([...new Float32Array(bytes.buffer)]).toEqual(floats.data[0].embedding)
    expect((await send({ input: [[1, 2], [3]] })).usage.prompt_tokens).toBe(3)
  })

  test('have their rules', async () => {
    for (const [more, status, message] of [
      [{ input: undefined }, 400, "Missing required parameter: 'input'"],
      [{ input: [] }, 400, 'expected an array with 1 to 2048 elements'],
      [{ input: ['x', ''] }, 400, 'input cannot be an empty string'],
      [{ input: { text: 'x' } }, 400, 'Invalid type'],
      [{ input: 'x '.repeat(9000) }, 400, 'maximum input length is 8192 tokens'],
      [{ encoding_format: 'int' }, 400, 'Supported values are'],
      [{ model: 'emulated-wide' }, 403, 'You are not allowed to generate embeddings from this model'],
    ] as const) {
      const { status: got, json } = await post(emulator, '/embeddings', { model, input: 'x', ...more })
      expect([got, json.error.message]).toEqual([status, expect.stringContaining(message)])
    }
  })
})
