import { expect, test } from 'bun:test'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { noLog } from 'sluice/shared'
import type { FileStore } from '../../plugins/file-storage/store.ts'
import { removeExpiredFiles, sweepFiles } from '../../plugins/file-storage/sweep.ts'
import { Background } from '../../plugins/shared/background/background.ts'
import { settled, sleepOn, VirtualClock } from '../support/virtual-clock.ts'
import { openFiles, png } from './fixture.ts'

const eventually = async (condition: () => boolean) => {
  while (!condition()) await settled()
}

test('an expired file and its record are removed, and no other', async () => {
  let now = Date.now()
  const clock = { now: () => now, at: () => () => {} }
  await using files = await openFiles({ clock, uploadTtlMs: 60_000, maxUploads: 2 })
  await files.upload(png())
  now += 30_000
  await files.upload(png())
  const sweep = () => removeExpiredFiles({ ...files, clock, log: noLog })
  expect(await sweep()).toBe(0)
  now += 30_001
  expect(await sweep()).toBe(1)
  expect(readdirSync(join(files.path, 'uploads'))).toHaveLength(1)
  now += 30_001
  expect([await sweep(), await sweep()]).toEqual([1, 0])
  expect(readdirSync(join(files.path, 'uploads'))).toEqual([])
})

test('a file that cannot be removed is tried again ten minutes later, and the others are removed', async () => {
  let now = Date.now()
  const clock = { now: () => now, at: () => () => {} }
  await using files = await openFiles({ clock, uploadTtlMs: 1000 })
  await files.upload(png())
  await files.upload(png())
  now += 1001
  const [first] = readdirSync(join(files.path, 'uploads'))
  let fails = true
  const storage = {
    ...files.storage,
    remove: (key: string) =>
      fails && key.endsWith(first ?? '') ? Promise.reject(new Error('busy')) : files.storage.remove(key),
  }
  const sweep = () => removeExpiredFiles({ storage, store: files.store, clock, log: noLog })
  expect(await sweep()).toBe(1)
  fails = false
  expect(await sweep()).toBe(0)
  now += 600_000
  expect(await sweep()).toBe(1)
  expect(readdirSync(join(files.path, 'uploads'))).toEqual([])
})

test('expired files are removed while the database has no room, because they may fill its disk', async () => {
  let now = Date.now()
  const clock = { now: () => now, at: () => () => {} }
  await using files = await openFiles({ clock, uploadTtlMs: 1000 })
  await files.upload(png())
  now += 900
  await files.upload(png())
  now += 101
  const uploads = () => readdirSync(join(files.path, 'uploads')).length
  const full = () => Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
  const sweepWith = (hasRoom: () => boolean) => {
    const claimExpiredFiles: FileStore['claimExpiredFiles'] = async (...claim) => {
      if (hasRoom()) return files.store.claimExpiredFiles(...claim)
      throw full()
    }
    return removeExpiredFiles({ ...files, store: { ...files.store, claimExpiredFiles }, clock, log: noLog })
  }
  await expect(sweepWith(() => false)).rejects.toThrow('no space left')
  expect(uploads()).toBe(1)
  now += 1_000
  // Now the removal makes room.
  expect(await sweepWith(() => uploads() === 0)).toBe(2)
  expect(await files.store.expiredFiles(Number.MAX_SAFE_INTEGER, 10)).toEqual([])
})

test('a file for which the storage never responds delays the removal of no other', async () => {
  let now = Date.now()
  const clock = { now: () => now, at: () => () => {} }
  await using files = await openFiles({ clock, uploadTtlMs: 1000 })
  for (let count = 0; count < 8; count++) await files.upload(png())
  now += 1001
  const { promise, reject } = Promise.withResolvers<never>()
  let isFirst = true
  const remove = (key: string) => {
    const removed = isFirst ? promise : files.storage.remove(key)
    isFirst = false
    return removed
  }
  const swept = removeExpiredFiles({ storage: { ...files.storage, remove }, store: files.store, clock, log: noLog })
  await eventually(() => readdirSync(join(files.path, 'uploads')).length === 1)
  reject(new Error('no response'))
  expect(await swept).toBe(7)
})

test('files that a killed process has not finished are removed after a day, and no file of a process that writes', async () => {
  await using files = await openFiles()
  await files.upload(png())
  writeFileSync(join(files.path, '.unfinished/one'), 'abc')
  expect(await files.storage.removeUnfinished(Date.now() - 86_400_000)).toBe(0)
  expect(await files.storage.removeUnfinished(Date.now() + 1000)).toBe(1)
  expect(readdirSync(join(files.path, '.unfinished'))).toEqual([])
  expect(readdirSync(join(files.path, 'uploads'))).toHaveLength(1)
})

test('the sweep runs at once and every minute, also after a failure of the store, until its end', async () => {
  const clock = new VirtualClock()
  const background = new Background({ sleep: sleepOn(clock) })
  await using files = await openFiles()
  let claims = 0
  const store = {
    ...files.store,
    claimExpiredFiles: () => Promise.reject(new Error(`failure ${++claims}`)),
  }
  sweepFiles({ storage: files.storage, store, clock, log: noLog }, background)
  await eventually(() => clock.pending === 1)
  expect(claims).toBe(1)
  await clock.pass(60_000)
  await eventually(() => claims === 2 && clock.pending === 1)
  await background.stop()
  expect(clock.pending).toBe(0)
})
