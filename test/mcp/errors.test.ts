import { expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { mcp } from 'sluice/mcp'
import type { Log } from 'sluice/shared'
import { turns } from '../../plugins/shared/background/turns.ts'
import { createNodeServer } from '../../src/node-server.ts'
import { connectMcp, eras } from './fixture.ts'

/** An app whose routes for videos answer so. Resolves with the result of a tool, and what was logged. */
const answering = async (era: (typeof eras)[number], respond: () => Response | Promise<Response>) => {
  const lines: string[] = []
  const log: Log = { debug() {}, info() {}, warn() {}, error: (_fields, message) => void lines.push(message) }
  const app = new Elysia().use(
    mcp({
      ...{ fetch: respond, log, videos: '/api/v3', publicUrl: 'http://localhost' },
      identify: ({ headers }) => (headers.get('authorization') === 'Bearer ann' ? { user: 'ann' } : undefined),
      secrets: ['a secret of the test suite'],
    }),
  )
  await using server = await createNodeServer(app).listen()
  await using client = await connectMcp(server.url, 'ann', { era })
  return { reply: await client.call('get_video', { video_id: 'cgt-a' }), lines }
}

for (const era of eras) {
  test(`an error of the app itself is logged, and its words reach no client: ${era}`, async () => {
    for (const respond of [
      () => Promise.reject(new Error('SQLITE_BUSY: the secret')),
      () => new Response('<html>secret</html>'),
      () => Response.json(null),
    ]) {
      const { reply, lines } = await answering(era, respond)
      expect(reply).toEqual({ isError: true, error: { status: 500, message: 'internal error' } })
      expect(lines).toEqual(['a tool of the MCP server failed'])
    }
  })

  test(`errors of routes keep their words, in each form, up to a length: ${era}`, async () => {
    const failed = async (status: number, body: string, headers = {}) =>
      (await answering(era, () => new Response(body, { status, headers }))).reply
    const vendor = { error: { code: 'QuotaExceeded', message: 'weekly quota', param: '', type: 'TooManyRequests' } }
    expect(await failed(429, JSON.stringify(vendor), { 'retry-after': '7' })).toMatchObject({
      ...{ isError: true, error: { status: 429, code: 'QuotaExceeded', message: 'weekly quota', retry_after: 7 } },
      advice: { by: 'operator' },
    })
    const action = { ResponseMetadata: { Error: { Code: 'NotFound.asset', Message: 'no asset' } } }
    expect((await failed(404, JSON.stringify(action))).error).toEqual({
      ...{ status: 404, code: 'NotFound.asset', message: 'no asset' },
    })
    const own = { success: false, error: { message: 'm'.repeat(10_000), type: 'media_proxy_error' } }
    expect((await failed(400, JSON.stringify(own))).error).toEqual({ status: 400, message: 'm'.repeat(2_000) })
    for (const body of ['<html>502</html>', '', 'null', '{"error":"text"}'])
      expect(await failed(502, body)).toEqual({
        ...{ isError: true, error: { status: 502, message: 'the request failed with status 502' } },
      })
  })
}

test('a message with more values, or longer keys, than a message needs is refused: the library would look at each of them', async () => {
  const app = new Elysia().use(
    mcp({
      ...{ fetch: () => Promise.reject(new Error('not called')), videos: '/api/v3', publicUrl: 'http://localhost' },
      identify: () => ({ user: 'ann' }),
      secrets: ['a secret of the test suite'],
    }),
  )
  const statusOf = async (params: object) => {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params })
    const response = await app.handle(new Request('http://localhost/mcp', { method: 'POST', headers, body }))
    await response.text()
    return response.status
  }
  const keys = (count: number, name = 'k') =>
    Object.fromEntries(Array.from({ length: count }, (_, nth) => [name + nth, 1]))
  // Messages with many values take turns.
  const before = turns.count
  expect(await statusOf({ _meta: keys(20) })).toBe(200)
  expect(turns.count).toBe(before)
  expect(await statusOf({ _meta: keys(290) })).toBe(200)
  expect(turns.count).toBe(before + 1)
  expect(await statusOf({ _meta: keys(300) })).toBe(400)
  expect(await statusOf({ arguments: keys(80_000) })).toBe(400)
  expect(await statusOf({ _meta: { list: Array.from({ length: 300 }, () => null) } })).toBe(400)
  expect(await statusOf({ _meta: keys(150, 'k'.repeat(90)) })).toBe(200)
  expect(await statusOf({ _meta: keys(200, 'k'.repeat(90)) })).toBe(400)
})
