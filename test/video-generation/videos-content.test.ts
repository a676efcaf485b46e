import { afterAll, describe, expect, test } from 'bun:test'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { systemClock } from '../../plugins/shared/clock.ts'
import { FieldProblem } from '../../plugins/shared/field-problem.ts'
import { toJson } from '../../plugins/shared/json/json.ts'
import { Problem } from '../../plugins/shared/problem.ts'
import type { VideoResult, VideoTaskView } from '../../plugins/video-generation/tasks/tasks.ts'
import { type ContentOptions, downloadContent } from '../../plugins/video-generation/videos/content.ts'
import { startEmulator } from '../../src/emulator/index.ts'
import { thrown, until } from '../clients/fixture.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void
let answer: Answer = (_, response) => response.end()
const bucket = createServer((request, response) => answer(request, response))
await new Promise<void>((resolve) => bucket.listen(0, '127.0.0.1', resolve))
const link = `http://127.0.0.1:${(bucket.address() as AddressInfo).port}/bucket/video.mp4?signature=s`
afterAll(() => {
  bucket.closeAllConnections()
  bucket.close()
})

const view = (result: Partial<VideoResult> | undefined, status: VideoTaskView['status'] = 'succeeded') =>
  ({
    ...{ id: 'cgt-1', status, model: 'm', createdAt: 0, endedAt: 1, body: toJson({}), queue: undefined },
    ...{ notes: undefined, result: result && { expiresAt: 1, copies: {}, links: {}, ...result } },
  }) satisfies VideoTaskView

const requestOf = (query = '', init: RequestInit = {}) =>
  new Request(`http://localhost/v1/videos/cgt-1/content${query}`, init)

const defaults: ContentOptions = { openCopy: undefined, fetch, clock: systemClock, silenceMs: 10_000 }

const download = (from: VideoTaskView, request = requestOf(), options: Partial<ContentOptions> = {}) =>
  downloadContent(from, request, { ...defaults, ...options })

const fromBucket = (request?: Request, options?: Partial<ContentOptions>) =>
  download(view({ links: { video: link } }), request, options)

describe('the content of a video', () => {
  test('from the upstream is its bytes, all or a range', async () => {
    await using emulator = await startEmulator({ processingMs: 0, video: { queuedMs: 0, runningMs: 0 } })
    const headers = { authorization: `Bearer ${emulator.video.key}`, 'content-type': 'application/json' }
    const url = `${emulator.video.url}/contents/generations/tasks`
    const content = [{ type: 'text', text: 'a cat' }]
    const body = JSON.stringify({ model: 'doubao-seedance-2-0-260128', content, return_last_frame: true })
    const { id } = (await (await fetch(url, { method: 'POST', headers, body })).json()) as { id: string }
    const task = (await (await fetch(`${url}/${id}`, { headers })).json()) as {
      content: { video_url: string; last_frame_url: string }
    }
    const links = { video: task.content.video_url, lastFrame: task.content.last_frame_url }
    const bytes = new Uint8Array(await (await fetch(links.video)).arrayBuffer())

    const whole = await download(view({ links }))
    expect(whole.status).toBe(200)
    expect(whole.headers.get('content-type')).toBe('video/mp4')
    expect(whole.headers.get('content-length')).toBe(String(bytes.length))
    expect(new Uint8Array(await whole.arrayBuffer())).toEqual(bytes)

    const range = await download(view({ links }), requestOf('', { headers: { range: 'bytes=10-19' } }))
    expect([range.status, range.headers.get('content-range')]).toEqual([206, `bytes 10-19/${bytes.length}`])
    expect(new Uint8Array(await range.arrayBuffer())).toEqual(bytes.slice(10, 20))

    const beyond = await thrown(download(view({ links }), requestOf('', { headers: { range: 'bytes=999999999-' } })))
    if (!(beyond instanceof FieldProblem)) throw beyond
    expect([beyond.status, beyond.headers]).toEqual([416, { 'content-range': `bytes */${bytes.length}` }])

    const thumbnail = await download(view({ links }), requestOf('?variant=thumbnail'))
    expect(thumbnail.headers.get('content-type')).toBe('image/jpeg')
    await thumbnail.body?.cancel()
  })

  test('tells the upstream nothing of the caller, and the caller nothing of the bucket', async () => {
    let seen: IncomingMessage['headers'] = {}
    answer = ({ headers }, response) => {
      seen = headers
      response.writeHead(200, {
        ...{ 'content-type': 'text/html', 'content-length': '2', etag: '"e"', server: 'TOS', 'set-cookie': 'a=b' },
        ...{ 'x-tos-request-id': 'r', 'x-tos-meta-owner': 'o', location: '/', 'content-disposition': 'inline' },
      })
      response.end('ok')
    }
    const headers = { authorization: 'Bearer sk-1', cookie: 'a=b', 'x-forwarded-for': '1.1.1.1', range: 'bytes=0-1' }
    const response = await fromBucket(requestOf('', { headers }))
    expect(await response.text()).toBe('ok')
    expect(Object.keys(Object.fromEntries(response.headers)).toSorted()).toEqual([
      ...['cache-control', 'content-length', 'content-type', 'etag'],
    ])
    expect(response.headers.get('content-type')).toBe('application/octet-stream')
    expect(seen.range).toBe('bytes=0-1')
    for (const name of ['authorization', 'cookie', 'x-forwarded-for']) expect(seen).not.toHaveProperty(name)
  })

  test('of a stored copy comes from the storage', async () => {
    answer = () => expect.unreachable()
    const asked: string[] = []
    const openCopy = async (key: string) => {
      asked.push(key)
      return key === 'gone' ? undefined : new Response('copy')
    }
    const both = view({ copies: { video: 'results/a.mp4' }, links: { video: link } })
    expect(await (await download(both, requestOf(), { openCopy })).text()).toBe('copy')
    expect(asked).toEqual(['results/a.mp4'])
    answer = (_, response) => response.end('upstream')
    const gone = view({ copies: { video: 'gone' }, links: { video: link } })
    expect(await (await download(gone, requestOf(), { openCopy })).text()).toBe('upstream')
  })
})

describe('without content', () => {
  const failure = async (downloading: Promise<Response>) => {
    const error = await thrown(downloading)
    if (!(error instanceof Problem)) throw error
    return { status: error.status, code: error instanceof FieldProblem ? error.code : undefined, text: error.message }
  }

  test('a video that is not ready says so, as the OpenAI API does', async () => {
    for (const status of ['queued', 'running'] as const) {
      const { text, ...rest } = await failure(download(view(undefined, status)))
      expect(rest).toEqual({ status: 404, code: 'video_not_ready' })
      expect(text).toStartWith('Video is not ready yet')
    }
  })

  test('a failed video and one without that file are 404, and an unknown variant is 400', async () => {
    expect(await failure(download(view(undefined, 'failed')))).toMatchObject({ status: 404, code: 'no_content' })
    const noFrame = failure(download(view({ links: { video: link } }), requestOf('?variant=thumbnail')))
    expect(await noFrame).toMatchObject({ status: 404, code: 'no_content' })
    for (const variant of ['spritesheet', 'lastFrame', 'constructor', '__proto__'])
      expect(await failure(fromBucket(requestOf(`?variant=${variant}`)))).toMatchObject({ status: 400 })
  })

  test('an expired link is 404, any other answer of the storage 502, and no redirect is followed', async () => {
    for (const [given, status] of [
      ...[[403, 404] as const, [404, 404] as const, [500, 502] as const, [204, 502] as const, [302, 502] as const],
    ]) {
      let calls = 0
      answer = (_, response) => {
        calls++
        response.writeHead(given, { location: '/other' }).end()
      }
      const { text, ...rest } = await failure(fromBucket())
      expect(rest.status).toBe(status)
      expect(text).not.toMatch(/127\.0\.0\.1|signature|Access/)
      expect(calls).toBe(1)
    }
    const dead = download(view({ links: { video: 'http://127.0.0.1:1/a' } }))
    expect(await failure(dead)).toMatchObject({ status: 502, text: 'upstream storage unavailable' })
  })
})

describe('a download', () => {
  test('that the storage breaks off is an error, and no short file', async () => {
    answer = (_, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('half', () => response.destroy())
    }
    expect(await thrown((await fromBucket()).arrayBuffer())).toBeInstanceOf(Error)
  })

  test('from a silent storage ends', async () => {
    const clock = new VirtualClock()
    let arrived = false
    answer = () => {
      arrived = true
    }
    const waiting = thrown(fromBucket(requestOf(), { clock }))
    await until(() => arrived)
    await clock.pass(10_000)
    expect(await waiting).toMatchObject({ status: 502 })

    for (const bytes of ['', 'half']) {
      answer = (_, response) => {
        response.writeHead(200, { 'content-length': '100' })
        response.flushHeaders()
        response.write(bytes)
      }
      const reader = (await fromBucket(requestOf(), { clock })).body?.getReader()
      if (bytes) await reader?.read()
      const rest = thrown(async () => await reader?.read())
      await until(() => clock.pending === 1)
      await clock.pass(10_000)
      expect(await rest).toBeInstanceOf(Error)
      expect(clock.pending).toBe(0)
    }
  })

  test('that the caller leaves ends at the storage', async () => {
    let closed = 0
    answer = (request, response) => {
      request.socket.once('close', () => closed++)
      response.writeHead(200)
      response.write('a'.repeat(1000))
    }
    const leaving = new AbortController()
    const reader = (await fromBucket(requestOf('', { signal: leaving.signal }))).body?.getReader()
    await reader?.read()
    leaving.abort()
    expect(await thrown(async () => await reader?.read())).toBeInstanceOf(Error)
    await until(() => closed === 1)
    const response = await fromBucket()
    await response.body?.cancel()
    await until(() => closed === 2)
  })

  test('reads from the storage only as fast as the caller reads', async () => {
    let sent = 0
    answer = (_, response) => {
      response.writeHead(200)
      const send = () => {
        while (sent < 2 ** 28 && response.write(Buffer.alloc(2 ** 16))) sent += 2 ** 16
        if (sent < 2 ** 28) response.once('drain', send)
      }
      send()
    }
    const response = await fromBucket()
    const reader = response.body?.getReader()
    await reader?.read()
    let before = -1
    while (before !== sent) {
      before = sent
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    expect(sent).toBeLessThan(2 ** 26)
    await reader?.cancel()
  })

  test('that is only asked for its length ends at once at the storage', async () => {
    let closed = false
    answer = (request, response) => {
      request.socket.once('close', () => {
        closed = true
      })
      response.writeHead(200, { 'content-length': String(2 ** 28) })
      response.write('a'.repeat(1000))
    }
    const response = await fromBucket(requestOf('', { method: 'HEAD' }))
    await until(() => closed)
    expect([response.status, response.headers.get('content-length')]).toEqual([200, String(2 ** 28)])
    // Elysia adds the lengths up.
    expect(await response.body?.getReader().read()).toEqual({ done: false, value: { byteLength: 2 ** 28 } as never })
  })
})
