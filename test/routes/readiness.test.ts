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

/** A storage whose writes take as long as a promise of the test. */
const openLate = (isCheap: boolean) => {
  const state = { answer: Promise.resolve(), now: 0 }
  const storage: Storage = {
    ...folderStorage('unused'),
    put: () => state.answer.then(() => 0),
    find: () => Promise.reject(new Error('no answer')),
    remove: async () => {},
  }
  return { state, ...withCheck(storage, { clock: { now: () => state.now }, isCheap }) }
}

const stateOfStorage = async (storage: () => Promise<void>) =>
  ((await ready({ storage }))[1] as { storage: string }).storage

test('/readyz answers without a bucket that does not respond, and forgets what it asked before it was back', async () => {
  const { state, storage, check } = openLate(false)
  const silent = Promise.withResolvers<void>()
  state.answer = silent.promise
  await check()
  await expect(storage.find('uploads/a.txt')).rejects.toThrow('no answer')
  expect(await stateOfStorage(check)).toBe('ok')
  state.now += 10_000
  expect(await stateOfStorage(check)).toBe('down')
  state.answer = Promise.resolve()
  state.now += 10_000
  expect(await stateOfStorage(check)).toBe('ok')
  silent.reject(new Error('the time limit'))
  await Bun.sleep(0)
  expect(await stateOfStorage(check)).toBe('ok')
})

test('/readyz says of a folder that responds late what it has found before, and that it is down after ten seconds', async () => {
  const { state, check } = openLate(true)
  const first = Promise.withResolvers<void>()
  state.answer = first.promise
  expect(await stateOfStorage(check)).toBe('ok')
  state.now += 9_999
  expect(await stateOfStorage(check)).toBe('ok')
  state.now += 1
  expect(await stateOfStorage(check)).toBe('down')
  first.resolve()
  expect(await stateOfStorage(check)).toBe('ok')

  state.answer = Promise.reject(new Error('permission denied'))
  state.now += 10_000
  expect(await stateOfStorage(check)).toBe('down')
  const second = Promise.withResolvers<void>()
  state.answer = second.promise
  state.now += 10_000
  expect(await stateOfStorage(check)).toBe('down')
  second.resolve()
  expect(await stateOfStorage(check)).toBe('ok')
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

test('the metrics have the states that /readyz reports, of a part that responds late the one before', async () => {
  let [database, storage]: Promise<void>[] = [ok(), Promise.reject(full())]
  const registry = new Registry()
  observeReadiness(registry, { database: () => database ?? ok(), storage: () => storage ?? ok() })
  const states = async () =>
    (await registry.metrics())
      .split('\n')
      .filter((line) => line.endsWith(' 1'))
      .map((line) => line.replaceAll(/sluice_readiness|part=|state=| 1|[{}"]/g, ''))
  expect(await states()).toEqual(['database,ok', 'storage,full'])
  const late = Promise.withResolvers<void>()
  ;[database, storage] = [late.promise, ok()]
  expect(await states()).toEqual(['database,ok', 'storage,ok'])
  late.reject(new Error('not in time'))
  await Bun.sleep(0)
  database = new Promise(() => {})
  expect(await states()).toEqual(['database,down', 'storage,ok'])
})
