import { describe, expect, test } from 'bun:test'
import { UpstreamRejectedError } from '../../plugins/shared/upstream/upstream-error.ts'
import { maxTokensFieldIn } from '../../plugins/text-generation/upstream/learnt-capabilities.ts'
import { chunk, dataOf, openApp, streaming, type UpstreamRequest } from './fixture.ts'

const done = [chunk({ role: 'assistant', content: 'x' }), chunk({}, 'stop'), '[DONE]']

/** An upstream without a Responses API, by what servers respond to unknown paths. */
const chatOnly =
  (noRoute: () => Response) =>
  ({ url }: UpstreamRequest) =>
    url.endsWith('/responses') ? noRoute() : streaming(done)

const json = (status: number, body: unknown) => () => Response.json(body, { status })
const text = (status: number, body: string) => () => new Response(body, { status })

/** A log that keeps the lines of level info. */
const openLog = () => {
  const lines: object[] = []
  const ignore = () => {}
  return {
    lines,
    log: { debug: ignore, warn: ignore, error: ignore, info: (fields: object) => void lines.push(fields) },
  }
}

const pathsOf = (asked: readonly UpstreamRequest[]) => asked.map(({ url }) => new URL(url).pathname)

describe('an upstream that turns out to have no Responses API is bridged', () => {
  const responses: readonly (readonly [string, () => Response])[] = [
    ['FastAPI', json(404, { detail: 'Not Found' })],
    ['llama.cpp', json(404, { error: { code: 404, message: 'File Not Found', type: 'not_found_error' } })],
    ['Go', text(404, '404 page not found')],
    ['Express', text(404, '<!DOCTYPE html><pre>Cannot POST /v1/responses</pre>')],
    ['OpenAI', json(404, { error: { message: 'Invalid URL (POST /v1/responses)', code: null, param: null } })],
    ['a known path with another method', json(405, { detail: 'Method Not Allowed' })],
    ['an unfinished implementation', text(501, '')],
  ]
  for (const [server, noRoute] of responses) {
    test(`as ${server} responds`, async () => {
      const app = openApp(chatOnly(noRoute))
      const response = await app.post('/responses', { model: 'm', input: 'hi' })
      expect([response.status, await response.json()]).toMatchObject([
        200,
        { object: 'response', status: 'completed', output: [{ content: [{ text: 'x' }] }] },
      ])
      expect(app.usage).toHaveLength(1)
    })
  }

  test('in a stream too', async () => {
    const app = openApp(chatOnly(text(404, '')))
    const data = dataOf(await (await app.post('/responses', { model: 'm', input: 'hi', stream: true })).text())
    expect(data.at(-1)).toBe('[DONE]')
    expect(JSON.parse(data.at(-2) ?? '')).toMatchObject({ type: 'response.completed' })
    expect(pathsOf(app.asked)).toEqual(['/v1/responses', '/v1/chat/completions'])
  })

  test('for an hour, by model, and logged once', async () => {
    let now = 0
    const { log, lines } = openLog()
    const clock = { now: () => now, at: () => () => {} }
    const app = openApp(chatOnly(text(404, '')), { log, clock })
    for (const model of ['m', 'm', 'n']) await app.post('/responses', { model, input: 'hi' })
    now = 3_600_000
    await app.post('/responses', { model: 'm', input: 'hi' })
    const probe = ['/v1/responses', '/v1/chat/completions']
    expect(pathsOf(app.asked)).toEqual([...probe, '/v1/chat/completions', ...probe, ...probe])
    expect(lines.filter((line) => 'chatOnly' in line)).toEqual(
      ['m', 'n', 'm'].map((model) => ({ upstream: 'http://upstream.invalid/v1', model, chatOnly: true })),
    )
  })

  test('not for other users: a request may provoke the error', async () => {
    const respond = ({ url, text }: UpstreamRequest) => {
      if (!url.endsWith('/responses')) return streaming(done)
      return text.includes('odd_tool') ? json(501, { error: 'not implemented' })() : Response.json(native)
    }
    const native = { id: 'resp_1', object: 'response', status: 'completed', output: [] }
    const identify = (request: Request) => ({ user: request.headers.get('authorization') ?? '' })
    const app = openApp(respond, { identify })
    const as = (authorization: string, tools: object[] = []) =>
      app.post('/responses', { model: 'm', input: 'hi', tools }, { headers: { authorization } })
    expect((await as('eve', [{ type: 'odd_tool' }])).headers.get('x-dropped-tools')).toBe('odd_tool')
    expect(await (await as('bob')).json()).toEqual(native)
  })

  test('the bridge names what it cannot translate', async () => {
    const app = openApp(chatOnly(text(404, '')))
    const response = await app.post('/responses', { model: 'm', input: 'hi', n: 2 })
    expect([response.status, await response.json()]).toMatchObject([400, { error: { param: 'n' } }])
    expect(pathsOf(app.asked)).toEqual(['/v1/responses'])
  })
})

describe('an error about something else is forwarded', () => {
  const rejections: readonly (readonly [string, () => Response])[] = [
    ['a model', json(404, { error: { message: 'The model `m-1` does not exist', code: 'model_not_found' } })],
    ['the name of a model', json(404, { error: { message: 'm-1: no such thing' } })],
    ['a deployment', json(404, { error: { code: 'DeploymentNotFound', message: 'It does not exist.' } })],
    ['an object', json(404, { error: { message: "Response with id 'resp_1' not found." } })],
    ['a field', json(400, { error: { message: 'Not Found' } })],
    ['a failure', json(500, { error: { message: 'Not Found' } })],
  ]
  for (const [subject, reject] of rejections) {
    test(subject, async () => {
      const app = openApp(chatOnly(reject))
      const response = await app.post('/responses', { model: 'm-1', input: 'hi' })
      const expected = reject()
      expect([response.status, await response.text()]).toEqual([expected.status, await expected.text()])
      expect(pathsOf(app.asked)).toEqual(['/v1/responses'])
    })
  }

  test('an upstream that has neither route: its first error', async () => {
    const app = openApp(({ url }) => json(404, { detail: `nothing at ${new URL(url).pathname}` })())
    for (const _ of [1, 2]) {
      const response = await app.post('/responses', { model: 'm', input: 'hi' })
      expect([response.status, await response.json()]).toEqual([404, { detail: 'nothing at /v1/responses' }])
    }
    const probe = ['/v1/responses', '/v1/chat/completions']
    expect(pathsOf(app.asked)).toEqual([...probe, ...probe])
  })

  test('chat completions that an upstream does not have', async () => {
    const app = openApp(text(404, 'Not Found'))
    const response = await app.post('/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'hi' }] })
    expect([response.status, await response.text()]).toEqual([404, 'Not Found'])
    expect(app.asked).toHaveLength(1)
  })
})

test('limitations that are learnt one after the other apply together', async () => {
  const app = openApp(({ url, json: sent }) => {
    if (url.endsWith('/responses')) return text(404, '')()
    const message = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    return 'max_tokens' in sent ? json(400, { error: { message } })() : streaming(done)
  })
  const ask = (more: object = {}) => app.post('/responses', { model: 'm', input: 'hi', ...more })
  await ask()
  await ask({ max_output_tokens: 7 })
  app.asked.length = 0
  expect((await ask({ max_output_tokens: 7 })).status).toBe(200)
  expect(app.asked.map(({ url, json: { max_completion_tokens: max } }) => [new URL(url).pathname, max])).toEqual([
    ['/v1/chat/completions', 7],
  ])
})

describe('the field for the maximum of the output', () => {
  const unsupported = (field: string, hint = '') => ({
    error: {
      message: `Unsupported parameter: '${field}' is not supported with this model.${hint}`,
      type: 'invalid_request_error',
      param: field,
      code: 'unsupported_parameter',
    },
  })
  const useNewer = unsupported('max_tokens', " Use 'max_completion_tokens' instead.")
  const forbidden = {
    detail: [{ type: 'extra_forbidden', loc: ['body', 'max_completion_tokens'], msg: 'Extra inputs' }],
  }
  const messages = [{ role: 'user', content: 'hi' }]
  /** An upstream that rejects a field. */
  const rejecting =
    (field: string, body: object, status = 400) =>
    ({ json: request, url }: UpstreamRequest) =>
      field in request || url.endsWith('/responses')
        ? Response.json(url.endsWith('/responses') ? {} : body, { status: url.endsWith('/responses') ? 404 : status })
        : streaming(done)
  const maximaOf = (asked: readonly UpstreamRequest[]) =>
    asked.map(({ json: { max_tokens, max_completion_tokens } }) => ({ max_tokens, max_completion_tokens }))

  test('is learnt from the error, for the default and for what callers send', async () => {
    const { log, lines } = openLog()
    const app = openApp(rejecting('max_tokens', useNewer), { log })
    for (const maximum of [{}, { max_tokens: 7 }, { max_completion_tokens: 8 }])
      expect((await app.post('/chat/completions', { model: 'm', messages, ...maximum })).status).toBe(200)
    expect(maximaOf(app.asked)).toEqual([
      { max_tokens: 4096 },
      { max_completion_tokens: 4096 },
      { max_completion_tokens: 7 },
      { max_completion_tokens: 8 },
    ] as never)
    expect(lines.filter((line) => 'maxTokensField' in line)).toHaveLength(1)
  })

  test('is logged once, also if several requests find it out at the same time', async () => {
    const { log, lines } = openLog()
    const app = openApp(rejecting('max_tokens', useNewer), { log })
    await Promise.all([1, 2, 3].map(() => app.post('/chat/completions', { model: 'm', messages })))
    expect(app.asked).toHaveLength(6)
    expect(lines.filter((line) => 'maxTokensField' in line)).toHaveLength(1)
  })

  test('is the older one where a server does not know the newer', async () => {
    for (const [body, status] of [
      [forbidden, 422],
      [unsupported('max_completion_tokens'), 400],
      [{ error: { message: 'Unrecognized request argument supplied: max_completion_tokens' } }, 400],
    ] as const) {
      const app = openApp(rejecting('max_completion_tokens', body, status))
      for (const _ of [1, 2]) await app.post('/chat/completions', { model: 'm', messages, max_completion_tokens: 7 })
      expect(maximaOf(app.asked)).toEqual([{ max_completion_tokens: 7 }, { max_tokens: 7 }, { max_tokens: 7 }] as never)
    }
  })

  test('is learnt together with a missing Responses API', async () => {
    const app = openApp(rejecting('max_tokens', useNewer))
    for (const _ of [1, 2])
      expect((await app.post('/responses', { model: 'm', input: 'hi', max_output_tokens: 9 })).status).toBe(200)
    expect(pathsOf(app.asked)).toEqual(['/v1/responses', ...Array(3).fill('/v1/chat/completions')])
    expect(maximaOf(app.asked).slice(1)).toEqual([
      { max_tokens: 9 },
      { max_completion_tokens: 9 },
      { max_completion_tokens: 9 },
    ] as never)
  })

  test('is not searched for in all of a long text that an error quotes', () => {
    const routeOf = (message: string) => {
      const bytes = new TextEncoder().encode(JSON.stringify({ error: { message } }))
      const error = new UpstreamRejectedError({ status: 400, headers: new Headers(), bytes })
      return maxTokensFieldIn(error, { upstream: { url: 'http://upstream.invalid/v1' } })
    }
    expect(routeOf('max_tokens is unknown. Use max_completion_tokens')).toBe('max_completion_tokens')
    expect(routeOf(`max_tokens ${'is too large '.repeat(100)}. Use max_completion_tokens`)).toBeUndefined()
  })

  test('an error about its value is forwarded', async () => {
    const body = { error: { message: 'max_completion_tokens is too large: 9999999', param: 'max_completion_tokens' } }
    const app = openApp(rejecting('max_completion_tokens', body))
    const response = await app.post('/chat/completions', { model: 'm', messages, max_completion_tokens: 9_999_999 })
    expect([response.status, await response.json()]).toEqual([400, body])
    expect(app.asked).toHaveLength(1)
  })
})
