import { describe, expect, test } from 'bun:test'
import { settled, VirtualClock } from '../support/virtual-clock.ts'
import { chunk, openApp, streaming } from './fixture.ts'

const messages = [{ role: 'user', content: 'hi' }]
const call = (name: string, text: string, index = 0) => ({
  tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: text } }],
})

/** Sends a request, advances the clock, and returns the response and its duration. */
const cutOff = async (
  data: readonly object[],
  {
    path = '/chat/completions',
    request = { model: 'm', messages } as object,
    ms = 200_000,
    headers = {} as Record<string, string>,
    options = {},
  } = {},
) => {
  const clock = new VirtualClock()
  const app = openApp(({ signal }) => streaming(data, 'stall', signal), { clock, ...options })
  const arrivedAt = clock.now()
  let answeredAt: number | undefined
  const answering = app.post(path, request, { headers }).then((response) => {
    answeredAt = clock.now() - arrivedAt
    return response
  })
  // Bodies arrive in real time, independent of the virtual clock.
  for (let turn = 0; turn < 20; turn++) await settled()
  await clock.pass(ms - 1)
  expect(answeredAt).toBeUndefined()
  await clock.pass(1)
  const response = await answering
  // biome-ignore lint/suspicious/noExplicitAny: responses of two protocols
  const json: any = await response.json()
  return { app, clock, response, json }
}

describe('a non-streaming call that reaches the timeout', () => {
  test('returns the partial completion with a header and the finish reason length', async () => {
    const { response, json, app, clock } = await cutOff([
      chunk({ role: 'assistant', content: 'once ' }),
      chunk({ content: 'upon' }),
    ])
    expect(response.status).toBe(200)
    expect(response.headers.get('x-upstream-partialresponse')).toBe('true')
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('x-request-id')).toBe('req-1')
    expect(json).toMatchObject({ object: 'chat.completion', model: 'm' })
    expect(json.choices).toMatchObject([
      { index: 0, message: { role: 'assistant', content: 'once upon' }, finish_reason: 'length' },
    ])
    expect(app.asked[0]?.signal.aborted).toBe(true)
    expect(clock.pending).toBe(0)
    expect(app.usage.map(({ tokens }) => tokens)).toEqual([undefined])
  })

  test('keeps finished choices and complete tool calls, and drops partial ones', async () => {
    const { json } = await cutOff([
      chunk(call('whole', '{"a":1}', 0)),
      chunk(call('half', '{"a":', 1)),
      chunk({ content: 'done' }, 'stop', 1),
    ])
    expect(json.choices[0].finish_reason).toBe('length')
    expect(
      json.choices[0].message.tool_calls.map((each: { function: { name: string } }) => each.function.name),
    ).toEqual(['whole'])
    expect(json.choices[1]).toMatchObject({ finish_reason: 'stop', message: { content: 'done' } })
  })

  test('returns an empty completion with the header when nothing arrived', async () => {
    const { response, json } = await cutOff([])
    expect(response.headers.get('x-upstream-partialresponse')).toBe('true')
    expect(json.choices).toMatchObject([{ message: { role: 'assistant', content: '' }, finish_reason: 'length' }])
    expect(json.model).toBe('m')
  })

  test('also when the upstream has not responded', async () => {
    const clock = new VirtualClock()
    const app = openApp(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
        }),
      { clock },
    )
    const answering = app.post('/chat/completions', { model: 'm', messages })
    for (let turn = 0; turn < 20; turn++) await settled()
    await clock.pass(200_000)
    const response = await answering
    expect([response.status, response.headers.get('x-upstream-partialresponse')]).toEqual([200, 'true'])
  })

  test('returns a response with the status incomplete in the responses protocol', async () => {
    const { response, json } = await cutOff(
      [
        {
          type: 'response.created',
          sequence_number: 0,
          response: { id: 'resp_1', object: 'response', status: 'in_progress', output: [], model: 'm' },
        },
        {
          type: 'response.output_item.added',
          sequence_number: 1,
          output_index: 0,
          item: { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] },
        },
        {
          type: 'response.content_part.added',
          sequence_number: 2,
          item_id: 'msg_1',
          output_index: 0,
          content_index: 0,
          part: { type: 'output_text', text: '', annotations: [] },
        },
        {
          type: 'response.output_text.delta',
          sequence_number: 3,
          item_id: 'msg_1',
          output_index: 0,
          content_index: 0,
          delta: 'once',
          logprobs: [],
        },
      ],
      { path: '/responses', request: { model: 'm', input: 'hi' } },
    )
    expect(response.headers.get('x-upstream-partialresponse')).toBe('true')
    expect(json).toMatchObject({
      id: 'resp_1',
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ status: 'incomplete', content: [{ text: 'once' }] }],
    })
  })

  test('works with a bridge, too', async () => {
    const { json } = await cutOff([chunk({ role: 'assistant', content: 'once' })], {
      path: '/responses',
      request: { model: 'm', input: 'hi' },
      options: { upstreams: [{ url: 'http://upstream.invalid/v1', chatOnly: true }] },
    })
    expect(json).toMatchObject({ object: 'response', status: 'incomplete', output: [{ content: [{ text: 'once' }] }] })
  })

  test('is marked as not stored when it is bridged, with content and without', async () => {
    for (const data of [[], [chunk({ role: 'assistant', content: 'once' })]]) {
      const { json } = await cutOff(data, {
        path: '/responses',
        request: { model: 'm', input: 'hi', store: true },
        options: { upstreams: [{ url: 'http://upstream.invalid/v1', chatOnly: true }] },
      })
      expect(json).toMatchObject({ object: 'response', status: 'incomplete', store: false })
    }
  })

  test('ends slightly before the client’s own timeout', async () => {
    await cutOff([chunk({ content: 'x' })], { ms: 9_000, headers: { 'x-stainless-timeout': '10' } })
    await cutOff([chunk({ content: 'x' })], { headers: { 'x-stainless-timeout': '600' } })
    await cutOff([chunk({ content: 'x' })], { ms: 9_000, headers: { 'x-stainless-read-timeout': '10.0' } })
    await cutOff([chunk({ content: 'x' })], { headers: { 'x-stainless-read-timeout': '600' } })
    for (const [total, read] of [
      ['10', '20.5'],
      ['20', '10'],
      ['10', 'None'],
      ['0', '10'],
    ] as const) {
      const headers = { 'x-stainless-timeout': total, 'x-stainless-read-timeout': read }
      await cutOff([chunk({ content: 'x' })], { ms: 9_000, headers })
    }
  })
})

test('the timeout starts with the arrival of the request and covers the work before the upstream call', async () => {
  const clock = new VirtualClock()
  const app = openApp(({ signal }) => streaming([chunk({ content: 'x' })], 'stall', signal), {
    clock,
    identify: async () => {
      await clock.sleep(150_000)
      return { user: 'ann' }
    },
  })
  const answering = app.post('/chat/completions', { model: 'm', messages })
  await clock.pass(150_000)
  for (let turn = 0; turn < 20; turn++) await settled()
  await clock.pass(50_000)
  expect((await answering).headers.get('x-upstream-partialresponse')).toBe('true')
})

test('a stream has no timeout', async () => {
  const clock = new VirtualClock()
  const app = openApp(({ signal }) => streaming([chunk({ content: 'x' })], 'stall', signal), { clock })
  const response = await app.post('/chat/completions', { model: 'm', messages, stream: true })
  await clock.pass(2_000_000)
  const reader = response.body?.getReader()
  expect((await reader?.read())?.done).toBe(false)
  expect(app.asked[0]?.signal.aborted).toBe(false)
  await reader?.cancel()
  expect(app.asked[0]?.signal.aborted).toBe(true)
  expect(clock.pending).toBe(0)
})

test('a response in time has no header', async () => {
  const app = openApp(() => streaming([chunk({ content: 'x' }), chunk({}, 'stop'), '[DONE]']))
  const response = await app.post('/chat/completions', { model: 'm', messages })
  expect(response.headers.has('x-upstream-partialresponse')).toBe(false)
  expect(response.headers.get('content-type')).toBe('application/json')
})
