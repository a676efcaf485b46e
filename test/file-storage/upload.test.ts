import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type CreatedUpload, folderStorage, type Storage } from 'sluice/file-storage'
import { StorageTimeoutError } from '../../plugins/file-storage/storage/storage.ts'
import { openFiles, pieces, png, type TestFiles } from './fixture.ts'

const mp4 = (length: number) => {
  const bytes = new Uint8Array(length)
  bytes.set([0, 0, 0, 24, ...Buffer.from('ftypisom')])
  return bytes
}
const mp3 = (length: number) => Uint8Array.from({ length }, (_, at) => [0xff, 0xfb, 0x90, 0x64][at] ?? 0)

const filesIn = (path: string): string[] =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(path.length + 1))

/** What is left in the storage and in the database. */
const leftOf = async ({ path, store }: TestFiles) => ({
  files: filesIn(path),
  records: await store.claimExpiredFiles(Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER, 10),
})
const nothing = { files: [], records: [] }

const uploadOf = async (response: Response) => ((await response.json()) as CreatedUpload).upload

const messageOf = async (response: Response) => [
  response.status,
  ((await response.json()) as { error: { message: string } }).error.message,
]

const form = (...parts: readonly (readonly [disposition: string, content: string | Uint8Array])[]) => {
  const chunks = parts.flatMap(([disposition, content]) => [
    Buffer.from(`--the boundary\r\nContent-Disposition: form-data; ${disposition}\r\nContent-Type: text/html\r\n\r\n`),
    Buffer.from(content as Uint8Array),
    Buffer.from('\r\n'),
  ])
  return Buffer.concat([...chunks, Buffer.from('--the boundary--\r\n')])
}
const formType = { 'content-type': 'multipart/form-data; boundary="the boundary"' }

describe('an upload', () => {
  test('responds with the link to the file, which is kept for a day', async () => {
    await using files = await openFiles()
    const response = await files.upload(png(), { 'content-type': 'text/html' })
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toBe('no-store')
    const body = (await response.json()) as CreatedUpload
    expect(body).toEqual({
      success: true,
      upload: {
        id: expect.stringMatching(/^up_[0-9a-f]{32}$/),
        url: expect.stringMatching(
          /^https:\/\/files\.example\/api\/files\/uploads\/up_[0-9a-f]{32}\.png\?expires=\d+&signature=[\w-]{43}$/,
        ),
        content_type: 'image/png',
        expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      },
    })
    const life = Date.parse(body.upload.expires_at) - Date.now()
    expect(life).toBeWithin(86_340_000, 86_400_001)
    const file = await files.ask(body.upload.url)
    expect([file.status, file.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect(await file.bytes()).toEqual(png())
  })

  test('may be the one file of a form', async () => {
    await using files = await openFiles()
    const body = form(
      ['name="note"', 'hello'],
      ['name="file"; filename="../../evil.html"', png()],
      ['name="after"', 'x'],
    )
    const { url } = await uploadOf(await files.upload(body, formType))
    expect(await (await files.ask(url)).bytes()).toEqual(png())
    expect(filesIn(files.path)).toEqual([expect.stringMatching(/^uploads\/up_\w+\.png$/)])
  })

  test('needs a user, before anything is read', async () => {
    await using files = await openFiles()
    let read = 0
    const body = new ReadableStream(
      {
        pull(controller) {
          read++
          controller.enqueue(png())
        },
      },
      { highWaterMark: 0 },
    )
    const response = await files.ask('/api/uploads', { method: 'POST', body })
    expect([response.status, read]).toEqual([401, 0])
  })

  test.each([
    ['of HTML', '<!doctype html><script>alert(1)</script>', {}, 415],
    ['of SVG', '<svg xmlns="http://www.w3.org/2000/svg"/>', {}, 415],
    ['of HTML that is called a PNG', '<script>', { 'content-type': 'image/png' }, 415],
    ['that is empty', '', {}, 400],
    ['with a content coding', 'abc', { 'content-encoding': 'gzip' }, 415],
    ['of a form without a boundary', 'abc', { 'content-type': 'multipart/form-data' }, 400],
    ['of a form of another type', 'abc', { 'content-type': 'multipart/mixed; boundary=a' }, 400],
    ['of a form that is cut off', form(['name="file"; filename="a"', png()]).subarray(0, -20), formType, 400],
    ['of a form without a file', form(['name="file"', png()]), formType, 400],
    ['of two files', form(['name="a"; filename="a"', png()], ['name="b"; filename="b"', png()]), formType, 400],
    ['of a form with a large field', form(['name="a"', png(70_000)], ['name="b"; filename="b"', png()]), formType, 413],
    ['that is announced as too long', png(), { 'content-length': '300000000' }, 413],
  ])('%s leaves nothing behind', async (_name, body, headers, status) => {
    await using files = await openFiles()
    const response = await files.upload(body as never, headers as never)
    expect([response.status, await response.json()]).toEqual([
      status,
      { success: false, error: { message: expect.any(String), type: 'request_error' } },
    ])
    expect(await leftOf(files)).toEqual(nothing)
  })

  test('has a limit for each kind of media, and with and without a length', async () => {
    await using files = await openFiles({ limits: { image: 1000, video: 3000, audio: 2000 } })
    for (const [make, limit, what] of [
      [png, 1000, 'an image'],
      [mp4, 3000, 'a video'],
      [mp3, 2000, 'an audio file'],
    ] as const) {
      const { url } = await uploadOf(await files.upload(make(limit)))
      expect((await (await files.ask(url)).bytes()).length).toBe(limit)
      const tooLarge = [413, `${what} must be at most ${limit} bytes`]
      expect(await messageOf(await files.upload(make(limit + 1)))).toEqual(tooLarge)
      const streamed = new ReadableStream({
        async start(controller) {
          for await (const piece of pieces(make(limit), 'x')) controller.enqueue(piece)
          controller.close()
        },
      })
      expect(await messageOf(await files.upload(streamed as never))).toEqual(tooLarge)
    }
    expect(filesIn(files.path)).toHaveLength(3)
  })

  test('that is cut off, or stays silent for too long, leaves nothing behind', async () => {
    await using files = await openFiles()
    const cut = new ReadableStream({
      async pull(controller) {
        controller.enqueue(png())
        await Bun.sleep(1)
        controller.error(new Error('the caller disconnected'))
      },
    })
    expect(await messageOf(await files.upload(cut as never))).toEqual([500, 'the file could not be stored'])
    expect(await leftOf(files)).toEqual(nothing)
    await using impatient = await openFiles({ uploadTimeoutMs: 20 })
    const silent = new ReadableStream({ start: (controller) => controller.enqueue(png()) })
    expect(await messageOf(await impatient.upload(silent as never))).toEqual([408, 'the file did not arrive in time'])
    expect(await leftOf(impatient)).toEqual(nothing)
  })

  test('that the storage fails to store leaves a record, by which the sweep removes what is left', async () => {
    await using files = await openFiles()
    const failing: Storage = {
      ...folderStorage(files.path),
      put: () => Promise.reject(new Error('the disk is full')),
      remove: () => Promise.reject(new Error('the disk is broken')),
    }
    await using broken = await openFiles({ storage: failing, store: files.store })
    expect(await messageOf(await broken.upload(png()))).toEqual([500, 'the file could not be stored'])
    expect(await files.store.claimExpiredFiles(Date.now() + 86_400_000, Date.now() + 90_000_000, 10)).toHaveLength(1)
  })
})

test('an upload that a storage did not store, and cannot remove, does not count', async () => {
  await using files = await openFiles()
  let isDown = true
  const folder = folderStorage(files.path)
  const failing: Storage = {
    ...folder,
    put: (...file) => (isDown ? Promise.reject(new Error('the bucket is down')) : folder.put(...file)),
    remove: (key) => (isDown ? Promise.reject(new Error('the bucket is down')) : folder.remove(key)),
  }
  await using limited = await openFiles({ storage: failing, store: files.store, maxUploads: 2 })
  for (let uploads = 0; uploads < 3; uploads++) expect((await limited.upload(png())).status).toBe(500)
  isDown = false
  expect((await limited.upload(png())).status).toBe(200)
})

test('an upload that a storage did not store in time is not removed before the response, but by the sweep', async () => {
  await using files = await openFiles()
  const silent: Storage = {
    ...folderStorage(files.path),
    put: () => Promise.reject(new StorageTimeoutError()),
    remove: () => new Promise(() => {}),
  }
  await using waiting = await openFiles({ storage: silent, store: files.store })
  expect(await messageOf(await waiting.upload(png()))).toEqual([500, 'the file could not be stored'])
  expect(await files.store.claimExpiredFiles(Date.now(), Date.now() + 1, 10)).toHaveLength(1)
})

test('an upload for which the storage has no room is a 503 with Retry-After, and leaves nothing behind', async () => {
  await using files = await openFiles()
  const folder = folderStorage(files.path)
  const full = async function* (body: AsyncIterable<Uint8Array>) {
    for await (const chunk of body) {
      yield chunk
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    }
  }
  const storage: Storage = { ...folder, put: (key, body, options) => folder.put(key, full(body), options) }
  await using filled = await openFiles({ storage, store: files.store })
  const response = await filled.upload(png())
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '30'])
  expect(await leftOf(files)).toEqual(nothing)
})

describe('the quota of a user', () => {
  const quotaMessage = 'a user may have at most 2 uploaded files; they are removed after some time'

  test('limits the number of files, until one expires', async () => {
    let now = Date.now()
    await using files = await openFiles({
      maxUploads: 2,
      clock: { now: () => now, at: () => () => {} },
      uploadTtlMs: 60_000,
    })
    await files.upload(png())
    now += 30_000
    await files.upload(png())
    const rejected = await files.upload(png())
    expect(rejected.headers.get('retry-after')).toBe('30')
    expect(await messageOf(rejected)).toEqual([429, quotaMessage])
    expect((await files.upload(png(), { 'x-user': 'bob' })).status).toBe(200)
    now += 30_001
    expect((await files.upload(png())).status).toBe(200)
  })

  test('limits the bytes; a file without a length counts as the longest of its kind while it comes', async () => {
    await using files = await openFiles({ maxUploadBytes: 1000, limits: { image: 600 } })
    expect((await files.upload(png(600), { 'content-length': '600' })).status).toBe(200)
    expect((await files.upload(png(401), { 'content-length': '401' })).status).toBe(429)
    expect((await files.upload(png(400), { 'content-length': '400' })).status).toBe(200)
    await using others = await openFiles({ maxUploadBytes: 1000, limits: { image: 600 } })
    expect((await others.upload(png(500))).status).toBe(200)
    expect((await others.upload(png(100))).status).toBe(429)
  })

  test('holds for uploads at the same time', async () => {
    await using files = await openFiles({ maxUploads: 2 })
    const statuses = await Promise.all(Array.from({ length: 8 }, async () => (await files.upload(png())).status))
    expect(statuses.toSorted()).toEqual([200, 200, 429, 429, 429, 429, 429, 429])
  })
})
