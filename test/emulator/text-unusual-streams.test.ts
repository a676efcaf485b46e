import { describe, expect, test } from 'bun:test'
import type { TextFaultKind } from '../../src/emulator/index.ts'
import { chat, dataOf, MODEL, post } from './text-client.ts'
import {
  chatWire,
  contentUnder,
  count,
  emulator,
  nonStreamingWire,
  normalContent,
  RESPONSE,
  responseWire,
  STREAM,
  useEmulator,
} from './text-faults.ts'

useEmulator()

/** Removes ids and times, which differ between calls. */
const bare = (text: string) => text.replaceAll(/_[0-9a-f]{24}|-[0-9a-f]{24}|"created\w*":\d+/g, '')
const key = () => ({ authorization: `Bearer ${emulator.text.key}` })

describe('unusual streams', () => {
  const HARMLESS: readonly TextFaultKind[] = [
    { kind: 'no-done' },
    { kind: 'done-twice' },
    { kind: 'comments' },
    { kind: 'named-events' },
    { kind: 'crlf' },
    { kind: 'crlf', ending: '\r' },
    { kind: 'split' },
    { kind: 'split', bytes: 1 },
    { kind: 'bom' },
    { kind: 'no-content-type' },
    { kind: 'usage-on-every-chunk' },
    { kind: 'no-usage' },
    { kind: 'extra-fields' },
    { kind: 'big-event', bytes: 300_000 },
    { kind: 'keepalive-events' },
  ]
  for (const fault of HARMLESS) {
    test(`the official client reads the same content under ${JSON.stringify(fault)}`, async () => {
      expect(await contentUnder(fault)).toBe(await normalContent())
      expect(emulator.faults.list()[0]?.hits).toBe(1)
    })
  }

  const bodies = async (fault: TextFaultKind, body?: object) => {
    emulator.faults.add({ ...fault, times: 2 })
    const [chats, responses] = [(await chatWire()).body, (await responseWire(body)).body]
    emulator.faults.clear()
    return [chats, responses] as const
  }
  test('[DONE] is omitted, sent in both APIs, or sent twice', async () => {
    const dones = async (fault: TextFaultKind) => (await bodies(fault)).map((body) => count(body, 'data: [DONE]\n\n'))
    expect(await dones({ kind: 'comments' })).toEqual([1, 0])
    expect(await dones({ kind: 'no-done' })).toEqual([0, 0])
    expect(await dones({ kind: 'done' })).toEqual([1, 1])
    expect(await dones({ kind: 'done-twice' })).toEqual([2, 2])
  })

  test('comments, empty data lines and keepalive events precede every event', async () => {
    const plain = (await chatWire()).body
    const events = count(plain, '\n\n')
    expect(count((await bodies({ kind: 'comments', text: 'x' }))[0], ': x\n\n')).toBe(events)
    expect(count((await bodies({ kind: 'empty-data-lines' }))[0], 'data:\n\n')).toBe(events)
    const [chats, responses] = await bodies({ kind: 'keepalive-events' })
    expect(count(chats, 'event: keepalive\n')).toBe(events)
    const seen = dataOf(responses)
    expect(seen[0]).toEqual({ type: 'keepalive', sequence_number: 0 })
    expect(seen.map((event) => event.sequence_number)).toEqual(seen.map((_, index) => index))
  })

  test('named-events, crlf and bom change the framing only', async () => {
    const plain = await chatWire()
    expect(count((await bodies({ kind: 'named-events' }))[0], 'event: chat.completion.chunk\n')).toBe(
      count(plain.body, '"object"'),
    )
    emulator.faults.add({ kind: 'crlf' })
    const [crlf] = [(await chatWire()).body]
    expect(bare(crlf.replaceAll('\r\n', '\n'))).toBe(bare(plain.body))
    expect(crlf.replaceAll('\r\n', '')).not.toContain('\n')
    emulator.faults.add({ kind: 'bom', times: 2 })
    const withBom = await chatWire()
    expect([withBom.body[0], bare(withBom.body.slice(1))]).toEqual(['\uFEFF', bare(plain.body)])
    const { body, end } = await nonStreamingWire()
    expect([body.startsWith('\uFEFF{'), body.endsWith('}'), end]).toEqual([true, true, 'whole'])
  })

  test('split sends chunks that end within events and characters', async () => {
    const plain = await chatWire()
    emulator.faults.add({ kind: 'split', bytes: 5 })
    const split = await chatWire()
    expect(bare(split.body)).toBe(bare(plain.body))
    expect(Math.max(...split.chunks.map((chunk) => chunk.length))).toBe(5)
    expect(Math.min(...split.chunks.map((chunk) => chunk.length))).toBe(1)
    expect(split.chunks.some((chunk) => chunk.toString().includes('\uFFFD'))).toBe(true)
  })

  test('Content-Type is omitted, streaming requests get JSON, and non-streaming requests get a stream', async () => {
    emulator.faults.add({ kind: 'no-content-type' })
    const bare = await chatWire()
    expect([bare.head.toLowerCase().includes('content-type'), bare.end]).toEqual([false, 'whole'])
    emulator.faults.add({ kind: 'json-to-stream', times: 2 })
    expect((await post(emulator, '/chat/completions', STREAM)).json.object).toBe('chat.completion')
    expect((await post(emulator, '/responses', RESPONSE)).json.object).toBe('response')
    emulator.faults.add({ kind: 'stream-to-json', times: 2 })
    expect(dataOf((await post(emulator, '/chat/completions', chat('x'))).text).at(-1)).toBe('[DONE]')
    const { text } = await post(emulator, '/responses', { model: MODEL, input: 'x' })
    expect(dataOf(text).at(-1).type).toBe('response.completed')
  })

  test('usage is on every chunk, or on none', async () => {
    const [counted] = await bodies({ kind: 'usage-on-every-chunk' })
    const totals = dataOf(counted)
      .slice(0, -1)
      .map((chunk) => chunk.usage.completion_tokens)
    expect(totals).toEqual([...totals].sort((a, b) => a - b))
    const { json } = await post(emulator, '/chat/completions', chat('hello 世界'))
    expect([totals[0], totals.at(-1)]).toEqual([0, json.usage.completion_tokens])
    const [silent, response] = await bodies({ kind: 'no-usage' })
    expect(silent).not.toContain('usage')
    expect(dataOf(silent).every((chunk) => chunk === '[DONE]' || chunk.choices.length === 1)).toBe(true)
    expect(dataOf(response).at(-1).response.usage).toBeNull()
  })

  test('deltas of tool calls lack their index, or arguments have no deltas', async () => {
    const tool = {
      name: 'weather',
      parameters: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
    }
    const tools = [{ type: 'function', function: tool }]
    emulator.faults.add({ kind: 'tool-delta-without-index' })
    const body = chat('call weather, call weather', { tools, stream: true })
    const { text } = await post(emulator, '/chat/completions', body)
    const deltas = dataOf(text).flatMap((chunk) => chunk.choices?.[0].delta.tool_calls ?? [])
    expect(deltas.some((delta) => 'index' in delta)).toBe(false)
    const args = deltas.map((delta) => (delta.id ? '|' : '') + delta.function.arguments).join('')
    expect(args).toMatch(/^\|\{"a":"[^|]+"\}\|\{"a":"[^|]+"\}$/)
    const flat = { ...RESPONSE, input: 'call weather', tools: [{ type: 'function', ...tool }] }
    const events = dataOf((await bodies({ kind: 'arguments-only-in-done' }, flat))[1])
    expect(events.some((event) => event.type.endsWith('.delta'))).toBe(false)
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index))
    expect(JSON.parse(events.find((event) => event.type.endsWith('arguments.done')).arguments)).toHaveProperty('a')
  })

  test('unknown fields are at every level, one of them a number too large for JavaScript', async () => {
    const [chats, responses] = await bodies({ kind: 'extra-fields' })
    expect(count(chats, '"x_number":12345678901234567890')).toBe(count(chats, '"object"'))
    expect(count(chats, '"x_extra"')).toBeGreaterThan(2 * count(chats, '"object"'))
    expect(count(responses, '"x_number":12345678901234567890')).toBe(count(responses, '\n\n'))
  })

  test('one chunk has both reasoning and content, and no text is lost', async () => {
    const joined = (text: string, field: string) =>
      dataOf(text)
        .map((chunk) => chunk.choices?.[0]?.delta[field] ?? '')
        .join('')
    const body = { ...STREAM, model: 'emulated-reasoner' }
    const { text: plain } = await post(emulator, '/chat/completions', body)
    emulator.faults.add({ kind: 'reasoning-in-content-chunk' })
    const { text } = await post(emulator, '/chat/completions', body)
    const both = dataOf(text).filter(({ choices }) => choices?.[0]?.delta.content && choices[0].delta.reasoning_content)
    expect(both.length).toBe(1)
    for (const field of ['content', 'reasoning_content']) expect(joined(text, field)).toBe(joined(plain, field))
    expect(dataOf(text).length).toBe(dataOf(plain).length - 1)
  })

  test('one event is very large', async () => {
    const [chats, responses] = await bodies({ kind: 'big-event', bytes: 200_000 })
    for (const body of [chats, responses]) {
      const [first = '', ...others] = body.split('\n\n')
      expect(first.length).toBeGreaterThanOrEqual(200_000)
      expect(Math.max(...others.map((event) => event.length))).toBeLessThan(20_000)
    }
  })

  test('several faults apply to one call', async () => {
    for (const kind of ['comments', 'crlf', 'split', 'no-done'] as const) emulator.faults.add({ kind })
    emulator.faults.add({ kind: 'cut', events: 3, how: 'clean' })
    const { body, chunks, end } = await chatWire()
    expect([dataOf(body.replaceAll('\r', '')).length, count(body, ': ping\r\n\r\n'), end]).toEqual([3, 3, 'whole'])
    expect(Math.max(...chunks.map((chunk) => chunk.length))).toBe(3)
  })
})

describe('scripted responses', () => {
  test('a script is sent byte for byte to the next call that generates', async () => {
    const released = Promise.withResolvers<void>()
    const chunks = [
      'data: {"a',
      Buffer.from([0xe4, 0xbd]),
      { wait: 1 },
      { wait: released.promise },
      Buffer.from([0xa0]),
      '"}\n',
    ]
    const handle = emulator.text.respondWith({ headers: { 'content-type': 'text/plain' }, status: 203, chunks })
    expect((await fetch(`${emulator.text.url}/models`, { headers: key() })).status).toBe(200)
    const pending = chatWire()
    await handle.waitForHits()
    released.resolve()
    const { head, body, end } = await pending
    expect([body, end]).toEqual(['data: {"a你"}\n', 'whole'])
    expect(head).toMatch(/^HTTP\/1.1 203 .*content-type: text\/plain/is)
    expect((await nonStreamingWire()).body).toContain('chat.completion')
  })

  test('a script can depend on the call, skip calls, and end with a reset or a cut', async () => {
    emulator.text.respondWith((call) => ({ chunks: [`${call.action} ${call.json ? 'json' : ''}`], end: 'reset' }), {
      after: 1,
    })
    emulator.text.respondWith({ chunks: ['x'], end: 'cut' }, { action: 'CreateResponse' })
    expect((await nonStreamingWire()).end).toBe('whole')
    expect(await nonStreamingWire()).toMatchObject({ body: 'CreateChatCompletion json', end: 'ECONNRESET' })
    expect(await responseWire()).toMatchObject({ body: 'x', end: 'end' })
  })

  test('an endless script is generated with backpressure', async () => {
    let generated = 0
    const chunks = (function* () {
      for (;;) {
        generated++
        yield Buffer.alloc(65_536)
      }
    })()
    emulator.text.respondWith({ chunks })
    const controller = new AbortController()
    const response = await fetch(`${emulator.text.url}/responses`, {
      ...{ method: 'POST', headers: { ...key(), 'content-type': 'application/json' } },
      ...{ body: JSON.stringify(RESPONSE), signal: controller.signal },
    })
    const reader = response.body?.getReader()
    await reader?.read()
    let before = -1
    while (before !== generated) {
      before = generated
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    expect(generated).toBeLessThan(400)
    controller.abort()
    await reader?.cancel().catch(() => undefined)
    while (!emulator.calls[0]?.aborted) await new Promise((resolve) => setImmediate(resolve))
    const afterAbort = generated
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(generated).toBe(afterAbort)
  })

  test('text faults can be added over HTTP', async () => {
    const control = (body: object) =>
      fetch(`${emulator.origin}/_emulator/faults`, { method: 'POST', body: JSON.stringify(body) })
    expect(
      (await control({ kind: 'script', script: { chunks: ['data: x\n\n', { wait: 1 }, 'data: y\n\n'] } })).status,
    ).toBe(201)
    expect((await chatWire()).body).toBe('data: x\n\ndata: y\n\n')
    await control({ kind: 'cut', events: 1, action: 'CreateResponse' })
    expect(dataOf((await responseWire()).body).length).toBe(1)
    expect((await control({ kind: 'script' })).status).toBe(400)
  })
})
