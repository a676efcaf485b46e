import { describe, expect, test } from 'bun:test'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { turns } from '../../plugins/shared/background/turns.ts'
import { attachBody, readJsonBody } from '../../plugins/shared/http/body/body.ts'
import { decodeContent } from '../../plugins/shared/http/body/content-coding.ts'
import { countInFlight, type InFlight } from '../../plugins/shared/http/in-flight.ts'

const codings = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['GZip ', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
] as const

const post = (body: Uint8Array | string, coding: string) =>
  new Request('http://localhost/', {
    method: 'POST',
    body: typeof body === 'string' ? body : new Uint8Array(body),
    headers: { 'content-encoding': coding },
  })

const rejectionOf = async (reading: Promise<unknown>) =>
  reading.then(
    () => 'accepted',
    (error: { status: number; message: string }) => `${error.status} ${error.message}`,
  )

describe.each(codings)('a body in %s', (coding, encode) => {
  test('is decoded, with every byte', async () => {
    for (const text of ['{"a":1}', `{"b" : "${'é\\u0061'.repeat(400_000)}"}`]) {
      const { bytes } = await readJsonBody(post(encode(text), coding), 2 ** 23)
      expect(new TextDecoder().decode(bytes) === text).toBe(true)
    }
  })

  test('is decoded also where a server delivers it at once', async () => {
    const bytes = encode('{"a":1}')
    const request = new Request('http://localhost/', {
      method: 'POST',
      headers: { 'content-encoding': coding, 'content-length': String(bytes.length) },
    })
    attachBody(request, async () => new Uint8Array(bytes))
    expect((await readJsonBody(request, 100)).json.get('a')?.value()).toBe(1)
  })

  test('counts by its decoded length', async () => {
    const text = `{"a":"${'x'.repeat(1_000)}"}`
    const body = encode(text)
    expect(body.length).toBeLessThan(200)
    expect(await rejectionOf(readJsonBody(post(body, coding), text.length))).toBe('accepted')
    expect(await rejectionOf(readJsonBody(post(body, coding), text.length - 1))).toBe('413 request body is too large')
    expect(await rejectionOf(readJsonBody(post(body, coding), body.length - 1))).toBe('413 request body is too large')
  })

  test('is decoded no further than its maximum, or than the limits on bytes in flight', async () => {
    const bomb = encode(Buffer.alloc(2 ** 26))
    const counting = (max: number) => {
      let bytes = 0
      const request = post(bomb, coding)
      countInFlight(request, {
        reading(count: number) {
          bytes += count
          if (bytes > max) throw new Error('the limit')
        },
      } as InFlight)
      return { request, bytes: () => bytes - bomb.length }
    }
    const large = counting(Number.POSITIVE_INFINITY)
    expect(await rejectionOf(readJsonBody(large.request, 2 ** 20))).toBe('413 request body is too large')
    expect(large.bytes()).toBeWithin(1, 2 ** 20 + 1)
    const limited = counting(2 ** 20)
    expect(await rejectionOf(readJsonBody(limited.request, 2 ** 26))).toContain('the limit')
    expect(limited.bytes()).toBeLessThan(2 ** 21)
  })

  test('that is damaged, cut off or not coded at all is a 400', async () => {
    const whole = encode('{"a":1}')
    for (const body of [
      whole.subarray(0, -3),
      '',
      '{"a":1}',
      Buffer.concat([whole.subarray(0, 4), Buffer.alloc(40, 7)]),
    ])
      expect(await rejectionOf(readJsonBody(post(body, coding), 1_000))).toMatch(
        /^400 request body is not valid (?:x-)?(?:gzip|deflate|br)$/,
      )
  })
})

test('the event loop serves others while a long body is decoded', async () => {
  let turns = 0
  const timer = setInterval(() => turns++, 0)
  await readJsonBody(post(gzipSync(`{"a":"${'x'.repeat(2 ** 25)}"}`), 'gzip'), 2 ** 26)
  clearInterval(timer)
  expect(turns).toBeGreaterThan(8)
})

test.each(['zstd', 'compress', 'gzip, gzip', 'gzip, identity', 'aws-chunked', 'x'.repeat(10_000)])(
  'a body in another coding is rejected unread, with those that are accepted: %.20s',
  async (coding) => {
    const request = new Request('http://localhost/', { method: 'POST', headers: { 'content-encoding': coding } })
    attachBody(request, () => Promise.reject(new Error('read')))
    const error = await readJsonBody(request, 100).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      status: 415,
      message: 'content-encoding must be one of gzip, deflate, br',
      headers: { 'accept-encoding': 'gzip, deflate, br' },
    })
  },
)

test.each(['', 'identity'])('the coding %j is none', async (coding) => {
  expect((await readJsonBody(post('{"a":1}', coding), 7)).json.get('a')?.value()).toBe(1)
})

test('a body is decoded in steps of 256 KiB, the first of which waits for its turn too', async () => {
  const before = turns.count
  let first = 0
  const counted = {
    reading() {
      first ||= turns.count
    },
  }
  const decoded = await decodeContent('br', async () => brotliCompressSync(new Uint8Array(2 ** 22)), 2 ** 23, counted)
  expect(decoded?.length).toBe(2 ** 22)
  expect(first - before).toBe(1)
  // And those that join the bytes.
  expect(turns.count - before).toBeGreaterThanOrEqual(17)
})
