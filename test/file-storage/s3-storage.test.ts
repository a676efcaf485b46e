import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type Storage, s3Storage } from 'sluice/file-storage'
import { portOf, startFaultProxy } from '../faults/fault-proxy.ts'
import { repetitions } from '../support/repetitions.ts'
import { type S3Server, startS3Server } from '../support/s3-server.ts'
import { pieces } from './fixture.ts'

const mib = 2 ** 20
const key = 'uploads/one.mp4'
const options = { maxBytes: 100 * mib, contentType: 'video/mp4' }

let server: S3Server
let storage: Storage
beforeEach(async () => {
  server = await startS3Server()
  const { endpoint, bucket, accessKey, secretKey, region } = server
  storage = s3Storage({ endpoint, bucket, accessKey, secretKey, region })
})
afterEach(() => server[Symbol.asyncDispose]())

/** In a loop: `Uint8Array.from` with a function would take most of the time of this file. */
const bytesOf = (length: number) => {
  const bytes = Buffer.alloc(length)
  for (let at = 0; at < length; at++) bytes[at] = at * 7 + (at >> 12)
  return bytes
}
async function* inChunks(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
const read = async (length: number): Promise<Buffer> => {
  const info = await storage.find(key)
  if (!info) throw new Error('there is no file')
  const chunks: Uint8Array[] = []
  await storage.read(key, info, { first: 0, last: length - 1 }).writeTo((bytes) => {
    chunks.push(bytes)
    return undefined
  })
  return Buffer.concat(chunks)
}

describe('a file in a bucket', () => {
  test.each(repetitions(8 * mib + 1, 8 * mib - 1, 8 * mib, 16 * mib, 20 * mib))(
    'of %p bytes is sent in parts of 8 MiB',
    async (length) => {
      const bytes = bytesOf(length)
      expect(await storage.put(key, inChunks(bytes, 100_001), options)).toBe(length)
      const parts = Math.ceil(length / (8 * mib))
      const expected =
        parts === 1
          ? ['PutObject']
          : ['CreateMultipartUpload', ...Array<string>(parts).fill('UploadPart'), 'CompleteMultipartUpload']
      expect(server.calls).toEqual(expected)
      expect(server.objects.get(key)?.bytes.equals(bytes)).toBe(true)
      expect(server.objects.get(key)?.type).toBe('video/mp4')
      expect((await read(length)).equals(bytes)).toBe(true)
    },
  )

  test.each(['UploadPart', 'CreateMultipartUpload', 'CompleteMultipartUpload', 'HeadObject', 'GetObject'])(
    'survives an error of the service and a lost connection at %s',
    async (failing) => {
      const faults = [503, 'reset'] as const
      let nth = 0
      server.fault = (call) => (call === failing ? faults[nth++] : undefined)
      const bytes = bytesOf(9 * mib)
      await storage.put(key, inChunks(bytes, mib), options)
      expect((await read(9 * mib)).equals(bytes)).toBe(true)
      expect(nth).toBeGreaterThan(2)
    },
    300_000,
  )

  test.each(['UploadPart', 'CompleteMultipartUpload'])('leaves no parts when %s fails for good', async (failing) => {
    server.fault = (call) => (call === failing ? 403 : undefined)
    await expect(storage.put(key, inChunks(bytesOf(20 * mib), mib), options)).rejects.toThrow()
    expect([server.objects.size, server.uploads.size]).toEqual([0, 0])
  })

  test('leaves no parts when its body fails or is too long', async () => {
    const failing = async function* () {
      yield* inChunks(bytesOf(18 * mib), mib)
      throw new Error('cut')
    }
    await expect(storage.put(key, failing(), options)).rejects.toThrow('cut')
    await expect(
      storage.put(key, inChunks(bytesOf(18 * mib), mib), { ...options, maxBytes: 17 * mib }),
    ).rejects.toThrow('longer')
    expect([server.objects.size, server.uploads.size]).toEqual([0, 0])
  })

  test('that is cut off while it is read is an error', async () => {
    await storage.put(key, pieces(bytesOf(mib)), options)
    server.fault = (call) => (call === 'GetObject' ? 'truncate' : undefined)
    await expect(read(mib)).rejects.toThrow()
  })

  test.each(['PutObject', 'CreateMultipartUpload', 'UploadPart', 'CompleteMultipartUpload', 'HeadObject', 'GetObject'])(
    'is an error when the service does not respond to %s in time',
    async (silent) => {
      const { endpoint, bucket, accessKey, secretKey, region } = server
      await storage.put(key, pieces('abc'), options)
      storage = s3Storage({ endpoint, bucket, accessKey, secretKey, region, timeoutMs: 300 })
      server.fault = (call) => (call === silent ? 'hang' : undefined)
      const body = silent === 'PutObject' ? pieces('def') : inChunks(bytesOf(9 * mib), mib)
      const call = silent.endsWith('Object') && silent !== 'PutObject' ? read(3) : storage.put(key, body, options)
      await expect(call).rejects.toThrow(silent === 'GetObject' ? /in time|stopped/ : 'did not respond in time')
      expect(server.objects.get(key)?.bytes.toString()).toBe('abc')
      server.fault = () => undefined
      expect((await read(3)).toString()).toBe('abc')
    },
  )

  test('is read at once after the other end of all connections has vanished', async () => {
    await using proxy = await startFaultProxy(portOf(server.endpoint))
    const { bucket, accessKey, secretKey, region } = server
    storage = s3Storage({ endpoint: proxy.before(server.endpoint), bucket, accessKey, secretKey, region })
    await storage.put(key, pieces('abc'), options)
    await proxy.fail({ kind: 'half-open' })
    await proxy.recover()
    // A call on such a connection would end at the time limit, long after that of this test.
    expect((await read(3)).toString()).toBe('abc')
  })

  test('is not read when the credentials are wrong', async () => {
    const { endpoint, bucket, accessKey, region } = server
    const other = s3Storage({ endpoint, bucket, accessKey, secretKey: 'another one', region })
    await expect(other.find(key)).rejects.toThrow()
    await expect(other.put(key, pieces('abc'), options)).rejects.toThrow('SignatureDoesNotMatch')
  })
})

test('the parts of interrupted uploads are removed when they are old, in all pages of the list, below the prefix only', async () => {
  const { endpoint, bucket, accessKey, secretKey, region } = server
  const { S3Client, CreateMultipartUploadCommand } = await import('@aws-sdk/client-s3')
  const client = new S3Client({
    ...{ endpoint, region, forcePathStyle: true },
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
  })
  const begin = (Key: string) => client.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key }))
  for (const name of ['own/uploads/a.mp4', 'own/results/b.mp4', 'own/uploads/c.mp4', 'other/d.mp4']) await begin(name)
  const own = s3Storage({ endpoint, bucket, accessKey, secretKey, region, prefix: 'own/' })
  expect(await own.removeUnfinished(Date.now() - 60_000)).toBe(0)
  expect(await own.removeUnfinished(Date.now() + 60_000)).toBe(3)
  expect([...server.uploads.values()].map((each) => each.key)).toEqual(['other/d.mp4'])
})
