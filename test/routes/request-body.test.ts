import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { startGateway } from '../support/gateway.ts'
import { errorReply, type Fixture, messageOf, newAsset, newGroup, openFixture, statusAndText } from './fixture.ts'

const bodied = [
  'POST /assets',
  'POST /assets/groups',
  'PUT /assets/{asset}',
  'PATCH /assets/{asset}',
  'PATCH /assets/groups/{group}',
]

describe.each(bodied)('%s', (route) => {
  let fixture: Fixture
  let method: string
  let path: string
  beforeAll(async () => {
    fixture = await openFixture({ maxBodyBytes: 2_000 })
    const group = await newGroup(fixture.ann, 'a')
    const asset = await newAsset(fixture.ann, group)
    ;[method = '', path = ''] = route.replace('{asset}', asset).replace('{group}', group).split(' ')
  })
  beforeEach(() => {
    fixture.calls()
  })
  afterAll(() => fixture[Symbol.asyncDispose]())
  const ask = (body: string, headers?: Record<string, string>) => fixture.ann.ask(method, path, body, headers)

  test.each([
    ...[
      '',
      ' ',
      '[]',
      '[{}]',
      '7',
      'null',
      'true',
      '"{}"',
      '{',
      '{]',
      "{'a':1}",
      '{"a":1,}',
      '{"a":01}',
      '{"a":NaN}',
      '{}{}',
    ],
    ...[
      '{"a":"\n"}',
      '{"a":"\\x"}',
      '{a:1}',
      'Name=a&GroupId=b',
      '\ufeff{}',
      `{"a":${'['.repeat(64)}${']'.repeat(64)}}`,
    ],
  ])('rejects the body %j with 400', async (body) => {
    const reply = await ask(body)
    expect(reply.status).toBe(400)
    expect(messageOf(reply)).toMatch(/^request body /)
    expect(fixture.calls()).toEqual([])
  })

  test('rejects invalid UTF-8 with 400', async () => {
    const response = await fetch(`${fixture.url}/api/media/proxy${path}`, {
      method,
      headers: { authorization: `Bearer ${fixture.ann.token}` },
      body: new Uint8Array([...Buffer.from('{"Name":"'), 0xff, 0xc0, ...Buffer.from('"}')]),
    })
    const { error } = (await response.json()) as { error: { message: string } }
    expect([response.status, error.message]).toEqual([400, 'request body is not valid UTF-8'])
    expect(fixture.calls()).toEqual([])
  })

  test('rejects a body above the size limit with 413, with and without Content-Length', async () => {
    const body = `{"Name":"${'x'.repeat(2_000)}"}`
    expect(statusAndText(await ask(body))).toEqual(errorReply(413, 'request body is too large'))
    expect(fixture.calls()).toEqual([])
  })

  test('accepts any Content-Type', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/json; charset=x',
    ]) {
      const reply = await ask('[]', { 'content-type': type })
      expect(messageOf(reply)).toMatch(/^request body /)
    }
  })
})

test('every part of the server has its own error format', async () => {
  await using gateway = await startGateway({ segment: 'video' })
  const shapeAt = async (path: string) =>
    Object.entries((await (await fetch(gateway.url + path)).json()) as object).flat()
  const media = ['success', false, 'error', expect.objectContaining({ type: 'video_proxy_error' })]
  for (const path of ['/nothing', '/api/video/proxy/assets', '/api/video/proxy/nothing']) {
    expect([path, ...(await shapeAt(path))]).toEqual([path, ...media])
  }
  for (const path of ['/v1/models', '/v1/nothing']) {
    const [key, error] = await shapeAt(path)
    expect([path, key, Object.keys(error as object)]).toEqual([path, 'error', ['message', 'type', 'param', 'code']])
  }
})
