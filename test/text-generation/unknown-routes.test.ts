import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { textGeneration } from 'sluice/text-generation'
import { startGateway } from '../support/gateway.ts'

const mounted = (prefix: '/v1' | '/llm/v2') =>
  textGeneration({ upstreams: [{ url: 'http://upstream.invalid/v1' }], prefix, identify: () => undefined })

/** An error of OpenAI; with `type` one of Anthropic; with `caught` that of the host app. */
interface ErrorJson {
  readonly type?: string
  readonly error: { readonly type: string; readonly message: string }
  readonly caught?: string
}

const ask = async (app: { handle(request: Request): Promise<Response> }, method: string, path: string) => {
  const response = await app.handle(new Request(`http://localhost${path}`, { method }))
  const json: ErrorJson = JSON.parse(await response.text())
  return { response, status: response.status, json }
}

describe.each(['/v1', '/llm/v2'] as const)('an unknown path below %s', (prefix) => {
  const app = mounted(prefix)

  test('is a 404 that names the path and lists the routes', async () => {
    for (const [method, path] of [
      ['GET', `${prefix}/chat`],
      ['POST', `${prefix}/chat/completion`],
      ['DELETE', `${prefix}/fine_tuning/jobs/ft-1`],
      ['GET', prefix],
      ['GET', `${prefix}/`],
    ] as const) {
      const { status, json } = await ask(app, method, `${path}?key=secret`)
      expect<unknown>([status, json]).toEqual([
        404,
        { error: { message: expect.any(String), type: 'invalid_request_error', param: null, code: 'unknown_url' } },
      ])
      const { message } = json.error
      expect(message).toStartWith(`${method} ${path} does not exist. There is: POST ${prefix}/chat/completions, `)
      expect(message).toContain(`, GET ${prefix}/responses/{response_id}, `)
      expect(message).toEndWith('.')
      expect(message).not.toMatch(/\*|secret|twice|ALL|OPTIONS/)
    }
  })

  test('has the shape of Anthropic below /messages', async () => {
    const { status, json } = await ask(app, 'POST', `${prefix}/messages/batches`)
    expect([status, json.type, json.error.type]).toEqual([404, 'error', 'not_found_error'])
    expect(json.error.message).toStartWith(`POST ${prefix}/messages/batches does not exist. There is: `)
  })

  test('with the prefix twice says so', async () => {
    for (const path of ['/chat/completions', '/messages', '/models/m']) {
      const { status, json } = await ask(app, 'POST', prefix + prefix + path)
      expect([status, json.error.message]).toEqual([
        404,
        expect.stringContaining(
          `does not exist: the base address of the client must not end with ${prefix} twice. There is: `,
        ),
      ])
    }
  })

  test('is shortened when it is long', async () => {
    const { json } = await ask(app, 'GET', `${prefix}/${'x'.repeat(100_000)}`)
    expect(json.error.message).toContain('xxx… does not exist')
    expect(json.error.message.length).toBeLessThan(2_000)
  })

  test('does not change: a known path with another method is a 405 with Allow', async () => {
    const { response, status } = await ask(app, 'GET', `${prefix}/chat/completions`)
    expect([status, response.headers.get('allow')]).toEqual([405, 'POST'])
  })
})

test('a host app gets the error with `errors: throw`', async () => {
  const app = new Elysia()
    .onError(({ error }) => Response.json({ caught: String(error) }, { status: 418 }))
    .use(textGeneration({ upstreams: [], identify: () => undefined, errors: 'throw' }))
  const { status, json } = await ask(app, 'GET', '/v1/nothing')
  expect([status, json.caught]).toEqual([418, expect.stringContaining('GET /v1/nothing does not exist. There is: ')])
})

test('the default server says to clients without /v1 in their base address that it is missing', async () => {
  await using gateway = await startGateway()
  for (const [method, path] of [
    ['POST', '/chat/completions'],
    ['POST', '/responses'],
    ['POST', '/responses/compact'],
    ['GET', '/responses/resp_1'],
    ['GET', '/models'],
    ['GET', '/models/m'],
    ['POST', '/embeddings'],
    ['POST', '/completions'],
    ['POST', '/videos'],
    ['GET', '/videos/cgt-1/content'],
  ] as const) {
    const response = await fetch(`${gateway.url}${path}?key=secret`, { method })
    expect([response.status, await response.json()]).toEqual([
      404,
      {
        error: {
          message: `${method} ${path} does not exist: the base address of the client must end with /v1, as in /v1${path}.`,
          ...{ type: 'invalid_request_error', param: null, code: 'unknown_url' },
        },
      },
    ])
  }
  const anthropic = await fetch(`${gateway.url}/messages`, { method: 'POST' })
  expect([anthropic.status, await anthropic.json()]).toMatchObject([
    404,
    { type: 'error', error: { type: 'not_found_error', message: expect.stringContaining('as in /v1/messages.') } },
  ])
  const other = await fetch(`${gateway.url}/nowhere`)
  expect([other.status, await other.json()]).toMatchObject([404, { success: false, error: { message: 'not found' } }])
})
