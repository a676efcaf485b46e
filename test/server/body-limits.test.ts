import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { connect } from 'node:net'
import { repetitions } from '../support/repetitions.ts'
import type { ServerProcess } from '../support/server.ts'
import { arkOf, type Browser, browse, type Fixture, faces, openFixture } from './fixture.ts'

setDefaultTimeout(300_000)

const small = 10_000
const large = 40_000
const library = '/api/media/proxy/assets'
const tasks = '/api/v3/contents/generations/tasks'
/** Stands for the id of the user's group. */
const own = 'ID'

/** Every route whose request may have a body: the credential, the largest body (0: it reads none), and the status for a larger one. */
const routes = [
  ['POST', `${library}/groups`, 'token', small, 413],
  ['PUT', `${library}/groups/${own}`, 'token', small, 413],
  ['PATCH', `${library}/groups/${own}`, 'token', small, 413],
  ['DELETE', `${library}/groups/unknown`, 'token', 0, 403],
  ['POST', `${library}/groups/${own}/shares`, 'token', small, 413],
  ['DELETE', `${library}/groups/${own}/shares/unknown`, 'token', 0, 404],
  ['POST', `${library}/groups/unknown/return`, 'token', 0, 403],
  ['POST', `${library}/groups/unknown/consent/withdraw`, 'token', 0, 403],
  ['POST', `${library}/groups/unknown/consent/delete`, 'token', 0, 403],
  ['POST', `${library}/groups/unknown/consent/links`, 'token', 0, 403],
  ['POST', `${library}/batches?GroupId=${own}`, 'token', small, 413],
  ['POST', `${library}/batches/unknown/cancel`, 'token', 0, 404],
  ['POST', `${library}/batches/unknown/retry`, 'token', 0, 404],
  ['POST', `${library}/batches/unknown/items/unknown/retry`, 'token', 0, 404],
  ['POST', library, 'token', small, 413],
  ['PUT', `${library}/unknown`, 'token', 0, 403],
  ['DELETE', `${library}/unknown`, 'token', 0, 403],
  ['POST', '/v1/chat/completions', 'token', large, 413],
  ['POST', '/v1/responses', 'token', large, 413],
  ['POST', '/v1/embeddings', 'token', large, 413],
  ['POST', '/v1/completions', 'token', large, 413],
  ['POST', '/v1/responses/compact', 'token', large, 413],
  ['POST', '/v1/responses/input_tokens', 'token', large, 413],
  ['POST', '/v1/messages', 'token', large, 413],
  ['POST', '/v1/messages/count_tokens', 'token', large, 413],
  ['DELETE', '/v1/responses/resp_unknown', 'token', 0, 404],
  ['POST', '/v1/responses/resp_unknown/cancel', 'token', 0, 404],
  ['POST', '/v1/videos', 'token', large, 413],
  ['POST', '/v1/videos/edits', 'token', large, 413],
  ['POST', '/v1/videos/extensions', 'token', large, 413],
  ['POST', '/v1/videos/unknown/remix', 'token', large, 413],
  ['DELETE', '/v1/videos/unknown', 'token', 0, 404],
  ['POST', tasks, 'token', large, 413],
  ['DELETE', `${tasks}/unknown`, 'token', 0, 404],
  ['POST', '/api/v3/contents/generations/callbacks/unknown/unknown', 'none', 0, 404],
  ['POST', '/mcp', 'token', 2 ** 20, 413],
  ['PUT', '/mcp/uploads/unknown', 'none', 0, 404],
  ['POST', '/mcp/uploads/unknown', 'none', 0, 404],
  ['POST', '/v1/models', 'token', 0, 405],
  ['POST', '/v1/unknown', 'token', 0, 404],
  ['POST', '/api/session', 'session', 8_192, 413],
  ['DELETE', '/api/session', 'none', 0, 401],
  ['POST', '/api/tokens', 'session', 8_192, 413],
  ['DELETE', '/api/tokens/unknown', 'session', 0, 404],
  ['POST', '/api/tokens/unknown/rotate', 'session', 8_192, 413],
  ['PATCH', '/api/account', 'session', 8_192, 413],
  ['DELETE', '/api/account/sessions', 'none', 0, 401],
  ['DELETE', '/api/account/sessions/unknown', 'session', 0, 404],
  ['POST', '/api/invitations/unknown', 'none', 0, 404],
  ['POST', '/api/admin/users', 'session', 0, 403],
  ['POST', '/api/admin/users/import', 'session', 0, 403],
  ['PATCH', '/api/admin/users/unknown', 'session', 0, 403],
  ['POST', '/api/admin/users/unknown/invitation', 'session', 0, 403],
  ['DELETE', '/api/admin/users/unknown/sessions', 'session', 0, 403],
  ['POST', '/api/admin/users/unknown/tokens', 'session', 0, 403],
  ['POST', '/api/admin/teams', 'session', 0, 403],
  ['PATCH', '/api/admin/teams/unknown', 'session', 0, 403],
  ['DELETE', '/api/admin/teams/unknown', 'session', 0, 403],
  ['PATCH', '/api/admin/tokens/unknown', 'session', 0, 403],
  ['DELETE', '/api/admin/tokens/unknown', 'session', 0, 403],
  ['POST', '/api/admin/tokens/unknown/rotate', 'session', 0, 403],
  ['POST', '/api/admin/audit/verification', 'session', 0, 403],
  ['POST', '/api/admin/groups/adopt', 'session', 0, 403],
  ['POST', '/api/admin/groups/pending/unknown/adopt', 'session', 0, 403],
  ['POST', '/api/admin/groups/pending/unknown/release', 'session', 0, 403],
  ['POST', '/api/admin/batches/unknown/cancel', 'session', 0, 403],
  ['POST', '/api/admin/consents/unknown/withdraw', 'session', 0, 403],
  ['POST', '/api/admin/consents/unknown/delete', 'session', 0, 403],
  ['POST', '/api/admin/videos/unknown/adopt', 'session', 0, 403],
  ['POST', '/api/admin/videos/unknown/release', 'session', 0, 403],
  ['POST', '/api/webhooks', 'session', 16_384, 413],
  ['DELETE', '/api/webhooks/unknown', 'session', 0, 404],
  ['POST', '/api/usage', 'session', 0, 405],
  ['POST', faces, 'session', small, 413],
  ['POST', `${faces}/unknown`, 'session', 0, 405],
  ['POST', `${faces}/callback/unknown`, 'none', 0, 405],
  ['POST', `${faces}/consent/unknown/withdraw`, 'none', 0, 404],
  ['POST', `${faces}/consent/unknown/delete`, 'none', 0, 404],
  ['POST', `${library}/groups`, 'none', 0, 401],
  ['POST', library, 'none', 0, 401],
  ['POST', '/v1/chat/completions', 'none', 0, 401],
  ['POST', '/v1/responses', 'none', 0, 401],
  ['POST', '/v1/embeddings', 'none', 0, 401],
  ['POST', '/v1/messages', 'none', 0, 401],
  ['POST', '/v1/videos', 'none', 0, 401],
  ['POST', tasks, 'none', 0, 401],
  ['POST', '/api/webhooks', 'none', 0, 401],
  ['POST', '/api/tokens', 'none', 0, 401],
  ['POST', '/api/uploads', 'none', 0, 401],
  ['POST', '/api/files/uploads/unknown', 'none', 0, 405],
  ['POST', faces, 'none', 0, 401],
  ['PUT', '/console', 'none', 0, 405],
  ['POST', '/healthz', 'none', 0, 404],
  ['POST', '/metrics', 'none', 0, 404],
  ['POST', '/openapi', 'none', 0, 404],
  ['POST', '/', 'none', 0, 404],
  ['POST', '/nowhere', 'none', 0, 404],
  ['DELETE', '/nowhere', 'none', 0, 404],
] as const

describe.each(repetitions('on', 'off'))('bodies (GET_BODIES %s)', (getBodies) => {
  let fixture: Fixture
  let server: ServerProcess
  let ann: Browser
  let token: string
  let group: string

  beforeAll(async () => {
    fixture = await openFixture()
    await fixture.addPerson('ann')
    server = await fixture.start({
      ...arkOf(fixture),
      GET_BODIES: getBodies,
      MAX_BODY_BYTES: String(large),
      MAX_SMALL_BODY_BYTES: String(small),
      TEXT_UPSTREAM_URL: fixture.emulator.text.url,
      TEXT_UPSTREAM_KEY: fixture.emulator.text.key,
      VIDEO_UPSTREAM_URL: fixture.emulator.video.url,
      VIDEO_UPSTREAM_KEY: fixture.emulator.video.key,
    })
    ann = await browse(server, 'ann')
    token = (await ann.ask('POST', '/api/tokens', {})).json.token.token
    const made = await ann.ask('POST', `${library}/groups`, { Name: 'mine' }, { authorization: `Bearer ${token}` })
    group = made.json.Result.Id
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  /** Sends a head and a part of a body, and nothing more. So the response cannot depend on the rest of the body. */
  const ask = (method: string, path: string, who: string, framing: string, sent: string) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const { hostname, port } = new URL(server.url)
      const socket = connect(Number(port), hostname)
      let text = ''
      const finish = () => resolve({ status: Number(text.split(' ')[1]), text })
      socket.on('data', (chunk) => {
        text += chunk
        if (/\r\n\r\n[{<]/.test(text)) {
          finish()
          socket.destroy()
        }
      })
      socket.on('error', (error) => (text === '' ? reject(error) : finish()))
      socket.on('close', finish)
      const credential = { token: `authorization: Bearer ${token}`, session: `cookie: ${ann.cookie}`, none: 'x: y' }[
        who
      ]
      const head = [`${method} ${path.replace(own, group)} HTTP/1.1`, 'host: x', `origin: ${server.url}`, credential]
      socket.write([...head, 'content-type: application/json', framing, '', sent].join('\r\n'))
    })

  /** The shape of errors: that of Anthropic or OpenAI below /v1, that of the vendor below /api/v3, a page for a person, else that of the gateway. */
  const shape = (path: string) => {
    if (path.startsWith('/v1/messages')) return /^\{"type":"error","error":\{"type":.*"request_id":/
    if (path.startsWith('/v1')) return /^\{"error":\{"message":.*"param":/
    if (path.startsWith(`${faces}/consent/`)) return /^<!doctype html>/
    if (path.startsWith('/api/v3')) return /^\{"error":\{"code":.*"message":.*"param":.*"type":/
    return /^\{"success":false,.*"type":"media_proxy_error"/
  }

  for (const [method, path, who, limit, status] of routes) {
    test(`${method} ${path} (${who}): a content-length above ${limit} is rejected before the body arrives`, async () => {
      const rejected = await ask(method, path, who, 'content-length: 50000', '')
      expect([rejected.status, rejected.text.split('\r\n\r\n')[1]]).toEqual([
        status,
        expect.stringMatching(shape(path)),
      ])
    })

    test(`${method} ${path} (${who}): a chunked body is rejected after ${limit} bytes`, async () => {
      // One chunk that exceeds the limit by one byte, and the start of another.
      const chunk = limit === 0 ? '' : `${(limit + 1).toString(16)}\r\n${' '.repeat(limit + 1)}\r\n`
      const chunked = await ask(method, path, who, 'transfer-encoding: chunked', `${chunk}ffff\r\n`)
      expect([chunked.status, chunked.text.split('\r\n\r\n')[1]]).toEqual([status, expect.stringMatching(shape(path))])
    })
  }

  test('every documented route that takes a body is in the table', async () => {
    const documented = (await (await fetch(`${server.url}/openapi/json`)).json()) as { paths: Record<string, object> }
    const known = routes.map(
      ([method, path]) => `${method} ${path.replace(/\?.*/, '').replace(/\/(?:ID|(?:resp_)?unknown)(?=\/|$)/g, '/*')}`,
    )
    const missing = Object.entries(documented.paths).flatMap(([path, methods]) =>
      Object.keys(methods)
        .map((method) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '*')}`)
        .filter((route) => !route.startsWith('GET') && !known.includes(route)),
    )
    // The table has the same route with PUT.
    expect(missing).toEqual([`PATCH ${library}/*`])
  })

  test('a body of exactly the limit is read', async () => {
    const padded = (start: string, size: number) => start.padEnd(size, ' ')
    const bearer = { authorization: `Bearer ${token}` }
    for (const [path, start, size, headers] of [
      [`${library}/groups`, '{"Name":"other"}', small, bearer],
      [faces, '{}', small, {}],
      [
        '/v1/chat/completions',
        '{"model":"emulated-reasoner","messages":[{"role":"user","content":"x"}]}',
        large,
        bearer,
      ],
    ] as const) {
      expect([path, (await ann.ask('POST', path, padded(start, size), headers)).status]).toEqual([path, 200])
      expect([path, (await ann.ask('POST', path, padded(start, size + 1), headers)).status]).toEqual([path, 413])
    }
  })
})
