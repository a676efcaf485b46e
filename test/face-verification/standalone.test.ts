import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { faceVerification } from '../../plugins/face-verification/index.ts'
import { Problem, problemBody } from '../../plugins/shared/problem.ts'
import { base, openFixture, openMigrated, storeOn } from './fixture.ts'
import { Vendor } from './vendor.ts'

const refusal = (message: string, type = 'media_proxy_error') => ({ success: false, error: { message, type } })

describe('the routes', () => {
  test('need a session', async () => {
    const { ask, vendor } = await openFixture()
    for (const [url, method] of [
      [base, 'POST'],
      [`${base}/x`, 'GET'],
    ] as const) {
      const { status, json } = await ask(url, {
        method,
        headers: { authorization: 'Bearer sk-x', cookie: 'session=x' },
      })
      expect([status, json]).toEqual([401, refusal('not authenticated')])
    }
    expect(vendor.calls).toEqual([])
  })

  test('reject other methods and other paths', async () => {
    const { ask } = await openFixture()
    for (const [url, method, status, allow] of [
      [base, 'GET', 405, 'POST'],
      [base, 'DELETE', 405, 'POST'],
      [`${base}/x`, 'POST', 405, 'GET'],
      [`${base}/x/y`, 'GET', 404, null],
      [`${base}/callback/x/y`, 'GET', 404, null],
    ] as const) {
      const reply = await ask(url, { method, headers: { 'x-user': 'ann' } })
      expect([url, reply.status, reply.headers.get('allow'), reply.json.success]).toEqual([url, status, allow, false])
    }
  })

  test('call requireSameOrigin for a creation, not for a query', async () => {
    const { ann, vendor } = await openFixture({
      requireSameOrigin: () => {
        throw new Problem(403, 'foreign')
      },
    })
    expect(await ann.create()).toMatchObject({ status: 403, json: refusal('foreign') })
    expect((await ann.query('x')).status).toBe(404)
    expect(vendor.calls).toEqual([])
  })

  test('log an error of the store and do not return it', async () => {
    const { ann, store, lines } = await openFixture()
    store.verification = async () => {
      throw new Error('the disk is full')
    }
    expect(await ann.query('x')).toMatchObject({ status: 500, json: refusal('face verification could not be checked') })
    expect(lines.join()).toContain('disk is full')
  })
})

test('an upstream without face verification: every creation is rejected with 502, however many there are', async () => {
  const vendor = new Vendor()
  const upstream = { ...vendor.upstream(), faceVerification: 'none' as const }
  const { ann, ask } = await openFixture({ upstream, maxOpen: 2 })
  for (let nth = 1; nth <= 3; nth++) {
    expect(await ann.create()).toMatchObject({ status: 502, json: refusal('Seedance upstream unavailable') })
  }
  expect((await ann.query('x')).status).toBe(404)
  expect((await ask(`${base}/callback/${'A'.repeat(43)}?resultCode=10000`)).status).toBe(404)
  expect(vendor.calls).toEqual([])
})

test('the factory throws when taskMs or leaseMs is not above 0', async () => {
  await expect(openFixture({ taskMs: 0 })).rejects.toThrow(TypeError)
  await expect(openFixture({ leaseMs: Number.NaN })).rejects.toThrow(TypeError)
})

/** The plugin with an upstream and one user of its own. */
const instance = async (segment: string, user: string) => {
  const vendor = new Vendor()
  const plugin = faceVerification({
    prefix: `/api/${segment}/face-verifications`,
    errors: problemBody(`${segment}_proxy_error`),
    upstream: vendor.upstream(),
    store: storeOn(await openMigrated('sqlite::memory:')),
    identify: (request) => (request.headers.get('x-key') === user ? { user } : undefined),
    publicUrl: () => `https://${segment}.test/`,
  })
  return { vendor, plugin }
}

const call = async (app: { handle(request: Request): Promise<Response> }, path: string, method = 'GET', key = '') => {
  const response = await app.handle(new Request(`http://localhost${path}`, { method, headers: { 'x-key': key } }))
  const text = await response.text()
  return { status: response.status, text, json: text.startsWith('{') ? JSON.parse(text) : undefined }
}

describe('in a bare Elysia app', () => {
  test('it works completely, errors included', async () => {
    const { vendor, plugin } = await instance('media', 'ann')
    const app = new Elysia().get('/', () => 'home').use(plugin)
    const { json } = await call(app, '/api/media/face-verifications', 'POST', 'ann')
    const { callback, group } = vendor.finish()
    expect((await call(app, callback.slice('https://media.test'.length))).text).toContain('Face verified')
    const path = `/api/media/face-verifications/${json.verification_id}`
    expect((await call(app, path, 'GET', 'ann')).json.group_id).toBe(group)
    expect(await call(app, path)).toMatchObject({ status: 401, json: refusal('not authenticated') })
    expect((await call(app, '/')).text).toBe('home')
  })

  test('the callback address follows the prefixes of the apps around it', async () => {
    const { vendor, plugin } = await instance('media', 'ann')
    const app = new Elysia().use(new Elysia({ prefix: '/outer' }).use(new Elysia({ prefix: '/t/:tenant' }).use(plugin)))
    for (const slash of ['', '/']) {
      const { json } = await call(app, `/outer/t/a%20b/api/media/face-verifications${slash}`, 'POST', 'ann')
      const { callback, group } = vendor.finish()
      expect(callback).toStartWith('https://media.test/outer/t/a%20b/api/media/face-verifications/callback/')
      expect((await call(app, callback.slice('https://media.test'.length))).text).toContain('Face verified')
      const path = `/outer/t/a%20b/api/media/face-verifications/${json.verification_id}`
      expect((await call(app, path, 'GET', 'ann')).json.group_id).toBe(group)
    }
  })

  test('a caller cannot choose the path of the callback address by a short Host header', async () => {
    const { vendor, plugin } = await instance('media', 'ann')
    const app = new Elysia().use(plugin)
    const url = 'http://a/abc/api/media/face-verifications'
    const { status } = await app.handle(new Request(url, { method: 'POST', headers: { 'x-key': 'ann' } }))
    // By default Elysia finds the route behind `/abc`.
    expect(status).toBe(200)
    expect(vendor.finish().callback).toStartWith('https://media.test/api/media/face-verifications/callback/')
  })

  test('two instances are independent of each other', async () => {
    const [one, two] = [await instance('media', 'ann'), await instance('video', 'bob')]
    const app = new Elysia().use(one.plugin).use(two.plugin)
    const first = (await call(app, '/api/media/face-verifications', 'POST', 'ann')).json
    const second = (await call(app, '/api/video/face-verifications', 'POST', 'bob')).json
    expect([one.vendor.calls.length, two.vendor.calls.length]).toEqual([1, 1])
    expect((await call(app, `/api/video/face-verifications/${second.verification_id}`, 'GET', 'bob')).status).toBe(200)
    expect(await call(app, `/api/video/face-verifications/${first.verification_id}`, 'GET', 'bob')).toMatchObject({
      status: 404,
      json: refusal('verification not found', 'video_proxy_error'),
    })
    expect((await call(app, '/api/video/face-verifications', 'POST', 'ann')).status).toBe(401)
    expect(String(two.vendor.calls[0]?.body.CallbackURL)).toStartWith(
      'https://video.test/api/video/face-verifications/callback/',
    )
    const { callback } = two.vendor.finish()
    const state = callback.split('/callback/')[1]
    expect((await call(app, `/api/media/face-verifications/callback/${state}`)).status).toBe(404)
  })
})
