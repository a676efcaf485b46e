import { Buffer } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { nextTurn } from '../../shared/background/turns.ts'
import type { ByteSource } from '../../shared/http/body/byte-source.ts'
import { type ByteRange, checkFileKey, type FileInfo, limited, type Storage } from './storage.ts'

/** How much of a file is in memory at once, for each reader. */
const chunkBytes = 2 ** 18
/** No key has a segment that begins with a dot. */
const unfinishedFolder = '.unfinished'

/**
 * Files in a folder, which only the owner of the process may read. The folder is created at the first `put`.
 *
 * A file is written beside its place and then renamed, so that after a power failure it is complete or absent.
 * Processes of several machines may share the folder on a network file system with atomic `rename`.
 *
 * @example
 * const storage = folderStorage('data/files')
 */
export const folderStorage = (path: string): Storage => {
  if (typeof path !== 'string' || path === '') throw new TypeError('path must be the path of a folder')
  const root = resolve(path)
  const pathOf = (key: string) => join(root, checkFileKey(key))

  const infoOf = async (key: string): Promise<FileInfo | undefined> => {
    const found = await unlessMissing(stat(pathOf(key), { bigint: true }))
    if (!found?.isFile()) return undefined
    return {
      size: Number(found.size),
      modifiedAt: Number(found.mtimeMs),
      // Each file is written once, and another one in its place has another inode or time.
      etag: `"${found.size.toString(36)}-${found.mtimeNs.toString(36)}-${found.ino.toString(36)}"`,
    }
  }

  return {
    putBytes: 4 * chunkBytes,
    async put(key, body, options) {
      const target = pathOf(key)
      const unfinished = join(root, unfinishedFolder)
      await mkdir(dirname(target), { recursive: true, mode: 0o700 })
      await mkdir(unfinished, { recursive: true, mode: 0o700 })
      const temporary = join(unfinished, randomUUID())
      try {
        const length = await writeFile(temporary, limited(body, options))
        await rename(temporary, target)
        await syncFolder(dirname(target))
        return length
      } catch (error) {
        await rm(temporary, { force: true })
        throw error
      }
    },
    find: infoOf,
    read: (key, info, range) => ({
      file: { path: pathOf(key), ...range },
      ...sourceOf(async () => {
        const file = await open(pathOf(key), 'r')
        const { size } = await file.stat()
        if (size === info.size) return file
        await file.close()
        throw new Error('the file has changed')
      }, range),
    }),
    remove: async (key) => rm(pathOf(key), { force: true }),
    async removeUnfinished(before) {
      const folder = join(root, unfinishedFolder)
      let removed = 0
      for (const name of (await unlessMissing(readdir(folder))) ?? []) {
        const found = await unlessMissing(stat(join(folder, name)))
        // The time of its last write.
        if (!found || found.mtimeMs >= before) continue
        await rm(join(folder, name), { force: true })
        removed++
      }
      return removed
    },
  }
}

/** Writes and syncs a new file. Resolves with its length. */
const writeFile = async (path: string, body: AsyncIterable<Uint8Array>): Promise<number> => {
  const file = await open(path, 'wx', 0o600)
  try {
    let length = 0
    for await (const chunk of body) {
      for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at, chunk.length - at)).bytesWritten
      length += chunk.length
    }
    await file.sync()
    return length
  } finally {
    await file.close()
  }
}

/** After a power failure, the folder has the new name. */
const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path, 'r').catch(() => undefined)
  // Not every system can sync a folder.
  await folder?.sync().catch(() => {})
  await folder?.close()
}

const sourceOf = (openFile: () => Promise<FileHandle>, { first, last }: ByteRange): ByteSource => {
  let cancelled = false
  return {
    async writeTo(write) {
      if (cancelled || last < first) return
      const file = await openFile()
      try {
        let at = first
        while (at <= last && !cancelled) {
          // A new buffer each time: the reader may keep it.
          const buffer = Buffer.allocUnsafeSlow(Math.min(chunkBytes, last - at + 1))
          const { bytesRead } = await file.read(buffer, 0, buffer.length, at)
          if (bytesRead === 0) throw new Error('the file is shorter than it was')
          at += bytesRead
          await write(buffer.subarray(0, bytesRead))
          // Else Deno would look for other requests only now and then while many files are read.
          await nextTurn()
        }
      } finally {
        await file.close()
      }
    },
    async cancel() {
      cancelled = true
    },
  }
}

const unlessMissing = async <Value>(found: Promise<Value>): Promise<Value | undefined> => {
  try {
    return await found
  } catch (error) {
    const { code } = error as { readonly code?: unknown }
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}
