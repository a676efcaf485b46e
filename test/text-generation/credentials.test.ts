import { describe, expect, test } from 'bun:test'
import { openApp } from './fixture.ts'

const key = 'the-upstream-key'
const messages = [{ role: 'user', content: 'hi' }]
const escaped = [...key].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
const disguises = [key, escaped, Buffer.from(`key:${key}`).toString('base64'), key.replaceAll('-', '%2D')]
const completion = (content: string) =>
  `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"${content}"},"finish_reason":"stop"}]}`
const chunk = (content: string, end = 'null') =>
  `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"${content}"},"finish_reason":${end}}]}\n\n`
const stream = (...contents: string[]) =>
  `${contents.map((content) => chunk(content)).join('')}${chunk('', '"stop"')}data: [DONE]\n\n`
const answering = (body: string, type: string, headers: Record<string, string> = {}) =>
  openApp(() => new Response(body, { headers: { 'content-type': type, ...headers } }))

/** The response and its decoded forms, as a caller could read them. */
const readAll = async (response: Response) => {
  const text = await response.text()
  const all = text + JSON.stringify([...response.headers])
  expect(disguises.filter((form) => all.includes(form))).toEqual([])
  return { status: response.status, text }
}

const invalid = { status: 502, text: expect.stringContaining('upstream returned an invalid response') }

describe('a successful response that contains the upstream’s credential is not forwarded', () => {
  for (const form of disguises) {
    test(`${form.slice(0, 20)}: a non-streaming response, in body or headers, an assembled one, and one converted to a stream`, async () => {
      const plain = answering(completion(`it is ${form}`), 'application/json')
      expect(await readAll(await plain.post('/chat/completions', { model: 'm', messages }))).toEqual(invalid)
      expect(await readAll(await plain.post('/chat/completions', { model: 'm', messages, stream: true }))).toEqual(
        invalid,
      )
      const named = answering(completion('hi'), 'application/json', { 'x-request-id': form })
      expect(await readAll(await named.post('/chat/completions', { model: 'm', messages }))).toEqual(invalid)
      const streamed = answering(stream('it is ', form), 'text/event-stream')
      expect(await readAll(await streamed.post('/chat/completions', { model: 'm', messages }))).toEqual(invalid)
    })

    test(`${form.slice(0, 20)}: a list of models`, async () => {
      const app = answering(`{"object":"list","data":[{"id":"${form}"}]}`, 'application/json')
      expect(await readAll(await app.get('/models'))).toEqual(invalid)
    })

    test(`${form.slice(0, 20)}: a stream ends with an error after the events before it`, async () => {
      const app = answering(stream('it is ', form, ' indeed'), 'text/event-stream')
      const { status, text } = await readAll(
        await app.post('/chat/completions', { model: 'm', messages, stream: true }),
      )
      expect(status).toBe(200)
      expect(text).toStartWith(chunk('it is '))
      expect(text).toContain('"error"')
      expect(text).not.toContain('indeed')
      expect(text).not.toContain('[DONE]')
    })
  }

  test('also when it is split over several events', async () => {
    for (const form of disguises) {
      const pieces = form.match(/(?:\\u....|[^\\]){1,3}/g) ?? []
      expect(pieces.join('')).toBe(form)
      const app = answering(stream('it is ', ...pieces, ' indeed'), 'text/event-stream')
      const asked = await app.post('/chat/completions', { model: 'm', messages, stream: true })
      const text = await asked.text()
      expect(text).toContain('"error"')
      expect(text).not.toContain('indeed')
      expect(text).not.toContain(chunk(pieces.at(-1) ?? ''))
    }
  })

  test('also with events of another choice, reasoning or heartbeats in between, and for any member', async () => {
    const pieces = key.match(/.{1,3}/g) ?? []
    const event = (delta: object, index = 0) =>
      `data: ${JSON.stringify({ id: 'c', choices: [{ index, delta, finish_reason: null }] })}\n\n`
    const encodings: readonly ((piece: string) => string)[] = [
      (piece) => event({ content: piece }) + event({ content: 'else' }, 1),
      (piece) => event({ content: 'else' }, 1) + event({ content: piece }),
      (piece) => event({ reasoning_content: 'hm', content: piece }),
      (piece) => `${event({ content: piece })}: keep-alive\n\n`,
      (piece) => event({ tool_calls: [{ index: 0, function: { arguments: piece } }] }),
      (piece) => event({ tool_calls: [{ index: 0, custom: { input: piece } }] }),
      (piece) => event({ thinking: piece }),
      (piece) => event({ audio: { transcript: piece } }),
    ]
    for (const encode of encodings) {
      const text = pieces.map(encode).join('')
      const app = answering(text, 'text/event-stream')
      const relayed = await (await app.post('/chat/completions', { model: 'm', messages, stream: true })).text()
      expect(relayed).toContain('"error"')
      expect(relayed).not.toContain(`"${pieces.at(-1)}"`)
    }
    const delta = (text: string, output_index: number) =>
      `data: ${JSON.stringify({ type: 'response.output_text.delta', output_index, content_index: 0, delta: text })}\n\n`
    const app = answering(pieces.map((piece) => delta(piece, 0) + delta('else', 1)).join(''), 'text/event-stream')
    const relayed = await (await app.post('/responses', { model: 'm', input: 'hi', stream: true })).text()
    expect(relayed).not.toContain(`"delta":"${pieces.at(-1)}"`)
  })

  test('also in the responses protocol', async () => {
    const delta = (text: string, n: number) =>
      `event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":${n},"item_id":"i","output_index":0,"content_index":0,"delta":"${text}"}\n\n`
    const app = answering(delta('it is ', 1) + delta(key.slice(0, 5), 2) + delta(key.slice(5), 3), 'text/event-stream')
    const text = await (await app.post('/responses', { model: 'm', input: 'hi', stream: true })).text()
    expect(text).toContain('the-u')
    expect(text).not.toContain(key.slice(5))
    expect(text).toContain('error')
  })
})

test('a response without it passes byte for byte, with any escapes', async () => {
  const text = 'a \\u0074he-upstream \\/ %74he-upstream-ke \\"quoted\\" \\\\'
  const plain = answering(completion(text), 'application/json')
  expect(await (await plain.post('/chat/completions', { model: 'm', messages })).text()).toBe(completion(text))
  const streamed = answering(stream(text, '\\"', '\\\\', text), 'text/event-stream')
  const relayed = await streamed.post('/chat/completions', { model: 'm', messages, stream: true })
  expect(await relayed.text()).toBe(stream(text, '\\"', '\\\\', text))
})
