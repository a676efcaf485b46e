import { describe, expect, spyOn, test } from 'bun:test'
import { attachBody } from '../../plugins/shared/http/body/body.ts'
import { readJson, turns } from '../../plugins/shared/json/json.ts'
import { indexed } from '../../plugins/shared/json/value-index.ts'
import { textGeneration } from '../../plugins/text-generation/index.ts'
import { chunk, streaming } from './fixture.ts'
import { readMessagesRequest } from './in-one-step.ts'
import { minimal, openMessages } from './messages-fixture.ts'

const blocks = (count: number, block: string) => `[${Array.from({ length: count }, () => block).join(',')}]`
const withContent = (content: string, role = 'user') =>
  `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"${role}","content":${content}}]}`

describe('Hostile bodies:', () => {
  test('100,000 values are too many, 30,000 blocks are not', async () => {
    const app = openMessages()
    const few = await app.post('/messages', withContent(blocks(30_000, '{"type":"text","text":"x"}')))
    expect(few.status).toBe(200)
    expect(app.asked[0]?.json.messages).toHaveLength(1)
    const many = await app.post('/messages', withContent(blocks(100_000, '{"type":"text","text":"x"}')))
    expect([many.status, (await many.json()) as object]).toMatchObject([400, { type: 'error' }])
    for (const block of ['{}', 'null', '[]', '{"type":"tool_use"}', '{"type":{}}', '"x"']) {
      const response = await app.post('/messages', withContent(blocks(20_000, block), 'assistant'))
      expect([block, response.status]).toEqual([block, 400])
    }
    expect(app.asked).toHaveLength(1)
  })

  test('the largest documents that pass are translated, also where the chat request has more values or levels', async () => {
    const app = openMessages()
    const calls = blocks(16_000, '{"type":"tool_use","id":"c","name":"f","input":{}}')
    expect((await app.post('/messages', withContent(calls, 'assistant'))).status).toBe(200)
    expect(app.asked[0]?.json.messages[1].tool_calls).toHaveLength(16_000)
    const deep = `${'{"a":'.repeat(58)}1${'}'.repeat(58)}`
    const tools = `[{"name":"f","input_schema":${deep}}]`
    const text = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],"tools":${tools}}`
    expect((await app.post('/messages', text)).status).toBe(200)
    expect((await app.post('/messages', text.replace(deep, `{"a":${'['.repeat(70)}${']'.repeat(70)}}`))).status).toBe(
      400,
    )
  })

  test('every shape of every field is a 400 or passes, never an error of the gateway', async () => {
    const app = openMessages()
    const values = [
      'null',
      '0',
      '-1',
      '1e400',
      '""',
      '"\\ud800"',
      '[]',
      '[[]]',
      '[null]',
      '{}',
      '{"type":null}',
      '{"__proto__":{}}',
    ]
    const fields = [
      ...[
        'model',
        'max_tokens',
        'messages',
        'system',
        'tools',
        'tool_choice',
        'thinking',
        'metadata',
        'stop_sequences',
      ],
      ...['temperature', 'top_p', 'top_k', 'stream', 'output_config', 'output_format', 'container', 'mcp_servers'],
    ]
    for (const field of fields) {
      for (const value of values) {
        const body = JSON.stringify({ ...minimal, [field]: 'VALUE' }).replace('"VALUE"', value)
        const { status } = await app.post('/messages', body)
        expect([field, value, status === 200 || status === 400]).toEqual([field, value, true])
      }
    }
  })

  test('a field that is given twice is rejected', async () => {
    const app = openMessages()
    for (const double of ['"model":"x"', '"messages":[]', '"max_tokens":1'])
      expect((await app.post('/messages', `{${double},${JSON.stringify(minimal).slice(1)}`)).status).toBe(400)
  })

  test('a large image is not decoded, and the event loop has turns in between', async () => {
    const app = openMessages()
    const data = 'iVBORw0KGgo'.padEnd(4 * 2 ** 20, 'A')
    const source = { type: 'base64', media_type: 'image/png', data }
    const body = JSON.stringify({ ...minimal, messages: [{ role: 'user', content: [{ type: 'image', source }] }] })
    const before = turns.count
    expect((await app.post('/messages', body)).status).toBe(200)
    expect(turns.count - before).toBeGreaterThan(10)
    expect(app.asked[0]?.json.messages[0].content[0].image_url.url).toBe(`data:image/png;base64,${data}`)
  })

  test('long texts are joined without decoding them, and are the same', async () => {
    const app = openMessages()
    const texts = ['"quoted" \\ \n', 'é😀'.repeat(5_000), '', 'x'.repeat(10_000), '\u2028']
    const content = texts.map((text) => ({ type: 'text', text }))
    const body = JSON.stringify({ ...minimal, system: content, messages: [{ role: 'user', content }] })
    const stringify = spyOn(JSON, 'stringify')
    try {
      await app.post('/messages', body)
      expect(stringify.mock.calls.filter(([value]) => typeof value === 'string' && value.length > 1_000)).toEqual([])
    } finally {
      stringify.mockRestore()
    }
    const joined = texts.join('\n\n')
    expect(app.asked[0]?.json.messages).toEqual(['system', 'user'].map((role) => ({ role, content: joined })))
  })

  test('a body is parsed once, and its translation once', () => {
    const text = withContent(blocks(10_000, '{"type":"text","text":"xxxxxxxxxx"}'))
    const json = readJson(text)
    const before = indexed.bytes
    const { chatRequest } = readMessagesRequest(json, { openSignature: () => undefined, generates: true })
    chatRequest.get('messages')
    expect(indexed.bytes - before).toBeLessThan(text.length * 1.1)
  })
})

describe('Hostile upstreams:', () => {
  test('a stream of more characters than allowed is an error', async () => {
    const long = Array.from({ length: 200 }, () => chunk({ content: 'x'.repeat(100) }))
    const app = openMessages(() => streaming([...long, chunk({}, 'stop'), '[DONE]']), { maxResponseBytes: 10_000 })
    expect((await app.post('/messages', minimal)).status).toBe(502)
    const text = await (await app.post('/messages', { ...minimal, stream: true })).text()
    expect(text).toContain('"type":"api_error"')
    expect(text).not.toContain('message_stop')
  })

  test('very deep arguments, two choices, custom calls and content that is no text are errors', async () => {
    const args = { function: { name: 'f', arguments: `{"a":${'['.repeat(300)}` }, index: 0 }
    for (const bad of [
      chunk({ tool_calls: [args] }),
      chunk({ content: 'x' }, null, 1),
      chunk({ tool_calls: [{ index: 0, type: 'custom', custom: { name: 'f', input: 'x' } }] }),
      chunk({ tool_calls: [{ index: 0, type: 'custom', custom: { input: 'without a name' } }] }),
      chunk({ tool_calls: ['x'] }),
      chunk({ content: [{ type: 'image_url' }] }),
    ]) {
      const app = openMessages(() => streaming([chunk({ content: 'a' }), bad, chunk({}, 'stop'), '[DONE]']))
      expect((await app.post('/messages', minimal)).status).toBe(502)
      expect(await (await app.post('/messages', { ...minimal, stream: true })).text()).toContain('event: error')
    }
  })

  test('a credential in a message is not shown', async () => {
    const app = openMessages(() => streaming([chunk({ content: 'the-upstream-key' }, 'stop')]))
    const whole = await app.post('/messages', minimal)
    expect([whole.status, await whole.text()]).toEqual([502, expect.not.stringContaining('the-upstream-key')])
    const split = openMessages(() => streaming([...'the-upstream-key'].map((content) => chunk({ content }))))
    const text = await (await split.post('/messages', { ...minimal, stream: true })).text()
    expect(text).toContain('event: error')
  })
})

test('a credential in an error is not shown, however deep it is in strings of JSON', async () => {
  const escaped = [...'the-upstream-key'].map((sign) => `\\u00${sign.charCodeAt(0).toString(16)}`).join('')
  let error = `{"message":"${escaped}"}`
  for (let depth = 0; depth < 6; depth++) {
    const app = openMessages(({ json }) =>
      json.stream_options?.include_usage && json.user
        ? streaming([`{"error":${error}}`])
        : new Response(error, { status: 400 }),
    )
    for (const user of [undefined, 'x']) {
      const text = await (await app.post('/messages', { ...minimal, metadata: { user_id: user } })).text()
      expect([depth, text]).toEqual([depth, expect.not.stringMatching(/the-upstream-key|\\u0074/)])
    }
    error = JSON.stringify({ message: error })
  }
})

test('An open stream does not keep the body of its request in memory', async () => {
  const bodies: WeakRef<ArrayBuffer>[] = []
  const start = (controller: ReadableStreamDefaultController) =>
    controller.enqueue(Buffer.from(`data: ${JSON.stringify(chunk({ reasoning: 'x' }))}\n\n`))
  const app = textGeneration({
    upstreams: [{ url: 'http://upstream.invalid/v1' }],
    identify: () => ({ user: 'ann' }),
    fetch: async () =>
      new Response(new ReadableStream({ start }), { headers: { 'content-type': 'text/event-stream' } }),
  })
  const open = async () => {
    const asked = { ...minimal, stream: true, thinking: { type: 'adaptive' }, system: 'x'.repeat(100_000) }
    let bytes: Uint8Array<ArrayBuffer> | undefined = new TextEncoder().encode(JSON.stringify(asked))
    bodies.push(new WeakRef(bytes.buffer))
    const headers = { 'content-type': 'application/json', 'content-length': String(bytes.length) }
    const request = new Request('http://localhost/v1/messages', { method: 'POST', headers })
    // The gateway reads these very bytes, without a copy. The request itself stays, with its signal.
    attachBody(request, async () => {
      const read = bytes
      bytes = undefined
      return read ?? new Uint8Array()
    })
    const reader = ((await app.handle(request)).body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    return reader
  }
  const readers = await Promise.all(Array.from({ length: 20 }, open))
  const kept = () => bodies.filter((body) => body.deref() !== undefined).length
  // A conservative garbage collector may keep a few of them, and more for a while.
  for (let round = 0; round < 50 && (round < 3 || kept() >= 5); round++) {
    await new Promise<void>((resolve) => setTimeout(resolve, 1))
    Bun.gc(true)
  }
  expect(kept()).toBeLessThan(5)
  for (const reader of readers) await reader.cancel()
})
