import { afterEach, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import type { Emulator } from '../../src/emulator/index.ts'
import { describeWithBrowser, openBrowser } from '../console/browser.ts'
import { created, get, MODEL, MODEL_10, MODEL_25, media, remove, startAt, text } from './video-client.ts'

let emulator: Emulator
afterEach(() => emulator.stop())

/** Creates a task, lets it succeed, and returns it as GET does. */
const result = async (more: object = {}) => {
  const id = await created(emulator, 'a cat', more)
  emulator.video.finish(id)
  return (await get(emulator, id)).json
}
const download = (link: string, headers: Record<string, string> = {}) => fetch(link, { headers })
const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer())

/** The top-level boxes of an MP4 file (ISO/IEC 14496-12 section 4.2). */
const boxesOf = (file: Buffer) => {
  const boxes: { readonly type: string; readonly content: Buffer }[] = []
  for (let at = 0; at < file.length; ) {
    const size = file.readUInt32BE(at)
    boxes.push({ type: file.toString('latin1', at + 4, at + 8), content: file.subarray(at + 8, at + size) })
    at += size
  }
  return boxes
}

test('the video is a complete MP4 file of its own, the last frame a JPEG', async () => {
  emulator = await startAt()
  const first = await result({ return_last_frame: true })
  const second = await result()
  const video = await download(first.content.video_url)
  expect(video.headers.get('content-type')).toBe('video/mp4')
  const boxes = boxesOf(await bytesOf(video))
  expect(boxes.map(({ type }) => type)).toEqual(['ftyp', 'moov', 'free', 'mdat', 'free'])
  expect(boxes.at(-1)?.content.toString()).toBe(first.id)
  const frame = await download(first.content.last_frame_url)
  const jpeg = await bytesOf(frame)
  expect([
    frame.headers.get('content-type'),
    jpeg.toString('hex', 0, 2),
    jpeg.toString('hex', jpeg.length - 2),
  ]).toEqual(['image/jpeg', 'ffd8', 'ffd9'])
  const hash = async (link: string) =>
    createHash('sha256')
      .update(await bytesOf(await download(link)))
      .digest('hex')
  expect(await hash(first.content.video_url)).not.toBe(await hash(second.content.video_url))
  expect(second.content).not.toHaveProperty('last_frame_url')
})

test('a video can have any size, and the format of QuickTime', async () => {
  emulator = await startAt({ resultBytes: 5_000_000 })
  const { content } = await result({ model: MODEL_25, output_format: 'mov' })
  const response = await download(content.video_url)
  const file = await bytesOf(response)
  expect([response.headers.get('content-type'), file.length, file.toString('latin1', 4, 12)]).toEqual([
    'video/quicktime',
    5_000_000,
    'ftypqt  ',
  ])
  expect(new URL(content.video_url).pathname).toEndWith('.mov')
})

test('a download can be of one range', async () => {
  emulator = await startAt()
  const { content } = await result()
  const all = await bytesOf(await download(content.video_url))
  for (const [range, from, to] of [
    ['bytes=0-99', 0, 99],
    ['bytes=100-', 100, all.length - 1],
    ['bytes=-10', all.length - 10, all.length - 1],
    [`bytes=5-${all.length + 5}`, 5, all.length - 1],
  ] as const) {
    const part = await download(content.video_url, { range })
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes ${from}-${to}/${all.length}`])
    expect(await bytesOf(part)).toEqual(all.subarray(from, to + 1))
  }
  const outside = await download(content.video_url, { range: `bytes=${all.length}-` })
  expect([outside.status, outside.headers.get('content-range')]).toEqual([416, `bytes */${all.length}`])
  const head = await fetch(content.video_url, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-length')]).toEqual([200, String(all.length)])
})

test('a link is valid for 24 hours from the end of the task, and cannot be changed', async () => {
  emulator = await startAt({}, { clock: () => Date.UTC(2026, 7, 1) })
  const { id, content } = await result()
  const wrong = async (link = '') => {
    const response = await download(link)
    return [response.status, ((await response.json()) as { Message: string }).Message]
  }
  const unsigned = [403, 'The request signature does not match.']
  expect(await wrong(content.video_url.replace('Expires=86400', 'Expires=999999'))).toEqual(unsigned)
  expect(await wrong(content.video_url.replace('20260801T000000Z', '20260802T000000Z'))).toEqual(unsigned)
  expect(await wrong(content.video_url.replace('.mp4', '.mp5'))).toEqual(unsigned)
  expect(await wrong(content.video_url.split('?')[0])).toEqual(unsigned)
  emulator.video.advance(86_399_999)
  expect((await download(content.video_url)).status).toBe(200)
  // the default: a later GET has the same link
  expect((await get(emulator, id)).json.content).toEqual(content)
  emulator.video.advance(1)
  expect(await wrong(content.video_url)).toEqual([403, 'Request has expired.'])
})

test('if asked for, each GET signs anew; the base of links can be another host', async () => {
  emulator = await startAt({ renewsLinks: true, resultsUrl: 'http://results.example:81' })
  const { id, content } = await result()
  emulator.video.advance(86_400_000)
  const renewed = (await get(emulator, id)).json.content.video_url
  expect([new URL(renewed).origin, renewed === content.video_url]).toEqual(['http://results.example:81', false])
  expect((await download(renewed.replace('http://results.example:81', emulator.origin))).status).toBe(200)
})

test('a result can be downloaded 100 times, a deleted task’s too', async () => {
  emulator = await startAt()
  const { id, content } = await result()
  expect((await remove(emulator, id)).status).toBe(200)
  for (let i = 0; i < 100; i++) expect((await download(content.video_url)).status).toBe(200)
  expect((await download(content.video_url)).status).toBe(403)
  expect(
    emulator.calls
      .filter(({ action }) => action === 'DownloadVideoResult')
      .map(({ status }) => status)
      .slice(-2),
  ).toEqual([200, 403])
})

test('downloads have faults like other calls', async () => {
  emulator = await startAt()
  const { content } = await result()
  emulator.faults.add({ kind: 'truncate', action: 'DownloadVideoResult', keep: 100 })
  await expect(download(content.video_url).then(bytesOf)).rejects.toThrow()
})

test('the tokens follow the size of the frames and the seconds of input and output', async () => {
  emulator = await startAt()
  const clip = media('video', 'https://files.example/2s.mp4', 'reference_video')
  const content = [text('x'), clip]
  for (const [more, tokens] of [
    [{}, (5 * 1280 * 720 * 24) / 1024],
    [{ resolution: '480p', duration: 10, ratio: '9:16' }, (10 * 864 * 496 * 24) / 1024],
    // 2.0 has a minimum for input videos
    [{ content, ratio: '1:1' }, (9 * 960 * 960 * 24) / 1024],
    [{ model: MODEL_25, content, duration: 4 }, (6 * 1280 * 720 * 24) / 1024],
    [{ model: MODEL_10, frames: 49, resolution: '1080p' }, (49 * 1920 * 1080) / 1024],
  ] as const) {
    const { usage } = await result(more)
    expect<unknown>([more, usage]).toEqual([
      more,
      { completion_tokens: Math.floor(tokens), total_tokens: Math.floor(tokens) },
    ])
  }
  expect((await result({ tools: [{ type: 'web_search' }] })).usage.tool_usage).toEqual({ web_search: 1 })
  const seeded = await result({ model: MODEL_10, seed: 11, frames: 49 })
  expect([seeded.seed, seeded.frames, seeded.duration]).toEqual([11, 49, undefined])
  expect((await result({ duration: -1, model: MODEL })).duration).toBe(5)
})

describeWithBrowser('in a browser', () => {
  test('the video plays, and the last frame is a picture', async () => {
    emulator = await startAt()
    const { content } = await result({ return_last_frame: true })
    const browser = await openBrowser()
    try {
      const page = await browser.newPage()
      await page.setContent(`<video muted src="${content.video_url}"></video><img src="${content.last_frame_url}">`)
      const played = await page.evaluate(`(async () => {
        const [video, image] = ['video', 'img'].map((name) => document.querySelector(name))
        const end = new Promise((resolve) => video.addEventListener('ended', resolve))
        await video.play()
        await end
        await image.decode()
        return [video.videoWidth, video.videoHeight, video.duration, image.naturalWidth, image.naturalHeight]
      })()`)
      expect(played).toEqual([256, 144, 2, 256, 144])
    } finally {
      await browser.close()
    }
  })
})
