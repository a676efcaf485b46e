/** Runs with `--all`: the clients of videos on both runtimes. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import OpenAI from 'openai'
import { openServerFixture, type ServerFixture } from '../support/server-fixture.ts'
import { end, part, png } from '../video-generation/videos-fixture.ts'
import { all, until } from './fixture.ts'

for (const { runtime, getBodies } of [
  { runtime: 'bun', getBodies: 'on' },
  { runtime: 'bun', getBodies: 'off' },
  { runtime: 'deno', getBodies: 'on' },
] as const) {
  describe(`videos of the default server on ${runtime}, GET_BODIES ${getBodies}`, () => {
    let fixture: ServerFixture
    let videos: OpenAI['videos']
    /** Sends a form in its own words. Resolves with the status and the error. */
    let sendForm: (body: string | Uint8Array<ArrayBuffer>) => Promise<{ status: number; message?: string }>

    beforeAll(async () => {
      fixture = await openServerFixture('sqlite', { video: { queuedMs: 0, runningMs: 20, resultBytes: 2 ** 24 } })
      const { url, key } = fixture.emulator.video
      const server = await fixture.start(
        {
          ...{ VIDEO_UPSTREAM_URL: url, VIDEO_UPSTREAM_KEY: key, VIDEO_POLL_SECONDS: '1', GET_BODIES: getBodies },
          ...{ VIDEO_MODEL_ALIASES: '{"sora-2":"doubao-seedance-2-0-260128"}', MAX_BODY_BYTES: '3000000' },
        },
        runtime,
      )
      const { token } = await fixture.addUser('ann')
      videos = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: token, maxRetries: 0 }).videos
      sendForm = async (body) => {
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'multipart/form-data; boundary=x-boundary' }
        const response = await fetch(`${server.url}/v1/videos`, { method: 'POST', headers, body })
        const { error } = (await response.json()) as { error?: { message: string } }
        return { status: response.status, ...(error && { message: error.message }) }
      }
    }, 300_000)
    afterAll(() => fixture[Symbol.asyncDispose]())

    test('OpenAI’s client creates, polls, downloads, lists and deletes a video', async () => {
      const input_reference = new File([png, randomBytes(2 ** 20)], 'cat.png')
      const { id } = await videos.create({ prompt: 'a cat', input_reference })
      await until(async () => (await videos.retrieve(id)).status === 'completed')
      const bytes = new Uint8Array(await (await videos.downloadContent(id)).arrayBuffer())
      expect(bytes.length).toBe(2 ** 24)
      const part = await videos.downloadContent(id, {}, { headers: { range: 'bytes=1000-8000000' } })
      expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(1000, 8_000_001))).toBeTrue()
      expect((await all(videos.list())).map((video) => video.id)).toEqual([id])
      expect((await videos.delete(id)).deleted).toBeTrue()
      expect(await all(videos.list())).toEqual([])
    }, 300_000)

    test('hostile forms are rejected alike', async () => {
      const incomplete = { status: 400, message: 'request body is not a complete multipart/form-data form' }
      const prompt = part('prompt', 'a')
      for (const body of [prompt, `${prompt}--x-boundary\r\n`, 'junk', ''])
        expect(await sendForm(body)).toEqual(incomplete)
      const many = Array.from({ length: 5_000 }, (_, index) => part(`p${index}`, 'a')).join('') + end
      expect(await sendForm(many)).toEqual({ status: 400, message: 'the form must have at most 32 parts' })
      expect(await sendForm(part('prompt', 'a'.repeat(3_000_000)) + end)).toMatchObject({ status: 413 })
      const large = await sendForm(prompt + part('model', 'b', `\r\nX: ${'x'.repeat(1_000_000)}`) + end)
      // One runtime limits the headers of a part; with the other the upstream has no such model.
      expect(large.status).toBeOneOf([400, 404])
      expect(await sendForm(prompt + prompt + end)).toMatchObject({ status: 400 })
      const content = `${png}\r\n--x-boundaryX\r\n`
      const file = part('input_reference', content, '; filename="a.png"')
      expect(await sendForm(prompt + file + end)).toMatchObject({
        ...{ status: 400, message: 'input_reference must be an image, for example JPEG or PNG' },
      })
    })
  })
}
