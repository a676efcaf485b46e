import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import OpenAI from 'openai'
import { folderStorage } from 'sluice/file-storage'
import { temporaryFolder } from '../file-storage/fixture.ts'
import { MODEL, openVideoFixture, type VideoFixture } from '../video-generation/fixture.ts'
import { thrown, until } from './fixture.ts'

describe('videos with a storage', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  let fixture: VideoFixture
  let videos: OpenAI['videos']

  beforeAll(async () => {
    folder = await temporaryFolder()
    fixture = await openVideoFixture({
      video: { runningMs: 0, resultBytes: 2 ** 22 },
      more: { files: { storage: folderStorage(folder.path) } },
    })
    videos = new OpenAI({ baseURL: `${fixture.gateway.url}/v1`, apiKey: fixture.ann.token, maxRetries: 0 }).videos
  })
  afterAll(async () => {
    await fixture[Symbol.asyncDispose]()
    await folder[Symbol.asyncDispose]()
  })

  const downloadsOfUpstream = () => fixture.emulator.calls.filter(({ path }) => path.startsWith('/tos/')).length

  test('have the content of the stored copy, with ranges, when the link of the upstream has expired', async () => {
    const { id } = await videos.create({ prompt: 'a cat', model: MODEL })
    await until(async () => (await videos.retrieve(id)).status === 'completed')
    const { completed_at, expires_at } = await videos.retrieve(id)
    expect((expires_at ?? 0) - (completed_at ?? 0)).toBeGreaterThan(29 * 86_400)

    const downloads = downloadsOfUpstream()
    fixture.emulator.video.advance(25 * 3_600_000)
    const whole = await videos.downloadContent(id)
    const { headers } = whole
    expect(headers.get('content-type')).toBe('video/mp4')
    expect(headers.get('content-security-policy')).toContain('sandbox')
    const bytes = Buffer.from(await whole.arrayBuffer())
    expect(bytes.length).toBe(2 ** 22)
    const range = await videos.downloadContent(id, {}, { headers: { range: 'bytes=1000000-2000000' } })
    expect([range.status, range.headers.get('content-range')]).toEqual([206, `bytes 1000000-2000000/${2 ** 22}`])
    expect(Buffer.from(await range.arrayBuffer()).equals(bytes.subarray(1_000_000, 2_000_001))).toBeTrue()
    const last = await videos.downloadContent(id, {}, { headers: { range: 'bytes=-4' } })
    expect(Buffer.from(await last.arrayBuffer()).equals(bytes.subarray(-4))).toBeTrue()
    const beyond = await thrown(videos.downloadContent(id, {}, { headers: { range: 'bytes=99999999-' } }))
    expect(beyond).toMatchObject({ status: 416, type: 'invalid_request_error' })
    const frame = await videos.downloadContent(id, { variant: 'thumbnail' })
    expect(frame.headers.get('content-type')).toBe('image/jpeg')
    await frame.arrayBuffer()

    const authorization = `Bearer ${fixture.ann.token}`
    const ask = (method: string, more: Record<string, string> = {}) =>
      fetch(`${fixture.gateway.url}/v1/videos/${id}/content`, { method, headers: { authorization, ...more } })
    const head = await ask('HEAD')
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(2 ** 22)])
    const unchanged = await ask('GET', { 'if-none-match': headers.get('etag') ?? '' })
    expect([unchanged.status, await unchanged.text()]).toEqual([304, ''])
    expect(downloadsOfUpstream()).toBe(downloads)

    expect(readdirSync(`${folder.path}/results`)).toHaveLength(2)
    await videos.delete(id)
    await until(() => readdirSync(`${folder.path}/results`).length === 0)
  })

  test('of somebody else have no content', async () => {
    const { id } = await videos.create({ prompt: 'a cat', model: MODEL })
    await until(async () => (await videos.retrieve(id)).status === 'completed')
    const bobs = new OpenAI({ baseURL: `${fixture.gateway.url}/v1`, apiKey: fixture.bob.token, maxRetries: 0 }).videos
    for (const variant of ['video', 'thumbnail'] as const)
      expect(await thrown(bobs.downloadContent(id, { variant }))).toMatchObject({ status: 404, code: 'NotFound.Task' })
  })
})

test('without a storage, HEAD of the content says its length', async () => {
  await using fixture = await openVideoFixture({ video: { runningMs: 0, resultBytes: 2 ** 24 } })
  const headers = { authorization: `Bearer ${fixture.ann.token}` }
  const id = await fixture.ann.created()
  await until(async () => (await fixture.ann.statusOf(id)) === 'succeeded')
  const head = await fetch(`${fixture.gateway.url}/v1/videos/${id}/content`, { method: 'HEAD', headers })
  expect([head.status, head.headers.get('content-length')]).toEqual([200, String(2 ** 24)])
})
