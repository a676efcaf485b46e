import { describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { fronts } from '../support/fronts.ts'
import { openServerFixture } from '../support/server-fixture.ts'

describe.each(fronts)('on %s, with GET_BODIES %s', (runtime, getBodies) => {
  test('bodies in gzip are read, and those in another coding are 415', async () => {
    await using fixture = await openServerFixture()
    const { url, key } = fixture.emulator.text
    const environment = { GET_BODIES: getBodies, TEXT_UPSTREAM_URL: url, TEXT_UPSTREAM_KEY: key }
    const server = await fixture.start({ ...environment, MAX_BODY_BYTES: '100000' }, runtime)
    const { token } = (await fixture.addUser('ann')).at(server)
    const post = async (path: string, body: Uint8Array<ArrayBuffer>, coding: string) => {
      const headers = { 'x-api-key': token, 'content-type': 'application/json', 'content-encoding': coding }
      const response = await fetch(server.url + path, { method: 'POST', headers, body })
      const { status } = response
      return { status, accepts: response.headers.get('accept-encoding'), json: (await response.json()) as object }
    }
    const gzip = (value: unknown) => new Uint8Array(gzipSync(JSON.stringify(value)))
    const chat = { model: 'emulated-wide', messages: [{ role: 'user', content: 'hello' }] }
    const library = '/api/media/proxy/assets/groups'

    expect(await post('/v1/chat/completions', gzip(chat), 'gzip')).toMatchObject({
      status: 200,
      json: { object: 'chat.completion' },
    })
    const [sent] = fixture.emulator.calls.filter(({ path }) => path === '/v1/chat/completions')
    expect(sent?.headers).not.toHaveProperty('content-encoding')
    expect(sent?.json).toMatchObject(chat)
    expect((await post(library, gzip({ Name: 'g' }), 'gzip')).status).toBe(200)

    const bomb = { ...chat, messages: [{ role: 'user', content: 'x'.repeat(10_000_000) }] }
    expect((await post('/v1/chat/completions', gzip(bomb), 'gzip')).status).toBe(413)
    for (const [path, error] of [
      ['/v1/chat/completions', { type: 'invalid_request_error', param: null, code: null }],
      [library, { type: 'media_proxy_error' }],
    ] as const) {
      const message = 'content-encoding must be one of gzip, deflate, br'
      const rejected = await post(path, gzip(chat), 'zstd')
      expect(rejected).toMatchObject({
        status: 415,
        accepts: 'gzip, deflate, br',
        json: { error: { ...error, message } },
      })
      expect(await post(path, gzip(chat).slice(0, 20), 'gzip')).toMatchObject({
        status: 400,
        json: { error: { ...error, message: 'request body is not valid gzip' } },
      })
    }
  })
})
