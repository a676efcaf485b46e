import { expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { folderStorage, type Storage } from '../../plugins/file-storage/index.ts'
import { noLog } from '../../plugins/shared/problem.ts'
import { type Health, health } from '../../src/app/health.ts'
import { observeReadiness } from '../../src/app/metrics/server.ts'
import { withCheck } from '../../src/app/storage.ts'
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

test('/readyz says how many circuits of upstreams are open, and how many reads were sent again', async () => {
  const circuits = () => ({ closed: 3, open: 1, 'half-open': 0, refused: 7 })
  expect(await ready({ circuits, retries: { sent: 2, refused: 5 } })).toEqual([
    200,
    {
      ...{ status: 'ok', database: 'ok', upstreams: {} },
      ...{ circuits: { closed: 3, open: 1, 'half-open': 0 }, retries: { sent: 2, refused: 5 } },
    },
  ])
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
    const { storage, check } = withCheck(filled, { clock: { now: () => now } })
    const put = () => storage.put('uploads/a.txt', new Blob(['a']).stream(), { maxBytes: 1, contentType: 'text/plain' })
    hasRoom = false
    await expect(put()).rejects.toThrow('no space')
    await expect(check()).rejects.toThrow('no space')
    hasRoom = true
    now += 10_000
    await check()
    expect(await put()).toBe(1)
    expect(
      readdirSync(path, { recursive: true, withFileTypes: true }).flatMap((e) => (e.isFile() ? [e.name] : [])),
    ).toEqual(['a.txt'])
  } finally {
    rmSync(path, { recursive: true })
  }
})

/** A storage that counts the files that it is given, and whose calls fail with `error`. */
const openFailing = (path: string, isCheap: boolean) => {
  const folder = folderStorage(path)
  const state: { error?: Error | undefined; puts: number; now: number } = { puts: 0, now: 0 }
  const failing = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    if (state.error) throw state.error
    return call()
  }
  const storage: Storage = {
    ...folder,
    put(...file) {
      state.puts++
      return failing(() => folder.put(...file))
    },
    find: (key) => failing(() => folder.find(key)),
    remove: (key) => failing(() => folder.remove(key)),
  }
  return { state, ...withCheck(storage, { clock: { now: () => state.now }, isCheap }) }
}

test('/readyz answers without a storage that does not respond, and forgets what it asked before it was back', async () => {
  const path = mkdtempSync(join(tmpdir(), 'sluice-storage-'))
  try {
    const folder = folderStorage(path)
    const silent = Promise.withResolvers<never>()
    let isSilent = true
    let now = 0
    const { storage, check } = withCheck(
      {
        ...folder,
        put: (...file) => (isSilent ? silent.promise : folder.put(...file)),
        find: () => Promise.reject(new Error('no answer')),
      },
      { clock: { now: () => now }, isCheap: false },
    )
    await check()
    await expect(storage.find('uploads/a.txt')).rejects.toThrow('no answer')
    expect(await ready({ storage: check })).toMatchObject([200, { storage: 'down' }])
    await expect(storage.find('uploads/a.txt')).rejects.toThrow('no answer')
    isSilent = false
    now += 10_000
    expect(await ready({ storage: check })).toMatchObject([200, { storage: 'ok' }])
    silent.reject(new Error('the time limit'))
    await Bun.sleep(0)
    expect(await ready({ storage: check })).toMatchObject([200, { storage: 'ok' }])
  } finally {
    rmSync(path, { recursive: true })
  }
})

test('/readyz says that a folder is down while no file can be written to it', async () => {
  const path = mkdtempSync(join(tmpdir(), 'sluice-storage-'))
  try {
    const { state, check } = openFailing(path, true)
    await check()
    state.error = new Error('permission denied')
    state.now += 10_000
    expect(await ready({ storage: check })).toMatchObject([200, { status: 'ok', storage: 'down' }])
    state.error = full()
    state.now += 10_000
    expect(await ready({ storage: check })).toMatchObject([200, { status: 'ok', storage: 'full' }])
    state.error = undefined
    state.now += 10_000
    expect(await ready({ storage: check })).toMatchObject([200, { status: 'ok', storage: 'ok' }])
  } finally {
    rmSync(path, { recursive: true })
  }
})

test('a bucket is written to only after a failed call, and is down until a write succeeds', async () => {
  const path = mkdtempSync(join(tmpdir(), 'sluice-storage-'))
  try {
    const { state, storage, check } = openFailing(path, false)
    for (let nth = 0; nth < 3; nth++) {
      state.now += 60_000
      await check()
    }
    expect(state.puts).toBe(0)
    // The fault of a caller: the storage works.
    await expect(
      storage.put('uploads/a', new Blob(['abc']).stream(), { maxBytes: 1, contentType: 'text/plain' }),
    ).rejects.toThrow()
    await check()
    expect(state.puts).toBe(2)
    state.error = new Error('connection refused')
    await expect(storage.find('uploads/a')).rejects.toThrow('refused')
    state.now += 10_000
    await expect(check()).rejects.toThrow('refused')
    await expect(check()).rejects.toThrow('refused')
    expect(state.puts).toBe(3)
    state.error = undefined
    state.now += 10_000
    await check()
    state.now += 60_000
    await check()
    expect(state.puts).toBe(4)
  } finally {
    rmSync(path, { recursive: true })
  }
})

test('before the database was available, /readyz names the storage too', async () => {
  const health = { database: ok, storage: () => Promise.reject(full()), draining: () => false }
  const waiting = createWaitingApp({ health, log: noLog, segment: 'media', reason: () => new Error('refused') })
  const response = await waiting(new Request('http://localhost/readyz'))
  expect(await response.json()).toMatchObject({ database: 'down', storage: 'full' })
})

test('the metrics have the states that /readyz reports, also of a part that does not answer', async () => {
  const metricsOf = async (parts: Pick<Health, 'database' | 'storage'>) => {
    const registry = new Registry()
    observeReadiness(registry, parts)
    return (await registry.metrics()).split('\n').filter((line) => line.endsWith(' 1'))
  }
  expect(await metricsOf({ database: ok })).toEqual(['sluice_readiness{part="database",state="ok"} 1'])
  expect(
    await metricsOf({ database: () => new Promise<void>(() => {}), storage: () => Promise.reject(full()) }),
  ).toEqual(['sluice_readiness{part="database",state="down"} 1', 'sluice_readiness{part="storage",state="full"} 1'])
})
