import { describe, expect, test } from 'bun:test'
import { Elysia, t } from 'elysia'
import { type Identify, requireIdentity } from '../../plugins/shared/identity/identify.ts'
import { seedOf } from '../../plugins/shared/plugin/seed.ts'
import { noLog, Problem, problemBody, renderProblems } from '../../plugins/shared/problem.ts'

const problem = new Problem(418, 'short and stout', {
  cause: new Error('secret reason'),
  headers: { 'retry-after': '5' },
})
const shown = { success: false, error: { message: 'short and stout', type: 'request_error' } }

const secret = () => {
  throw new Error('secret: postgres://user:password@10.0.0.1')
}

const get = async (app: { handle(request: Request): Promise<Response> }, path = '/', init?: RequestInit) => {
  const response = await app.handle(new Request(`http://localhost${path}`, init))
  return { status: response.status, headers: response.headers, text: await response.text() }
}

describe('a Problem renders itself', () => {
  test('in any app, from a handler and from a hook', async () => {
    const app = new Elysia()
      .get('/', () => {
        throw problem
      })
      .get('/hook', () => 'never', {
        beforeHandle() {
          throw problem
        },
      })
    for (const path of ['/', '/hook']) {
      const { status, headers, text } = await get(app, path)
      expect([status, JSON.parse(text), headers.get('retry-after'), headers.get('content-type')]).toEqual([
        418,
        shown,
        '5',
        'application/json',
      ])
    }
  })

  test('without its cause', async () => {
    expect(await problem.toResponse().text()).not.toContain('secret')
    expect(JSON.stringify(problemBody()(problem))).not.toContain('secret')
  })

  test('in the requested error format', async () => {
    expect(await problem.toResponse(problemBody('video_proxy_error')).json()).toMatchObject({
      error: { type: 'video_proxy_error' },
    })
    expect(await problem.toResponse(({ message }) => ({ message })).json()).toEqual({ message: 'short and stout' })
  })
})

describe('every error has one format', () => {
  const logged: string[] = []
  const note = (_: object, message: string) => {
    logged.push(message)
  }
  const app = new Elysia()
    .onError(renderProblems(problemBody(), { ...noLog, warn: note, error: note }))
    .get('/secret', secret)
    .get('/string', () => {
      throw 'secret text'
    })
    .get('/problem', () => {
      throw problem
    })
    .post('/typed', () => 'fine', { body: t.Object({ a: t.Number() }) })
    .get('/rejecting', async () => secret())

  for (const [path, status, message, init] of [
    ['/secret', 500, 'internal error', undefined],
    ['/rejecting', 500, 'internal error', undefined],
    ['/string', 500, 'internal error', undefined],
    ['/problem', 418, 'short and stout', undefined],
    ['/nowhere', 404, 'not found', undefined],
    [
      '/typed',
      400,
      'request is not valid',
      { method: 'POST', body: '{"a":"secret"}', headers: { 'content-type': 'application/json' } },
    ],
    [
      '/typed',
      400,
      'request body could not be read',
      { method: 'POST', body: '{secret', headers: { 'content-type': 'application/json' } },
    ],
  ] as const) {
    test(`${path} responds with ${status} ${message}`, async () => {
      const response = await get(app, path, init)
      expect([response.status, JSON.parse(response.text)]).toEqual([
        status,
        { success: false, error: { message, type: 'request_error' } },
      ])
      expect(response.text).not.toContain('secret')
    })
  }

  test('and the cause is in the log', () => {
    expect(logged).toContain('unexpected error')
    expect(logged).toContain('short and stout')
  })
})

describe('an unknown caller is 401', () => {
  test('with WWW-Authenticate, and the same response for every reason', async () => {
    const refusal = {
      name: 'Problem',
      status: 401,
      message: 'not authenticated',
      headers: { 'www-authenticate': 'Bearer' },
    }
    const request = () => new Request('http://localhost/')
    const refused = (identify: Identify) =>
      Promise.try(() => requireIdentity(identify, request())).catch((error: Problem) => error)
    expect(await refused(() => undefined)).toMatchObject(refusal)
    expect(await refused(async () => undefined)).toMatchObject(refusal)
    expect(await requireIdentity(async () => ({ user: 'ann' }), request())).toEqual({ user: 'ann' })
  })

  test('but a known caller is identified synchronously, and a thenable is awaited like a promise', async () => {
    const request = new Request('http://localhost/')
    expect(requireIdentity(() => ({ user: 'ann' }), request)).toEqual({ user: 'ann' })
    const thenable = Object.fromEntries([['then', (resolve: (nobody: undefined) => void) => resolve(undefined)]])
    const refused = Promise.try(() => requireIdentity(() => thenable as unknown as Promise<undefined>, request))
    expect(await refused.catch((error: Problem) => error)).toMatchObject({ status: 401 })
  })
})

describe('objects have a number as identity', () => {
  test('the same object has the same number, and another object another one', () => {
    const [one, other] = [{}, {}]
    expect(seedOf(one)).toBe(seedOf(one))
    expect(seedOf(one)).not.toBe(seedOf(other))
    expect(seedOf(() => 1)).not.toBe(seedOf(() => 1))
  })
})

test('onAfterResponse sees the status of the error', async () => {
  const reported = Promise.withResolvers<unknown>()
  const app = new Elysia()
    .onError(renderProblems(problemBody()))
    .onAfterResponse(({ set }) => reported.resolve(set.status))
    .get('/', () => {
      throw problem
    })
  expect((await get(app)).status).toBe(418)
  expect(await reported.promise).toBe(418)
})
