import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI, { APIError } from 'openai'
import type { Video, VideoCreateParams } from 'openai/resources/videos'
import { adviceFor } from 'sluice/failure-advice'
import { Background } from '../../plugins/shared/background/background.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { png } from '../video-generation/videos-fixture.ts'
import { all, type Fixture, openFixture, thrown } from './fixture.ts'

const model = 'doubao-seedance-2-0-260128'
const newest = 'doubao-seedance-2-5-260628'

/** What the poll helper of the client for Python does: it gives up at any other status. */
const poll = async (videos: OpenAI['videos'], { id }: Pick<Video, 'id'>): Promise<Video> => {
  for (let progress = 0; ; ) {
    const video = await videos.retrieve(id)
    expect(video.progress).toBeGreaterThanOrEqual(progress)
    progress = video.progress
    if (video.status === 'completed' || video.status === 'failed') return video
    expect(video.status).toBeOneOf(['queued', 'in_progress'])
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

const errorOf = async (promise: Promise<unknown>) => {
  const error = await thrown(promise)
  if (!(error instanceof APIError)) throw error
  const { status, code, param, type } = error
  return { status, code, param, type }
}

const notFound = { status: 404, code: 'NotFound.Task', param: 'id', type: 'invalid_request_error' }

repeatOnDatabases('OpenAI’s client and videos', (database) => {
  const background = new Background()
  let fixture: Fixture
  let videos: OpenAI['videos']
  let bobs: OpenAI['videos']

  beforeAll(async () => {
    fixture = await openFixture({
      store: await database.open(),
      emulator: { video: { queuedMs: 0, runningMs: 20 } },
      video: { background, pollMs: 20, modelAliases: { 'sora-2': model } },
    })
    videos = fixture.openai.videos
    bobs = new OpenAI({ baseURL: fixture.baseURL, apiKey: fixture.bob.token, maxRetries: 0 }).videos
  })
  afterAll(async () => {
    await background.stop()
    await fixture[Symbol.asyncDispose]()
  })

  const complete = async (params: VideoCreateParams = { prompt: 'a cat' }) => {
    const video = await poll(videos, await videos.create(params))
    expect(video.status).toBe('completed')
    return video
  }

  /** The body of the newest create call to the upstream. */
  const newestTask = () => {
    const tasks = fixture.emulator.video.tasks()
    return tasks.at(-1)
  }

  test('a dry run tells the price and creates nothing, or is refused like the creation', async () => {
    const before = fixture.emulator.video.tasks().length
    const query = { dry_run: 'true' }
    const dry: object = await videos.create({ prompt: 'a cat', seconds: '8', size: '1280x720' }, { query })
    expect(dry).toMatchObject({ dry_run: true, model, usage: { exact: true }, violations: [] })
    // What only the vendor would refuse.
    const tooLong: object = await videos.create({ prompt: 'a cat', seconds: '99' as never }, { query })
    expect(tooLong).toMatchObject({ dry_run: true, violations: [{ param: 'seconds' }] })
    const wrong = { prompt: 'a cat', seconds: 'soon' } as unknown as VideoCreateParams
    const refusal = await errorOf(videos.create(wrong))
    expect(await errorOf(videos.create(wrong, { query }))).toEqual(refusal)
    expect(refusal.status).toBe(400)
    expect(fixture.emulator.video.tasks()).toHaveLength(before)
  })

  test('creates a video and polls it until it is completed', async () => {
    const before = Math.floor(Date.now() / 1000)
    const created = await videos.create({ prompt: 'a cat', seconds: '8', size: '1280x720' })
    expect(created).toMatchObject({
      ...{ object: 'video', model: 'sora-2', prompt: 'a cat', seconds: '8', size: '1280x720' },
      ...{ completed_at: null, expires_at: null, error: null, remixed_from_video_id: null },
    })
    expect(created.status).toBeOneOf(['queued', 'in_progress'])
    const done = await poll(videos, created)
    expect(done).toMatchObject({ id: created.id, status: 'completed', progress: 100, seconds: '8', size: '1280x720' })
    expect(done.created_at).toBeGreaterThanOrEqual(before)
    expect(done.completed_at).toBeGreaterThanOrEqual(done.created_at)
    expect(done.expires_at).toBe((done.completed_at ?? 0) + 86_400)
  })

  test('creates one from a file, and one from the address of an image', async () => {
    const input_reference = new File([png], 'cat.png', { type: 'image/png' })
    const fromFile = await complete({ prompt: 'it moves', input_reference })
    expect(fromFile).toMatchObject({ prompt: 'it moves', seconds: '4' })
    expect(newestTask()?.request.mode).toBe('frames')
    const image_url = 'https://images.example/cat.png'
    await complete({ prompt: 'it moves', input_reference: { image_url } })
    expect(newestTask()?.request.mode).toBe('frames')
  })

  test('cannot use an asset of somebody else, and gets the same error for one that does not exist', async () => {
    const create = (image_url: string) => errorOf(videos.create({ prompt: 'a', input_reference: { image_url } }))
    const tasks = fixture.emulator.video.tasks().length
    const foreign = { status: 403, code: 'asset_not_found', param: 'input_reference', type: 'permission_error' }
    expect(await create('asset://asset-20260101000000-nobody')).toEqual(foreign)
    for (const address of ['asset:asset-1', ' ASSET://asset-1', 'a\u200bsset://asset-1', 'file:///etc/passwd'])
      expect(await create(address)).toMatchObject({ param: 'input_reference' })
    expect(fixture.emulator.video.tasks()).toHaveLength(tasks)
  })

  test('downloads the video, a range of it, and its last frame', async () => {
    const { id } = await complete()
    const response = await videos.downloadContent(id)
    expect(response.headers.get('content-type')).toBe('video/mp4')
    const bytes = new Uint8Array(await response.arrayBuffer())
    expect(new TextDecoder().decode(bytes.slice(4, 8))).toBe('ftyp')
    expect(response.headers.get('content-length')).toBe(String(bytes.length))
    const part = await videos.downloadContent(id, {}, { headers: { range: 'bytes=4-7' } })
    expect([part.status, await part.text()]).toEqual([206, 'ftyp'])
    const frame = await videos.downloadContent(id, { variant: 'thumbnail' })
    expect(frame.headers.get('content-type')).toBe('image/jpeg')
    expect(new Uint8Array(await frame.arrayBuffer()).slice(0, 2)).toEqual(new Uint8Array([0xff, 0xd8]))
    expect(await errorOf(videos.downloadContent(id, { variant: 'spritesheet' }))).toMatchObject({
      ...{ status: 400, param: 'variant' },
    })
  })

  test('learns that the content of a video is not ready', async () => {
    const { id } = await videos.create({ prompt: 'a cat' })
    const error = await thrown(videos.downloadContent(id))
    if (error instanceof Error) expect(error.message).toContain('Video is not ready yet')
    await poll(videos, { id })
  })

  test('remixes, edits and extends a video', async () => {
    const source = await complete({ prompt: 'a cat', model: newest, seconds: '8', size: '1280x720' })
    const remix = await videos.remix(source.id, { prompt: 'a dog' })
    expect(remix).toMatchObject({ prompt: 'a dog', model: newest, remixed_from_video_id: source.id })
    expect(newestTask()?.request).toMatchObject({ mode: 'references', resolution: '720p', ratio: 'adaptive' })
    expect((await poll(videos, remix)).status).toBe('completed')
    const edit = await videos.edit({ prompt: 'edit: a dog', video: { id: source.id } })
    expect(edit.remixed_from_video_id).toBe(source.id)
    expect((await poll(videos, edit)).status).toBe('completed')
    const extension = await videos.extend({ prompt: 'extend it', seconds: '8', video: { id: source.id } })
    expect(newestTask()?.request).toMatchObject({ duration: 8 })
    expect((await poll(videos, extension)).status).toBe('completed')
    const file = new File([png], 'a.mp4')
    expect(await errorOf(videos.edit({ prompt: 'a', video: file }))).toMatchObject({ status: 400, param: 'video' })
  })

  test('with an idempotency key creates one video, whatever boundary its forms have', async () => {
    const before = fixture.emulator.video.tasks().length
    const given = { prompt: 'a cat', input_reference: new File([png], 'cat.png') }
    const [first, again] = await Promise.all([
      videos.create(given, { headers: { 'idempotency-key': 'key-1' }, maxRetries: 5 }),
      videos.create(given, { headers: { 'idempotency-key': 'key-1' }, maxRetries: 5 }),
    ])
    expect(again.id).toBe(first.id)
    const other = videos.create({ ...given, prompt: 'a dog' }, { headers: { 'idempotency-key': 'key-1' } })
    expect(await errorOf(other)).toMatchObject({ status: 409, code: 'idempotency_key_reused' })
    await poll(videos, first)
    const key = { headers: { 'idempotency-key': 'key-2' } }
    const remix = await videos.remix(first.id, { prompt: 'a dog' }, key)
    await poll(videos, remix)
    await videos.delete(first.id)
    expect((await videos.remix(first.id, { prompt: 'a dog' }, key)).id).toBe(remix.id)
    const reused = { status: 409, code: 'idempotency_key_reused' }
    expect(await errorOf(videos.remix(first.id, { prompt: 'a cow' }, key))).toMatchObject(reused)
    expect(await errorOf(videos.remix(remix.id, { prompt: 'a dog' }, key))).toMatchObject(reused)
    expect(fixture.emulator.video.tasks()).toHaveLength(before + 2)
  })

  test('gets the error of a failed video, and its own field in a rejection', async () => {
    const failed = await poll(videos, await videos.create({ prompt: 'fail with OutputVideoSensitiveContentDetected' }))
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'OutputVideoSensitiveContentDetected' } })
    expect(await errorOf(videos.downloadContent(failed.id))).toMatchObject({ status: 404 })
    expect(await errorOf(videos.create({ prompt: 'a', seconds: '99' as never }))).toMatchObject({
      ...{ status: 400, code: 'InvalidParameter', param: 'seconds', type: 'invalid_request_error' },
    })
    expect(await errorOf(videos.create({ prompt: 'a', size: '1792x1024' }))).toMatchObject({
      status: 400,
      param: 'size',
    })
    const fileId = { prompt: 'a', input_reference: { file_id: 'file-1' } }
    expect(await errorOf(videos.create(fileId))).toMatchObject({ status: 400, param: 'input_reference.file_id' })
    expect(await errorOf(videos.create({ prompt: 'a', model: 'no-such-model' }))).toMatchObject({ status: 404 })
  })

  test('says what to do about what the vendor has refused, beside its own code', async () => {
    const input_reference = { image_url: 'https://images.example/real-face.png' }
    const error = await videos.create({ prompt: 'a', input_reference }).catch((error: unknown) => error)
    const code = 'InputImageSensitiveContentDetected.PrivacyInformation'
    expect(error).toMatchObject({ status: 400, code, param: 'input_reference' })
    expect(error).toHaveProperty('error.advice', adviceFor(code))
    // The gateway's own codes need none.
    const own = await videos.retrieve('cgt-20260101000000-nobody').catch((error: unknown) => error)
    expect(own).toHaveProperty('status', 404)
    expect(own).not.toHaveProperty('error.advice')
  })

  test('lists all videos of the user, page by page, in both orders', async () => {
    for (let index = 0; index < 5; index++) await videos.create({ prompt: `cat ${index}` })
    const newestFirst = await all(videos.list({ limit: 2 }))
    const ids = newestFirst.map(({ id }) => id)
    expect(newestFirst.slice(0, 5).map(({ prompt }) => prompt)).toEqual([4, 3, 2, 1, 0].map((index) => `cat ${index}`))
    expect(new Set(ids).size).toBe(ids.length)
    expect(await all(videos.list({ order: 'asc', limit: 3 }))).toBeArrayOfSize(ids.length)
    expect((await all(videos.list({ order: 'asc', limit: 3 }))).map(({ id }) => id)).toEqual(ids.toReversed())
    const page = await videos.list({ limit: 2, after: ids[1] ?? '' })
    expect(page.data.map(({ id }) => id)).toEqual(ids.slice(2, 4))
    expect(page).toMatchObject({ last_id: ids[3], has_more: true })
    expect(await all(bobs.list())).toEqual([])
    for (const query of [{ limit: 0 }, { limit: 101 }, { order: 'up' }] as OpenAI.VideoListParams[])
      expect(await errorOf(Promise.resolve(videos.list(query)))).toMatchObject({
        status: 400,
        param: Object.keys(query)[0],
      })
    for (const { id } of newestFirst.slice(0, 5)) await poll(videos, { id })
  })

  test('deletes all videos while it walks through the list', async () => {
    for (let index = 0; index < 3; index++) await complete()
    const before = await all(videos.list())
    for await (const { id } of videos.list({ limit: 2 })) {
      expect(await videos.delete(id)).toEqual({ id, object: 'video.deleted', deleted: true })
      expect(await errorOf(videos.retrieve(id))).toEqual(notFound)
    }
    expect(before.length).toBeGreaterThan(2)
    expect(await all(videos.list())).toEqual([])
  })

  test('cannot tell a video of somebody else from one that does not exist', async () => {
    const { id } = await complete()
    for (const other of [id, 'cgt-20260101000000-00000000000000000000', 'video_123', 'a/b', '..%2f', 'x'.repeat(500)]) {
      for (const asking of [
        () => bobs.retrieve(other),
        () => bobs.delete(other),
        () => bobs.downloadContent(other),
        () => bobs.remix(other, { prompt: 'a' }),
        () => bobs.edit({ prompt: 'a', video: { id: other } }),
        () => bobs.extend({ prompt: 'a', seconds: '4', video: { id: other } }),
      ]) {
        expect(await errorOf(asking())).toEqual(notFound)
      }
    }
    expect((await videos.retrieve(id)).status).toBe('completed')
  })
})

describe('videos', () => {
  test('that wait in the queue are queued, and deleted they are gone', async () => {
    await using fixture = await openFixture({
      emulator: { video: { queuedMs: 0, runningMs: Number.POSITIVE_INFINITY } },
      video: { slots: { '*': { running: 1 } } },
    })
    const { videos } = fixture.openai
    const first = await videos.create({ prompt: 'a', model })
    const second = await videos.create({ prompt: 'b', model })
    expect(second).toMatchObject({ status: 'queued', progress: 0, prompt: 'b' })
    expect(fixture.emulator.video.tasks()).toHaveLength(1)
    await videos.delete(second.id)
    expect(await errorOf(videos.retrieve(second.id))).toEqual(notFound)
    expect((await all(videos.list())).map(({ id }) => id)).toEqual([first.id])
    expect(await errorOf(videos.create({ prompt: 'a' }))).toMatchObject({ status: 400, param: 'model' })
  })

  test('without an upstream are 502 for a user, and 401 for anybody else', async () => {
    await using fixture = await openFixture({ video: { upstream: undefined } })
    const { videos } = fixture.openai
    const calls = [
      () => videos.create({ prompt: 'a' }),
      () => Promise.resolve(videos.list()),
      () => videos.retrieve('a'),
      () => videos.delete('a'),
      () => videos.downloadContent('a'),
    ]
    for (const call of calls) expect(await errorOf(call())).toMatchObject({ status: 502, type: 'server_error' })
    const nobody = new OpenAI({ baseURL: fixture.baseURL, apiKey: 'sk-nobody', maxRetries: 0 }).videos
    expect(await errorOf(nobody.create({ prompt: 'a' }))).toMatchObject({ status: 401, code: 'invalid_api_key' })
  })

  test('have no other routes and methods', async () => {
    await using fixture = await openFixture()
    const { videos } = fixture.openai
    const ask = async (method: string, path: string) => {
      const response = await fetch(`${fixture.baseURL}${path}`, { method })
      return { status: response.status, body: await response.json() }
    }
    expect(await ask('PUT', '/videos')).toMatchObject({
      status: 405,
      body: { error: { type: 'invalid_request_error' } },
    })
    expect(await ask('POST', '/videos/a')).toMatchObject({ status: 405 })
    expect(await ask('GET', '/videos/a/b')).toMatchObject({ status: 404, body: { error: { code: null } } })
    expect(await ask('GET', '/videosa')).toMatchObject({ status: 404, body: { error: { code: 'unknown_url' } } })
    expect(await errorOf(videos.getCharacter('a'))).toMatchObject({ status: 404 })
  })
})
