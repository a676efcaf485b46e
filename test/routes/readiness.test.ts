import { expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { folderStorage, type Storage } from '../../plugins/file-storage/index.ts'
import { noLog } from '../../plugins/shared/problem.ts'
import { withSpaceCheck } from '../../src/app/files.ts'
import { type Health, health } from '../../src/app/health.ts'
import { createWaitingApp } from '../../src/app.ts'

const full = () => Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
const ok = async () => {}

const ready = async (state: Partial<Health>) => {
  const app = health({ database: ok, draining: () => false, upstreams: () => ({}), ...state })
  const response = await app.handle(new Request('http://localhost/readyz'))
  return [response.status, await response.json()]
}

test('/readyz says which part has no room: without the database nothing works, without the storage all but files', async () => {
  expect(await ready({})).toEqual([200, { status: 'ok', database: 'ok', upstreams: {} }])
  expect(await ready({ storage: ok })).toEqual([200, { status: 'ok', database: 'ok', storage: 'ok', upstreams: {} }])
  expect(await ready({ database: () => Promise.reject(full()), storage: ok })).toEqual([
    503,
    { status: 'unavailable', database: 'full', storage: 'ok', upstreams: {} },
  ])
  expect(await ready({ database: () => Promise.reject(new Error('frozen')) })).toMatchObject([
    503,
    { database: 'down' },
  ])
  expect(await ready({ storage: () => Promise.reject(full()) })).toMatchObject([200, { status: 'ok', storage: 'full' }])
})

test('before the database was available, a database without room is full, and every route says 503 in its form', async () => {
  let reason: unknown = new Error('refused')
  const waiting = createWaitingApp({
    health: { database: ok, draining: () => false },
    log: noLog,
    segment: 'media',
    reason: () => reason,
  })
  const get = async (path: string) => {
    const response = await waiting(new Request(`http://localhost${path}`))
    return [response.status, response.headers.get('retry-after'), await response.json()]
  }
  const paths = ['/', '/api/media/proxy/assets', '/v1/models', '/v1/messages', '/api/v3/contents/generations/tasks']
  expect(await get('/readyz')).toMatchObject([503, null, { status: 'unavailable', database: 'down' }])
  for (const path of paths) expect(await get(path)).toMatchObject([500, null, {}])
  reason = new Error('not migrated', { cause: full() })
  expect(await get('/readyz')).toMatchObject([503, null, { status: 'unavailable', database: 'full' }])
  const message = 'database is not available'
  expect(await Promise.all(paths.map(get))).toMatchObject([
    [503, '30', { success: false, error: { message, type: 'media_proxy_error' } }],
    [503, '30', { success: false, error: { message, type: 'media_proxy_error' } }],
    [503, '30', { error: { message, type: 'server_error', param: null, code: null } }],
    [503, '30', { type: 'error', error: { message } }],
    [503, '30', { error: { message, code: 'ServiceUnavailable' } }],
  ])
})

test('a storage that had no room is full until a file can be stored, and the check leaves no file', async () => {
  const path = mkdtempSync(join(tmpdir(), 'sluice-room-'))
  try {
    const folder = folderStorage(path)
    let hasRoom = true
    const filled: Storage = { ...folder, put: (...file) => (hasRoom ? folder.put(...file) : Promise.reject(full())) }
    let now = 0
    const { storage, checkSpace } = withSpaceCheck(filled, { clock: { now: () => now } })
    const put = () => storage.put('uploads/a.txt', new Blob(['a']).stream(), { maxBytes: 1, contentType: 'text/plain' })
    hasRoom = false
    await expect(put()).rejects.toThrow('no space')
    await expect(checkSpace()).rejects.toThrow('no space')
    hasRoom = true
    now += 10_000
    await checkSpace()
    expect(await put()).toBe(1)
    expect(
      readdirSync(path, { recursive: true, withFileTypes: true }).flatMap((e) => (e.isFile() ? [e.name] : [])),
    ).toEqual(['a.txt'])
  } finally {
    rmSync(path, { recursive: true })
  }
})
