import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ServerProcess } from '../support/server.ts'
import { arkOf, browse, type Fixture, faces, openFixture, send } from './fixture.ts'

describe('the responses to a browser', () => {
  let fixture: Fixture
  let server: ServerProcess
  beforeAll(async () => {
    fixture = await openFixture()
    await fixture.addPerson('ann')
    server = await fixture.start({ ...arkOf(fixture), MEDIA_SEGMENT: 'studio' })
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  test('contain only files of the console, whatever the path', async () => {
    const { text: page } = await send(server.url, 'GET', '/console')
    const [script = ''] = /\/console\/app-\w+\.js/.exec(page) ?? []
    expect((await send(server.url, 'GET', script)).status).toBe(200)
    for (const target of [
      '/console/..%2f..%2fpackage.json',
      '/console/%2e%2e/package.json',
      '/console/../package.json',
      '/console/..%5c..%5cpackage.json',
      '/console/%2e%2e%2f%2e%2e%2fpackage.json',
      '/console/....//package.json',
      '/console/page/app.js',
      '/console/index.ts',
      '/console/tsconfig.json',
      '/console/%2fetc%2fpasswd',
      '//etc/passwd',
      '/console/app.js%00',
      '/console/app.js%2e',
      '/console/app.js',
      script.toUpperCase().replace('CONSOLE', 'console'),
      '/console/constructor',
      '/console/__proto__',
      '/console/%',
      '/.env',
      '/data/sluice.db',
    ]) {
      const reply = await send(server.url, 'GET', target)
      expect([target, reply.status]).toEqual([target, 404])
      expect(reply.text).not.toMatch(/root:|"dependencies"|export const/)
    }
  })

  test('redirect to no other host', async () => {
    for (const target of [
      '/console/',
      '/console/?//evil.example/',
      '//evil.example/console/',
      '//evil.example/..;/console/',
      '/\\evil.example/console/',
      'http://evil.example/console/',
      '/console//evil.example/',
      '/console/%2fevil.example/',
    ]) {
      const { headers, status } = await send(server.url, 'GET', target, undefined, { host: 'evil.example' })
      expect([308, 404]).toContain(status)
      expect([null, '../console']).toContain(headers.get('location'))
    }
  })

  test('are not cacheable where they depend on the user', async () => {
    const ann = await browse(server, 'ann')
    const verifications = `/api/studio/face-verifications`
    const started = (await ann.ask('POST', verifications, {})).json
    for (const [method, path] of [
      ['GET', '/api/session'],
      ['HEAD', '/api/session'],
      ['GET', '/api/tokens'],
      ['GET', '/api/usage'],
      ['POST', '/api/tokens'],
      ['POST', verifications],
      ['GET', `${verifications}/${started.verification_id}`],
      ['GET', `${verifications}/x`],
      ['DELETE', '/api/tokens/x'],
      ['GET', '/api/usage?since=x'],
      ['POST', '/api/usage'],
      ['PUT', '/api/session'],
      ['PUT', verifications],
    ] as const) {
      const { headers } = await ann.ask(method, path)
      expect([method, path, headers.get('cache-control')]).toEqual([method, path, 'no-store'])
      const anonymous = await send(server.url, method, path)
      expect([method, path, anonymous.headers.get('cache-control')]).toEqual([method, path, 'no-store'])
    }
  })

  test('contain the configured segment in paths and error types; other segments are not found', async () => {
    const ann = await browse(server, 'ann')
    const error = { error: { type: 'studio_proxy_error' } }
    expect((await ann.ask('GET', '/api/studio/face-verifications/x')).json).toMatchObject(error)
    expect((await send(server.url, 'GET', '/api/session')).json).toMatchObject(error)
    expect((await send(server.url, 'GET', '/api/tokens')).json).toMatchObject(error)
    expect((await send(server.url, 'GET', '/api/usage')).json).toMatchObject(error)
    expect((await ann.ask('POST', faces, {})).status).toBe(404)
    expect((await send(server.url, 'GET', '/console')).text).toContain('"library":"/api/studio/proxy"')
    const callbackUrl = fixture.emulator.face.sessions().at(-1)?.callbackUrl
    expect(callbackUrl).toStartWith(`${server.url}/api/studio/face-verifications/callback/`)
  })
})
