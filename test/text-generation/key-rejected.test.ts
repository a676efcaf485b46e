import { describe, expect, test } from 'bun:test'
import { openApp, streaming } from './fixture.ts'

const messages = [{ role: 'user', content: 'hi' }]
const error = (code: string | null, message = 'no', type = 'error') => ({ error: { message, type, param: null, code } })

const open = (respond: () => Response) => {
  const errors: unknown[] = []
  const observed: unknown[] = []
  const observe = (call: { status: number; keyRejected: boolean }) =>
    void observed.push([call.status, call.keyRejected])
  const log = { debug() {}, info() {}, warn() {}, error: (...line: unknown[]) => void errors.push(line) }
  const upstreams = [{ url: 'https://api.vendor.example/v1', key: 'the-upstream-key' }]
  return { ...openApp(respond, { log, upstreams, observe }), errors, observed }
}

describe('an upstream that rejects the key of the gateway is a 502, and an error in the log', () => {
  const rejections: readonly (readonly [string, () => Response, number?])[] = [
    ['401', () => Response.json(error('invalid_api_key'), { status: 401 })],
    ['401 without a body', () => new Response(null, { status: 401 })],
    ...(
      [
        error('AuthenticationError'),
        error(null, 'no', 'authentication_error'),
        error('InvalidApiKey'),
        error('invalid_access_token'),
        error('SignatureDoesNotMatch'),
        error(null, 'Incorrect API key provided: the-u…ey.'),
      ] as const
    ).map((body) => [`403 ${JSON.stringify(body)}`, () => Response.json(body, { status: 403 }), 403] as const),
    ['a stream that begins with it', () => streaming([error('401', 'Invalid API key')])],
  ]
  for (const [what, respond, status = 401] of rejections) {
    test(what, async () => {
      for (const stream of [true, false]) {
        const app = open(respond)
        const response = await app.post('/chat/completions', { model: 'm', messages, stream })
        expect([response.status, await response.json()]).toEqual([
          502,
          {
            error: {
              message: 'upstream rejected the credentials of this gateway',
              type: 'server_error',
              param: null,
              code: null,
            },
          },
        ])
        expect(response.headers.get('x-should-retry')).toBe('false')
        expect(app.errors).toMatchObject([
          [{ upstream: 'api.vendor.example', status }, "upstream rejected the gateway's key"],
        ])
        expect(app.asked).toHaveLength(1)
      }
    })
  }

  test('on every route', async () => {
    const app = open(() => Response.json(error('invalid_api_key'), { status: 401 }))
    expect((await app.post('/responses', { model: 'm', input: 'hi' })).status).toBe(502)
    expect((await app.get('/models')).status).toBe(502)
    expect((await app.get('/models/m')).status).toBe(502)
    expect(app.errors).toHaveLength(3)
    expect(app.observed).toEqual(Array(3).fill([401, true]))
  })

  test('the observer of calls learns it from the same decision', async () => {
    const app = open(() => Response.json(error('InvalidApiKey'), { status: 403 }))
    await app.post('/chat/completions', { model: 'm', messages })
    expect(app.observed).toEqual([[403, true]])
  })
})

describe('any other 403 is forwarded', () => {
  for (const body of [
    error('AccountOverdueError'),
    error('model_not_allowed', 'You have no access to this model'),
    error('content_policy_violation', 'The token usage policy forbids it'),
    'Forbidden',
  ]) {
    test(JSON.stringify(body), async () => {
      const app = open(() => Response.json(body, { status: 403 }))
      const response = await app.post('/chat/completions', { model: 'm', messages })
      expect([response.status, await response.json(), app.errors]).toEqual([403, body, []])
      expect(app.observed).toEqual([[403, false]])
    })
  }
})
