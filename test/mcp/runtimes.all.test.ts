/** Runs with `--all`: the default server on both runtimes, in two processes. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ServerProcess } from '../support/server.ts'
import { openServerFixture, type ServerFixture } from '../support/server-fixture.ts'
import { MODEL, until } from '../video-generation/fixture.ts'
import { connectMcp, eras, png } from './fixture.ts'

/** Costs 40.176. */
const video = { model: MODEL, prompt: 'she waves', duration: 4, resolution: '480p', ratio: '16:9' }

for (const { runtime, getBodies } of [
  { runtime: 'bun', getBodies: 'on' },
  { runtime: 'bun', getBodies: 'off' },
  { runtime: 'deno', getBodies: 'on' },
] as const) {
  describe(`the default server on ${runtime}, GET_BODIES ${getBodies}`, () => {
    let fixture: ServerFixture
    let servers: readonly [ServerProcess, ServerProcess]
    let token: string
    beforeAll(async () => {
      fixture = await openServerFixture('sqlite', { video: { queuedMs: 0, runningMs: 20, resultBytes: 2 ** 22 } })
      const { url, key } = fixture.emulator.video
      const environment = {
        ...{ VIDEO_UPSTREAM_URL: url, VIDEO_UPSTREAM_KEY: key, VIDEO_POLL_SECONDS: '1', GET_BODIES: getBodies },
        ...{ VIDEO_PRICES: '{"*":{"tokens":1000}}', MCP_CONFIRM_ABOVE: '40', LOG_LEVEL: 'debug' },
      }
      servers = [await fixture.start(environment, runtime), await fixture.start(environment, runtime)]
      token = (await fixture.addUser('ann')).token
    }, 300_000)
    afterAll(() => fixture[Symbol.asyncDispose]())

    for (const era of eras) {
      test(`a client goes from a local picture to a kept video, with a process for each step: ${era}`, async () => {
        await using one = await connectMcp(servers[0].url, token, { era })
        await using other = await connectMcp(servers[1].url, token, { era })
        const { upload_link } = await one.call('create_upload_link')
        const link = upload_link.replace(servers[0].url, servers[1].url)
        const sent = await fetch(link, { method: 'PUT', body: png })
        const { upload } = (await sent.json()) as { upload: { url: string } }
        const asset = await one.call('create_asset', { url: upload.url })
        expect(asset).toMatchObject({ isError: false, status: 'Active' })
        const input = { ...video, first_frame: asset.address }
        const { confirm } = await one.call('create_video', input)
        const { video_id } = await other.call('create_video', { ...input, confirm })
        expect((await one.call('create_video', { ...input, confirm })).video_id).toBe(video_id)
        const messages: string[] = []
        const onprogress = ({ message = '' }) => void messages.push(message)
        const ended = await one.call('wait_for_video', { video_id }, { onprogress })
        expect(ended).toMatchObject({ isError: false, status: 'succeeded' })
        expect(messages.length).toBeGreaterThan(0)
        expect((await (await fetch(ended.video_url)).bytes()).length).toBe(2 ** 22)
      }, 300_000)
    }

    test('a person confirms in a dialog', async () => {
      const answer = () => ({ action: 'accept', content: { confirm: true } })
      await using ann = await connectMcp(servers[0].url, token, { era: 'modern', answer })
      expect(await ann.call('create_video', video)).toMatchObject({ isError: false, cost: 40.176 })
    })

    test('a large file goes through an upload link', async () => {
      await using ann = await connectMcp(servers[0].url, token, { era: 'modern' })
      const { upload_link } = await ann.call('create_upload_link')
      const body = new Uint8Array(20 * 2 ** 20)
      body.set(png)
      const sent = await fetch(upload_link, { method: 'PUT', body })
      const { upload } = (await sent.json()) as { upload: { url: string } }
      expect((await (await fetch(upload.url)).bytes()).length).toBe(body.length)
    })

    test('the audit trail has what the tools did, with the address of the client', async () => {
      for (const action of ['upload.create', 'group.create', 'asset.create'] as const) {
        await until(async () => (await fixture.store.listAudit({ action })).length > 0)
        const [entry] = await fixture.store.listAudit({ action })
        expect(entry).toMatchObject({
          action,
          address: '127.0.0.1',
          user: expect.any(String),
          token: expect.any(String),
        })
      }
    })

    test('the log has neither a link nor a token, and no error', () => {
      const log = servers.map(({ stderr }) => stderr()).join('')
      expect(log).toContain('"/mcp/uploads/…"')
      expect(log).not.toMatch(/mcp\/uploads\/[\w-]/)
      expect(log).not.toContain(token)
      expect(log).not.toMatch(/"level":"(?:warn|error)"|"level":[45]0/)
    })
  })
}

test('MCP=off: the server has no MCP server', async () => {
  await using fixture = await openServerFixture()
  const server = await fixture.start({ MCP: 'off' })
  expect((await fetch(`${server.url}/mcp`, { method: 'POST' })).status).toBe(404)
}, 300_000)
