import { expect, test } from 'bun:test'
import { SpanStatusCode } from '@opentelemetry/api'
import { startTracedGateway } from './fixture.ts'

const content = 'the-words-of-a-caller'

const chat = async (url: string, token: string, body: object) => {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content }], ...body }),
  })
  return { status: response.status, text: await response.text() }
}

for (const stream of [false, true]) {
  test(`a generation ${stream ? 'with' : 'without'} a stream has a span with model and tokens, and no content`, async () => {
    await using traced = await startTracedGateway()
    const { url, emulator } = traced.gateway
    const ann = await traced.gateway.addUser('ann')
    const { status, text } = await chat(url, ann.token, { model: 'doubao-seed-emulated', stream })
    expect([status, text.includes('content')]).toEqual([200, true])
    const { request, calls } = await traced.traceOf('POST')
    expect(request.attributes['http.route']).toBe('/v1/chat/completions')
    expect(calls).toHaveLength(1)
    const [call] = calls
    expect(call?.name).toBe('chat doubao-seed-emulated')
    expect(call?.attributes).toEqual({
      'sluice.action': 'CreateChatCompletion',
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(emulator.text.url).port),
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'doubao-seed-emulated',
      'gen_ai.request.stream': stream,
      'gen_ai.usage.input_tokens': expect.any(Number),
      'gen_ai.usage.cache_read.input_tokens': expect.any(Number),
      'gen_ai.usage.output_tokens': expect.any(Number),
      'gen_ai.usage.reasoning.output_tokens': expect.any(Number),
      'http.response.status_code': 200,
    })
    expect(Number(call?.attributes['gen_ai.usage.output_tokens'])).toBeGreaterThan(0)
    // The request's span lasts as long as its stream.
    expect(traced.spans().map(({ name }) => name)).toEqual(['chat doubao-seed-emulated', 'POST /v1/chat/completions'])
    const recorded = JSON.stringify([request, call].map((span) => [span?.name, span?.attributes, span?.events]))
    for (const secret of [content, ann.token, ann.id, emulator.text.key]) expect(recorded).not.toContain(secret)
  })
}

test.each([
  ['/v1/embeddings', 'embeddings', 'emulated-embedding', { input: content }],
  ['/v1/completions', 'text_completion', 'emulated-instruct', { prompt: content }],
] as const)('%s has a span with its own operation', async (path, operation, model, body) => {
  await using traced = await startTracedGateway()
  const { token } = await traced.gateway.addUser('ann')
  const response = await fetch(traced.gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, ...body }),
  })
  expect(response.status).toBe(200)
  await response.text()
  const { calls } = await traced.traceOf('POST')
  expect(calls.map((call) => [call.name, call.attributes['gen_ai.operation.name']])).toEqual([
    [`${operation} ${model}`, operation],
  ])
})

test('a generation that the upstream rejects has the status in its span', async () => {
  await using traced = await startTracedGateway()
  const ann = await traced.gateway.addUser('ann')
  const { status } = await chat(traced.gateway.url, ann.token, { model: 'unknown-model' })
  expect(status).toBe(404)
  const { calls } = await traced.traceOf('POST')
  // The name has no model: any caller could create any number of names.
  expect(calls.map((call) => [call.name, call.status.code, call.attributes['error.type']])).toEqual([
    ['chat', SpanStatusCode.ERROR, '404'],
  ])
})

test('a stream whose client leaves ends its spans', async () => {
  await using traced = await startTracedGateway()
  traced.gateway.emulator.faults.add({ kind: 'silence', action: 'CreateChatCompletion', events: 1 })
  const ann = await traced.gateway.addUser('ann')
  const leaving = new AbortController()
  const response = await fetch(`${traced.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ann.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'doubao-seed-emulated', stream: true, messages: [{ role: 'user', content }] }),
    signal: leaving.signal,
  })
  expect(response.status).toBe(200)
  expect(traced.spans()).toHaveLength(0)
  leaving.abort()
  const { calls } = await traced.traceOf('POST')
  expect(calls).toHaveLength(1)
})

test('other text calls have a span each', async () => {
  await using traced = await startTracedGateway()
  const ann = await traced.gateway.addUser('ann')
  const headers = { authorization: `Bearer ${ann.token}` }
  await (await fetch(`${traced.gateway.url}/v1/models`, { headers })).bytes()
  const { calls } = await traced.traceOf('GET')
  expect(calls.map(({ name, attributes }) => [name, attributes['http.response.status_code']])).toEqual([
    ['ListModels', 200],
  ])
})
