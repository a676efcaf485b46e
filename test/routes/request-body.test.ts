import { describe, expect, test } from 'bun:test'
import { startGateway } from '../support/gateway.ts'
import { errorReply, messageOf, newAsset, newGroup, openFixture, statusAndText } from './fixture.ts'

const bodied = [
  'POST /assets',
  'POST /assets/groups',
  'PUT /assets/{asset}',
  'PATCH /assets/{asset}',
  'PATCH /assets/groups/{group}',
]

describe.each(bodied)('%s', (route) => {
  const open = async (maxBodyBytes?: number) => {
    const fixture = await openFixture({ maxBodyBytes })
    const group = await newGroup(fixture.ann, 'a')
    const asset = await newAsset(fixture.ann, group)
    fixture.calls()
    const [method = '', path = ''] = route.replace('{asset}', asset).replace('{group}', group).split(' ')
    return {
      ...{ fixture, method, path },
      ask: (body: string, headers?: Record<string, string>) => fixture.ann.ask(method, path, body, headers),
    }
  }

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
    const { fixture, ask } = await open()
    await using _ = fixture
    const reply = await ask(body)
    expect(reply.status).toBe(400)
    expect(messageOf(reply)).toMatch(/^request body /)
    expect(fixture.calls()).toEqual([])
  })

  test('rejects invalid UTF-8 with 400', async () => {
    const { fixture, method, path } = await open()
    await using _ = fixture
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
    const { fixture, ask } = await open(2_000)
    await using _ = fixture
    const body = `{"Name":"${'x'.repeat(2_000)}"}`
    expect(statusAndText(await ask(body))).toEqual(errorReply(413, 'request body is too large'))
    expect(fixture.calls()).toEqual([])
  })

  test('accepts any Content-Type', async () => {
    const { fixture, ask } = await open()
    await using _ = fixture
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
