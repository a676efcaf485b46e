import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { rest } from './client.ts'

let emulator: Emulator

beforeAll(async () => {
  emulator = await startEmulator()
})
afterAll(() => emulator.stop())

async function control(method: string, path: string, body?: unknown) {
  const init = { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
  const response = await fetch(`${emulator.origin}/_emulator/${path}`, init)
  return { status: response.status, json: JSON.parse(await response.text()) }
}

test('calls, groups and assets can be read over HTTP, and control requests are not recorded', async () => {
  const group = emulator.library.addGroup({ name: 'g' })
  const asset = emulator.library.addAsset({ groupId: group.id })
  await rest(emulator, 'GET', '/assets')
  expect((await control('GET', 'calls')).json).toMatchObject([{ action: 'ListAssets', status: 200 }])
  expect((await control('GET', 'groups')).json).toEqual([group])
  expect((await control('GET', `assets?group=${group.id}`)).json).toEqual([asset])
  expect((await control('GET', 'assets?group=other')).json).toEqual([])
  await control('DELETE', 'calls')
  expect(emulator.calls).toEqual([])
})

test('faults can be added and removed over HTTP', async () => {
  const { json } = await control('POST', 'faults', { kind: 'empty', action: '/^LIST/i', times: 'Infinity' })
  expect((await rest(emulator, 'GET', '/assets')).text).toBe('')
  expect((await control('GET', 'faults')).json).toMatchObject([
    { id: json.id, hits: 1, kind: 'empty', action: '/^LIST/i' },
  ])
  await control('DELETE', `faults/${json.id}`)
  expect((await rest(emulator, 'GET', '/assets')).text).not.toBe('')
  await control('POST', 'faults', { kind: 'empty' })
  await control('DELETE', 'faults')
  expect((await rest(emulator, 'GET', '/assets')).text).not.toBe('')
})

test('a page of another site, in a browser on this machine, cannot use the control routes', async () => {
  const { port } = new URL(emulator.origin)
  const foreign: readonly [string, Record<string, string>][] = [
    ['POST', { origin: 'https://evil.example' }],
    ['POST', { origin: 'null' }],
    // A page whose host name was rebound to loopback.
    ['POST', { origin: `http://evil.example:${port}`, host: `evil.example:${port}` }],
    ['GET', { host: `evil.example:${port}` }],
    ['GET', { host: `127.0.0.1.evil.example:${port}` }],
  ]
  for (const [method, headers] of foreign) {
    const init = { method, headers, body: method === 'POST' ? '{"kind":"empty"}' : undefined }
    const { status } = await fetch(`${emulator.origin}/_emulator/faults`, init)
    expect([headers, status]).toEqual([headers, 403])
  }
  expect(emulator.faults.list()).toEqual([])
  const own: readonly Record<string, string>[] = [{ host: `localhost:${port}` }, { origin: emulator.origin }]
  for (const headers of own) {
    expect((await fetch(`${emulator.origin}/_emulator/faults`, { headers })).status).toBe(200)
  }
})

test('an invalid fault is rejected with the reason', async () => {
  for (const [fault, reason] of [
    [{}, 'kind must be one of reset-before, '],
    [{ kind: 'fire' }, 'kind must be one of reset-before, '],
    [{ kind: 'status' }, 'status needs status: an HTTP status'],
    [{ kind: 'headers', headers: 7 }, 'headers needs headers: an object'],
    [{ kind: 'empty', action: 'ListAsset' }, 'empty applies to no action ListAsset, only to CreateAssetGroup, '],
    [{ kind: 'empty', action: '/^Liste/' }, 'empty applies to no action /^Liste/, '],
    [{ kind: 'empty', time: 2 }, 'empty has no field time'],
    [[], 'kind must be one of reset-before, '],
  ] as const) {
    const { status, json } = await control('POST', 'faults', fault)
    expect([status, json.error]).toEqual([400, expect.stringContaining(reason)])
  }
  expect((await control('GET', 'faults')).json).toEqual([])
  expect((await control('GET', 'nothing')).status).toBe(404)
})
