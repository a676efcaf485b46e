import { expect, test } from 'bun:test'
import { createToken, hashToken } from '../../plugins/api-token/index.ts'
import type { Scope } from '../../plugins/shared/identity/scopes.ts'
import { usageLimits } from '../../plugins/usage-limits/index.ts'
import { VirtualClock } from '../support/virtual-clock.ts'
import { MODEL, until } from '../video-generation/fixture.ts'
import { eras, type McpFixture, openMcpFixture } from './fixture.ts'

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }

const post = ({ gateway, ann }: McpFixture, body: RequestInit['body'], headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}/mcp`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${ann.token}`, 'content-type': 'application/json' },
      ...{ accept: 'application/json, text/event-stream', ...headers },
    },
    body,
  })

test('the caller is known before the body is read, by a token in any of the headers', async () => {
  await using fixture = await openMcpFixture()
  const endless = () => new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1024)) })
  for (const authorization of ['', 'Bearer sk-unknown', 'Basic abc']) {
    const response = await post(fixture, endless(), { authorization })
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  }
  for (const name of ['x-api-key', 'api-key']) {
    await using ann = await fixture.connect(fixture.ann, { headers: { [name]: fixture.ann.token } })
    expect(await ann.call('list_videos')).toMatchObject({ isError: false, total: 0 })
    const { upload_link } = await ann.call('create_upload_link')
    expect((await fetch(upload_link, { method: 'PUT', body: 'no picture' })).status).toBe(415)
  }
})

test('only single messages of a bounded length are taken, and there is no session', async () => {
  await using fixture = await openMcpFixture()
  const statusOf = async (body: RequestInit['body'], headers = {}) => (await post(fixture, body, headers)).status
  expect(await statusOf(JSON.stringify(list))).toBe(200)
  expect(await statusOf(JSON.stringify([list, list]))).toBe(400)
  expect(await statusOf('{"jsonrpc":')).toBe(400)
  expect(await statusOf(JSON.stringify(list), { 'content-type': 'text/plain' })).toBe(415)
  expect(await statusOf(JSON.stringify({ ...list, more: 'x'.repeat(2 ** 20) }))).toBe(413)
  for (const method of ['GET', 'DELETE']) {
    const response = await fetch(`${fixture.gateway.url}/mcp`, { method })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
  }
  await using ann = await fixture.connect(fixture.ann)
  const listen = { method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } } } as const
  await expect(ann.client.request(listen as never, undefined as never)).rejects.toThrow('Subscription limit reached')
})

test('a token sees and calls only the tools of its scopes', async () => {
  await using fixture = await openMcpFixture()
  const reading = { media: ['find_assets', 'get_asset'], video: ['wait_for_video', 'get_video', 'list_videos'] }
  const media = ['find_assets', 'get_asset', 'create_upload_link', 'create_asset']
  const video = ['price_video', 'create_video', ...reading.video]
  for (const [scopes, names] of [
    [['media'], media],
    [['video'], video],
    [['read'], [...reading.media, ...reading.video]],
    [
      ['media', 'read'],
      [...media, ...reading.video],
    ],
    [['text'], []],
  ] as readonly (readonly [readonly Scope[], readonly string[]])[]) {
    const token = createToken()
    await fixture.store.addUserToken(fixture.ann.id, { hash: hashToken(token), start: 'sk-', scopes, createdAt: 1 })
    for (const era of eras) {
      await using client = await fixture.connect({ token }, { era })
      expect([scopes, await client.names()]).toEqual([scopes, [...names]])
      for (const name of [...media, ...video]) {
        const called = client.call(name, { asset_id: 'a', video_id: 'v', model: MODEL, url: 'https://a.example/b.png' })
        if (names.includes(name)) await called.catch(() => {})
        else await expect(called).rejects.toThrow('there is no such tool')
      }
    }
  }
})

test('limits of a user hold for tools, and are told with the time to wait', async () => {
  await using fixture = await openMcpFixture({
    more: {
      mcp: { confirmAbove: null },
      limitsOf: (store) =>
        usageLimits({ store: store.limits, userLimits: [{ unit: 'videos', amount: 1, window: 'day' }] }),
    },
  })
  await using ann = await fixture.connect(fixture.ann)
  const video = { model: MODEL, prompt: 'a cat' }
  const price = await ann.call('price_video', video)
  expect(price.limits).toEqual([expect.objectContaining({ unit: 'videos', remaining: 1, needed: 1 })])
  expect((await ann.call('create_video', video)).isError).toBe(false)
  const refused = await ann.call('create_video', video)
  expect(refused).toMatchObject({ isError: true, error: { status: 429, code: 'QuotaExceeded' } })
  expect(refused.error.retry_after).toBeGreaterThan(0)
  expect(fixture.emulator.video.tasks()).toHaveLength(1)
})

for (const era of eras) {
  test(`a wait tells its progress, and ends with the video: ${era}`, async () => {
    await using fixture = await openMcpFixture({ more: { mcp: { confirmAbove: null } } })
    await using ann = await fixture.connect(fixture.ann, { era })
    const { video_id } = await ann.call('create_video', { model: MODEL, prompt: 'a cat' })
    const failure = { status: 'failed', code: 'OutputAudioSensitiveContentDetected', message: 'sound' } as const
    const messages: string[] = []
    const onprogress = ({ message = '' }) => {
      messages.push(message)
      for (const { id, status } of fixture.emulator.video.tasks())
        if (status === 'running') fixture.emulator.video.finish(id, failure)
    }
    const ended = await ann.call('wait_for_video', { video_id }, { onprogress })
    expect(messages[0]).toMatch(/^the video is (?:queued|running)$/)
    expect(ended).toMatchObject({
      isError: false,
      status: 'failed',
      error: { code: 'OutputAudioSensitiveContentDetected' },
    })
    expect(ended.advice).toMatchObject({ retry: true, change: 'without_audio', by: 'caller' })
  })

  test(`a wait ends in time, when its client leaves, and when its token is revoked: ${era}`, async () => {
    const clock = new VirtualClock()
    await using fixture = await openMcpFixture({ more: { mcp: { confirmAbove: null, clock } } })
    await using ann = await fixture.connect(fixture.ann, { era })
    const { video_id } = await ann.call('create_video', { model: MODEL, prompt: 'a cat' })
    expect((await ann.call('wait_for_video', { video_id, wait_seconds: 0 })).status).toMatch(/queued|running/)

    const late = ann.call('wait_for_video', { video_id, wait_seconds: 600 })
    await until(() => clock.pending === 1)
    let isOver = false
    void late.then(() => {
      isOver = true
    })
    while (!isOver) {
      if (clock.pending === 1) await clock.pass(1_000)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    expect([clock.now() - 1_000_000, (await late).status]).toEqual([50_000, expect.stringMatching(/queued|running/)])

    const other = await fixture.connect(fixture.ann, { era })
    const left = other.call('wait_for_video', { video_id })
    await until(() => clock.pending === 1)
    await other[Symbol.asyncDispose]()
    await expect(left).rejects.toThrow()
    await until(() => clock.pending === 0)

    const revoked = ann.call('wait_for_video', { video_id })
    await until(() => clock.pending === 1)
    const [token] = await fixture.store.listTokens(fixture.ann.id)
    await fixture.store.revokeToken(token?.id ?? '', Date.now())
    expect(await revoked).toEqual({ isError: true, error: { status: 401, message: 'not authenticated' } })
  })
}

test('open streams count for the limit of their user', async () => {
  const clock = new VirtualClock()
  await using fixture = await openMcpFixture({
    more: { limiting: { user: { maxStreams: 1 } }, mcp: { confirmAbove: null, clock } },
  })
  await using ann = await fixture.connect(fixture.ann, { era: 'legacy' })
  await using bob = await fixture.connect(fixture.bob, { era: 'legacy' })
  const { video_id } = await ann.call('create_video', { model: MODEL, prompt: 'a cat' })
  const waiting = ann.call('wait_for_video', { video_id })
  await until(() => clock.pending === 1)
  expect((await post(fixture, JSON.stringify(list))).status).toBe(429)
  expect((await bob.names()).length).toBe(9)
  await ann.client.close()
  await expect(waiting).rejects.toThrow()
  await until(async () => (await post(fixture, JSON.stringify(list))).status === 200)
})
