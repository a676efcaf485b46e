import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type AnyElysia, Elysia } from 'elysia'
import { Problem } from 'sluice/shared'
import { cases, type ErrorCase } from './error-cases.ts'

// The first request of a plugin compiles its routes: on a busy machine, those of the console take seconds.
setDefaultTimeout(300_000)

/** What a host app's own `onError` does with every error that it sees. */
const hostile = ({ set }: { set: { status?: number | string } }) => {
  set.status = 500
  return { host: 'something broke' }
}

const hosts: Readonly<Record<string, (plugin: AnyElysia) => AnyElysia>> = {
  'no hook': (plugin) => new Elysia().use(plugin),
  'a hook before the plugin': (plugin) => new Elysia().onError(hostile).use(plugin),
  'a hook after the plugin': (plugin) => new Elysia().use(plugin).onError(hostile as never),
  'an asynchronous hook before the plugin': (plugin) =>
    new Elysia().onError(async (context) => hostile(context)).use(plugin),
  'a scoped hook before the plugin': (plugin) => new Elysia().onError({ as: 'scoped' }, hostile).use(plugin),
  'a global hook before the plugin': (plugin) => new Elysia().onError({ as: 'global' }, hostile).use(plugin),
  'a global hook after the plugin': (plugin) => new Elysia().use(plugin).onError({ as: 'global' }, hostile as never),
  'a plugin with a global hook before it': (plugin) =>
    new Elysia().use(new Elysia({ name: 'errors' }).onError({ as: 'global' }, hostile)).use(plugin),
  'hooks on three levels': (plugin) =>
    new Elysia()
      .onError(hostile)
      .use(new Elysia({ name: 'middle' }).onError(hostile).use(new Elysia().onError(hostile).use(plugin))),
  'a guard with a hook': (plugin) => new Elysia().guard({ error: hostile }, (app) => app.use(plugin)),
  'headers of its own': (plugin) =>
    new Elysia()
      .onRequest(({ set }) => {
        set.headers['x-host'] = 'yes'
      })
      .onError(hostile)
      .use(plugin),
  'no compiled handlers': (plugin) => new Elysia({ aot: false }).onError(hostile).use(plugin),
}

const send = async (app: AnyElysia, { path, method = 'GET', headers = {}, body }: ErrorCase['request']) => {
  const response = await app.handle(new Request(`http://localhost${path}`, { method, headers, body }))
  const text = await response.text()
  return { status: response.status, headers: response.headers, json: text.startsWith('{') ? JSON.parse(text) : text }
}

for (const [name, { mount, errors }] of Object.entries(cases)) {
  describe(`${name}: its errors`, () => {
    for (const [host, around] of Object.entries(hosts)) {
      test(`are its own in a host with ${host}`, async () => {
        const app = around(mount({}))
        for (const { request, status, body } of errors) {
          const response = await send(app, request)
          expect([request, response.status, response.json]).toEqual([request, status, body])
          expect(response.headers.get('content-type')).toBe('application/json')
          if (host === 'headers of its own') expect(response.headers.get('x-host')).toBe('yes')
        }
      })
    }

    test('have the body of the option', async () => {
      const app = new Elysia().onError(hostile).use(mount({ errors: ({ status }) => ({ mine: status }) }))
      for (const { request, status } of errors) {
        expect([request, await send(app, request)]).toMatchObject([request, { status, json: { mine: status } }])
      }
    })

    test('go to the hook of the host with `throw`', async () => {
      const seen: unknown[] = []
      const app = new Elysia()
        .onError(({ error }) => {
          seen.push(error)
          return new Response('of the host', { status: 418 })
        })
        .use(mount({ errors: 'throw' }))
      for (const { request } of errors) {
        expect([request, await send(app, request)]).toMatchObject([request, { status: 418, json: 'of the host' }])
      }
      expect(seen.map((error) => (error instanceof Problem ? error.status : error))).toEqual(
        errors.map(({ status }) => status),
      )
    })

    test('render themselves with `throw` in a host without a hook', async () => {
      const app = new Elysia().use(mount({ errors: 'throw' }))
      for (const { request, status } of errors) expect((await send(app, request)).status).toBe(status)
    })

    test('have their status in `onAfterResponse`', async () => {
      const statuses: unknown[] = []
      const app = new Elysia().onAfterResponse(({ set }) => void statuses.push(set.status)).use(mount({}))
      const counted = errors.filter(({ setsStatus = true }) => setsStatus)
      for (const { request } of counted) {
        await send(app, request)
        await Bun.sleep(1)
      }
      expect(statuses).toEqual(counted.map(({ status }) => status))
    })
  })
}

test('what a handler of the host throws is the host’s own', async () => {
  const app = new Elysia()
    .onError(({ error }) => ({ host: error instanceof Problem && error.status }))
    .use(cases.ownership.mount({}))
    .get('/broken', () => {
      throw new Problem(502, 'of a client that the handler called')
    })
  expect((await send(app, { path: '/broken' })).json).toEqual({ host: 502 })
})

test('without compiled handlers too, a body is read only after its caller is identified', async () => {
  const app = new Elysia({ aot: false }).use(cases.gateway.mount({})).use(cases['web-session'].mount({}))
  for (const [type, path] of [
    ['application/json', '/api/media/proxy/assets/groups'],
    ['text/plain', '/api/media/proxy/assets/groups'],
    ['application/json', '/api/media/proxy/nothing'],
  ] as const) {
    let pulls = 0
    const body = new ReadableStream({
      pull(controller) {
        if (++pulls > 20) controller.close()
        else controller.enqueue(new Uint8Array(65_536))
      },
    })
    const response = await app.handle(
      new Request(`http://localhost${path}`, { method: 'POST', headers: { 'content-type': type }, body }),
    )
    expect([type, path, response.status, pulls]).toEqual([type, path, path.endsWith('nothing') ? 404 : 401, 1])
  }
  const login = { path: '/api/session', method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
  expect((await send(app, login)).json.error.message).toBe('name and password must be strings')
})

test('a host’s `onParse` that leaves a body alone does not make Elysia read it', async () => {
  const app = new Elysia().onParse({ as: 'global' }, () => undefined).use(cases['web-session'].mount({}))
  const login = { path: '/api/session', method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
  expect((await send(app, login)).json.error.message).toBe('name and password must be strings')
})

test('in a group or a guard, bodies are the plugin’s also with `onParse` and without compiled handlers, after `parser`', async () => {
  const groups: Readonly<Record<string, (app: AnyElysia) => AnyElysia>> = {
    group: (app) => app.group('', (inner) => inner.use(cases['web-session'].mount({}))),
    guard: (app) => app.guard({ beforeHandle() {} }, (inner) => inner.use(cases['web-session'].mount({}))),
  }
  const login = { path: '/api/session', method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
  for (const [name, around] of Object.entries(groups)) {
    for (const aot of [true, false]) {
      const host = new Elysia({ aot }).parser('none', () => true).onParse({ as: 'global' }, () => undefined)
      const { json } = await send(around(host), login)
      expect([name, aot, json.error?.message]).toEqual([name, aot, 'name and password must be strings'])
    }
  }
})

test('a guard that is the first key rejects also where another macro of the host is switched off', async () => {
  const ran: string[] = []
  const app: AnyElysia = new Elysia().use(cases.ownership.mount({})).macro({ cached: () => undefined } as never)
  app.get('/mine', () => void ran.push('ran'), { caller: true, cached: false } as object)
  expect((await send(app, { path: '/mine' })).status).toBe(401)
  expect(ran).toEqual([])
})

test('a guard rejects also where the host has replaced `status` in the context', async () => {
  const ran: string[] = []
  const lookalike = (code: number, response: unknown) => ({ code, response })
  for (const status of [undefined, 'active', () => ({}), () => undefined, lookalike]) {
    for (const aot of [true, false]) {
      const app = new Elysia({ aot })
        .derive(() => ({ status }) as Record<string, unknown>)
        .use(cases.ownership.mount({}))
        .get('/mine', () => void ran.push('ran'), { caller: true } as object)
      const response = await send(app, { path: '/mine' })
      expect([status, aot, response.status]).toEqual([status, aot, 401])
    }
  }
  expect(ran).toEqual([])
})
