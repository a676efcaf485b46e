import { describe, expect, test } from 'bun:test'
import { VirtualClock } from '../support/virtual-clock.ts'
import { dataOf, openApp, streaming, streamingText } from './fixture.ts'

const usage = { prompt_tokens: 3, total_tokens: 3 }
/** A response whose bytes a parser and a serializer would change. */
const vectors =
  '{ "object":"list","data":[{"object":"embedding","index":0,"embedding":[1.0,-0,1e-7]}],"model":"m",\n"usage":{"prompt_tokens":3,"total_tokens":3} }'
const completed =
  '{"id":"c","object":"text_completion","created":1.0,"model":"m","choices":[{"text":"\\u0061","index":0,"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4} }'
const json = (text: string, init?: ResponseInit) =>
  new Response(text, { ...init, headers: { 'content-type': 'application/json', 'x-request-id': 'up-1' } })

const routes = [
  [
    '/embeddings',
    '{ "input":["a",[1,2.0]], "model":"m", "dimensions":8.0,"x":{"z":12345678901234567890} }',
    vectors,
    0,
  ],
  [
    '/completions',
    '{ "prompt":"a", "model":"m", "max_tokens":5.0,"stream": false,"x":{"z":12345678901234567890} }',
    completed,
    4,
  ],
] as const

describe.each(routes)('POST %s', (path, body, answer, output) => {
  test('passes the request and the response byte for byte, and records the usage', async () => {
    const app = openApp(() => json(answer))
    const response = await app.post(path, body)
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      200,
      'application/json',
      answer,
    ])
    expect(app.asked.map(({ url, method, text }) => [url, method, text])).toEqual([
      [`http://upstream.invalid/v1${path}`, 'POST', body],
    ])
    expect(app.asked[0]?.headers.get('accept')).toBe('application/json')
    expect(app.usage).toMatchObject([{ user: 'ann', token: 't1', model: 'm', tokens: { input: 3, output } }])
  })

  test('sends the request to the upstream of the model, by its name there', async () => {
    const app = openApp(() => json(answer), {
      upstreams: [
        { url: 'http://one.invalid/v1' },
        { url: 'http://two.invalid/v1', models: [{ id: 'real', alias: 'm' }] },
      ],
    })
    await app.post(path, body)
    expect(app.asked[0]?.url).toBe(`http://two.invalid/v1${path}`)
    expect(app.asked[0]?.text).toBe(body.replace('"m"', '"real"'))
    expect(app.usage[0]?.model).toBe('m')
  })

  test('passes errors of the upstream, and records no usage', async () => {
    const error = '{"error": {"message":"no","type":"x","param":null,"code":null}}'
    const app = openApp(() => json(error, { status: 422 }))
    const response = await app.post(path, body)
    expect([response.status, await response.text()]).toEqual([422, error])
    expect(app.usage).toEqual([])
  })

  test('rejects what is no response of this route, a stream that was not requested, and a credential', async () => {
    for (const upstream of [
      () => json('{"object":"response"}'),
      () => json('[]'),
      () => json('not JSON'),
      () => streaming([JSON.parse(answer), '[DONE]']),
      () => json(answer.replace('"m"', '"the-upstream-key"')),
    ]) {
      const response = await openApp(upstream).post(path, body)
      expect([response.status, ((await response.json()) as { error: { type: string } }).error.type]).toEqual([
        502,
        'server_error',
      ])
    }
  })

  test('needs a caller, a model and a JSON object', async () => {
    const app = openApp(() => json(answer))
    expect((await app.ask(path, { method: 'POST', body })).status).toBe(401)
    for (const wrong of ['[]', '{}', '{"model":7}', '{"model":""}', '{"model":"m","model":"n"}'])
      expect([wrong, (await app.post(path, wrong)).status]).toEqual([wrong, 400])
    expect(app.asked).toEqual([])
  })

  test('sends no object and no asset of another user', async () => {
    const app = openApp(() => json(answer), { assets: undefined })
    for (const [field, status] of [
      ['"file_id":"file-1"', 400],
      ['"previous_response_id":"resp_1"', 400],
      ['"image_url":{"url":"asset://asset-1"}', 403],
      ['"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"asset://asset-1"}}]}]', 403],
    ] as const)
      expect([field, (await app.post(path, body.replace('"x"', `${field},"x"`))).status]).toEqual([field, status])
    expect(app.asked).toEqual([])
  })

  test('sends texts that look like assets: they are no addresses', async () => {
    const app = openApp(() => json(answer))
    for (const [text, status] of [
      ['"asset://x"', 200],
      ['["Asset: a building","b"]', 200],
      ['["asset:the next building"]', 200],
      ['["b","asset://x"]', 403],
      ['["asset: x "]', 403],
    ] as const) {
      const field = path === '/embeddings' ? 'input' : 'prompt'
      expect((await app.post(path, `{"model":"m","${field}":${text}}`)).status).toBe(status)
    }
  })

  test('is a 502 at the time limit of the gateway, whatever the client’s', async () => {
    const clock = new VirtualClock()
    const stalled = ({ signal }: { signal: AbortSignal }) =>
      new Promise<Response>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    const app = openApp(stalled, { clock })
    const answering = app.post(path, body, { headers: { 'x-stainless-timeout': '1' } })
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    await clock.pass(199_999)
    expect(app.asked[0]?.signal.aborted).toBe(false)
    await clock.pass(1)
    const response = await answering
    expect([response.status, response.headers.has('x-upstream-partialresponse')]).toEqual([502, false])
  })
})

describe('a stream of completions', () => {
  const part = (text: string, finish: string | null = null) => ({
    ...{ id: 'c', object: 'text_completion', created: 1, model: 'm' },
    choices: [{ text, index: 0, logprobs: null, finish_reason: finish }],
  })
  const whole = [part('a'), part('b'), part('', 'stop')]
  const total = { ...part(''), choices: [], usage: { ...usage, completion_tokens: 2 } }
  const asking = { model: 'm', prompt: 'x', stream: true }

  test('passes byte for byte, with the usage for who requests it', async () => {
    const text = `${[...whole, total].map((each) => `data: ${JSON.stringify(each)}\r\n\r\n`).join('')}data: [DONE]\n\n`
    const app = openApp(() => streamingText(text))
    const response = await app.post('/completions', { ...asking, stream_options: { include_usage: true } })
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    expect(await response.text()).toBe(text)
    expect(app.usage).toMatchObject([{ tokens: { input: 3, output: 2 } }])
  })

  test('has no usage for others, who have it recorded too', async () => {
    const app = openApp(() => streaming([...whole, total, '[DONE]']))
    const text = await (await app.post('/completions', asking)).text()
    expect(dataOf(text)).toEqual([...whole.map((each) => JSON.stringify(each)), '[DONE]'])
    expect(app.asked[0]?.json).toEqual({ ...asking, stream_options: { include_usage: true } })
    expect(app.usage).toMatchObject([{ tokens: { input: 3, output: 2 } }])
  })

  test('that breaks off ends with an error', async () => {
    const app = openApp(() => streaming(whole.slice(0, 2)))
    const data = dataOf(await (await app.post('/completions', asking)).text())
    expect(data.at(-1)).toContain('"error"')
    expect(data).not.toContain('[DONE]')
  })

  test('of an upstream that cannot stream has the whole text in one event', async () => {
    const app = openApp(() => json(completed), { upstreams: [{ url: 'http://one.invalid/v1', streams: false }] })
    const data = dataOf(await (await app.post('/completions', asking)).text())
    expect(app.asked[0]?.json).toEqual({ model: 'm', prompt: 'x' })
    expect(data.map((each) => each === '[DONE]' || JSON.parse(each))).toMatchObject([
      { id: 'c', choices: [{ text: 'a' }] },
      true,
    ])
  })

  test('is requested without usage from an upstream that rejects it', async () => {
    const app = openApp(({ json }) =>
      json.stream_options
        ? Response.json(
            { error: { message: 'Unknown parameter: stream_options', param: 'stream_options' } },
            { status: 400 },
          )
        : streaming([...whole, '[DONE]']),
    )
    expect(dataOf(await (await app.post('/completions', asking)).text()).at(-1)).toBe('[DONE]')
    expect(app.asked).toHaveLength(2)
  })
})

test('a count of input tokens needs no model: the conversation has one; it has no usage', async () => {
  const app = openApp(() => json('{"object":"response.input_tokens","input_tokens":3}'))
  expect((await app.post('/responses/input_tokens', { input: 'x' })).status).toBe(200)
  expect((await app.post('/responses/input_tokens', { model: 7, input: 'x' })).status).toBe(400)
  expect((await app.post('/responses/compact', { input: 'x' })).status).toBe(400)
  expect(app.usage).toEqual([])
})

test('a maximum of -1 of a completion is removed', async () => {
  const app = openApp(() => json(completed))
  await app.post('/completions', '{"model":"m", "max_tokens":-1,"prompt":"x"}')
  expect(app.asked[0]?.json).toEqual({ model: 'm', prompt: 'x' })
})

test('embeddings may have 300,000 tokens as numbers, and no more than 400,000 values', async () => {
  const app = openApp(() => json(vectors))
  const tokens = (count: number) => ({
    model: 'm',
    input: Array.from({ length: count }, () => Array(1_000).fill(100_000)),
  })
  expect((await app.post('/embeddings', tokens(300))).status).toBe(200)
  const { status } = await app.post('/embeddings', tokens(401))
  expect([status, app.asked.length]).toEqual([400, 1])
})
