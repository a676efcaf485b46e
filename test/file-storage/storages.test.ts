import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { FileTooLargeError, folderStorage, type Storage, s3Storage } from 'sluice/file-storage'
import { turns } from '../../plugins/shared/background/turns.ts'
import { startS3Server } from '../support/s3-server.ts'
import { pieces, temporaryFolder } from './fixture.ts'

/** Each implementation of the port, and how to look into it. */
const kinds: Readonly<Record<string, () => Promise<AsyncDisposable & { readonly storage: Storage }>>> = {
  async folder() {
    const folder = await temporaryFolder()
    return { ...folder, storage: folderStorage(folder.path) }
  },
  async bucket() {
    const server = await startS3Server()
    const { endpoint, bucket, accessKey, secretKey, region } = server
    const storage = s3Storage({ endpoint, bucket, accessKey, secretKey, region, prefix: 'some prefix/' })
    return { storage, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
  },
}

const textOf = async (storage: Storage, key: string, first = 0, last?: number): Promise<string> => {
  const info = await storage.find(key)
  if (!info) throw new Error(`there is no ${key}`)
  const chunks: Uint8Array[] = []
  await storage.read(key, info, { first, last: last ?? info.size - 1 }).writeTo((bytes) => {
    chunks.push(bytes)
    return undefined
  })
  return Buffer.concat(chunks).toString()
}

const put = (storage: Storage, key: string, ...parts: string[]) =>
  storage.put(key, pieces(...parts), { maxBytes: 100, contentType: 'image/png' })

for (const [kind, open] of Object.entries(kinds)) {
  describe(`a storage in a ${kind}`, () => {
    let opened: Awaited<ReturnType<typeof open>>
    let storage: Storage
    beforeAll(async () => {
      opened = await open()
      storage = opened.storage
    })
    afterAll(() => opened[Symbol.asyncDispose]())

    test('gives back what was put, and ranges of it', async () => {
      expect(await put(storage, 'a/one.png', 'abc', '', 'def')).toBe(6)
      expect(await textOf(storage, 'a/one.png')).toBe('abcdef')
      expect(await textOf(storage, 'a/one.png', 2, 3)).toBe('cd')
      const info = await storage.find('a/one.png')
      expect(info).toMatchObject({ size: 6, etag: expect.stringMatching(/^"[^"]+"$/) })
      expect(Math.abs((info?.modifiedAt ?? 0) - Date.now())).toBeLessThan(60_000)
    })

    test('an empty file is a file', async () => {
      expect(await put(storage, 'a/empty.png')).toBe(0)
      expect(await textOf(storage, 'a/empty.png')).toBe('')
    })

    test('another content under the same key has another entity tag', async () => {
      await put(storage, 'a/two.png', 'one')
      const first = await storage.find('a/two.png')
      await put(storage, 'a/two.png', 'two')
      expect((await storage.find('a/two.png'))?.etag).not.toBe(first?.etag)
      expect(await textOf(storage, 'a/two.png')).toBe('two')
    })

    test('nothing is stored of a body that fails, is too long, or is aborted', async () => {
      const failing = async function* () {
        yield* pieces('abc')
        throw new Error('cut')
      }
      const options = { maxBytes: 5, contentType: 'image/png' }
      await expect(storage.put('a/cut.png', failing(), options)).rejects.toThrow('cut')
      await expect(storage.put('a/cut.png', pieces('abc', 'def'), options)).rejects.toThrow(FileTooLargeError)
      const signal = AbortSignal.abort(new Error('aborted'))
      await expect(storage.put('a/cut.png', pieces('abc'), { ...options, signal })).rejects.toThrow('aborted')
      expect(await storage.find('a/cut.png')).toBeUndefined()
      expect(await storage.removeUnfinished(Date.now() + 60_000)).toBe(0)
    })

    test('a silent body ends when the signal aborts', async () => {
      const abort = new AbortController()
      const silent = async function* () {
        yield* pieces('abc')
        abort.abort(new Error('too slow'))
        await new Promise(() => {})
      }
      const options = { maxBytes: 5, contentType: 'image/png', signal: abort.signal }
      await expect(storage.put('a/silent.png', silent(), options)).rejects.toThrow('too slow')
      expect(await storage.find('a/silent.png')).toBeUndefined()
    })

    test('a file is as long as it may be', async () => {
      expect(await storage.put('a/exact.png', pieces('abc', 'de'), { maxBytes: 5, contentType: 'image/png' })).toBe(5)
    })

    test('a removed file is gone, and can be removed again', async () => {
      await put(storage, 'a/gone.png', 'abc')
      await storage.remove('a/gone.png')
      await storage.remove('a/gone.png')
      expect(await storage.find('a/gone.png')).toBeUndefined()
      expect(await storage.find('b/never.png')).toBeUndefined()
    })

    test('a read that was cancelled ends', async () => {
      await put(storage, 'a/cancel.png', 'abcdef')
      const info = await storage.find('a/cancel.png')
      const source = storage.read('a/cancel.png', info as never, { first: 0, last: 5 })
      await source.cancel()
      let written = 0
      await source.writeTo(({ length }) => {
        written += length
        return undefined
      })
      expect(written).toBe(0)
    })

    test('a file that has changed since it was found is not read', async () => {
      await put(storage, 'a/changed.png', 'abcdef')
      const info = await storage.find('a/changed.png')
      await put(storage, 'a/changed.png', 'abc')
      const source = storage.read('a/changed.png', info as never, { first: 0, last: 5 })
      await expect(source.writeTo(() => undefined)).rejects.toThrow()
    })

    test('no key leads out of the storage', async () => {
      const keys = [
        '',
        'a',
        '/a/b',
        'a/../b',
        '../a',
        'a/..',
        'a/.b',
        'a//b',
        'a/b/c',
        'a\\b',
        'a/b\\..',
        'a/b\0',
        'a/%2e%2e',
        '.unfinished/a',
        `a/${'b'.repeat(300)}`,
        'a/b\n',
      ]
      for (const key of keys) {
        await expect(put(storage, key, 'abc')).rejects.toThrow('FOLDER/NAME')
        await expect(storage.find(key)).rejects.toThrow('FOLDER/NAME')
        await expect(storage.remove(key)).rejects.toThrow('FOLDER/NAME')
      }
    })
  })
}

test('a file of a folder is read 256 KiB in a turn of the event loop', async () => {
  await using folder = await temporaryFolder()
  const storage = folderStorage(folder.path)
  const text = 'x'.repeat(2 ** 20)
  await storage.put('a/b.png', pieces(text), { maxBytes: text.length, contentType: 'image/png' })
  const before = turns.count
  expect(await textOf(storage, 'a/b.png')).toBe(text)
  expect(turns.count - before).toBe(4)
})
