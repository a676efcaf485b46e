import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { rest } from './client.ts'

let emulator: Emulator
let group: string

beforeAll(async () => {
  emulator = await startEmulator()
  group = emulator.library.addGroup({ name: 'g' }).id
})
afterEach(() => {
  emulator.faults.clear()
  emulator.clearCalls()
})
afterAll(() => emulator.stop())

const create = (name: string) => rest(emulator, 'POST', '/assets/groups', { Name: name })
const countOf = (name: string) => emulator.library.groups().filter((one) => one.name === name).length

/** Sends a create request over a raw socket, and returns all bytes until the connection closes. */
function rawResponse(name: string): Promise<string> {
  const body = JSON.stringify({ Name: name })
  const head = `POST /api/media/proxy/assets/groups HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`
  const key = `Authorization: Bearer ${emulator.rest.key}\r\nContent-Length: ${body.length}\r\n\r\n`
  const { hostname, port } = new URL(emulator.origin)
  return new Promise((resolve) => {
    let seen = ''
    const socket = connect(Number(port), hostname, () => socket.write(head + key + body))
    socket.on('data', (data) => {
      seen += data
    })
    socket.on('error', (error) => {
      seen += 'code' in error ? error.code : error
    })
    socket.on('close', () => resolve(seen))
  })
}

test('reset-before resets before the action runs, reset-after resets after it', async () => {
  emulator.faults.add({ kind: 'reset-before' })
  expect(await rawResponse('reset early')).toBe('ECONNRESET')
  expect(countOf('reset early')).toBe(0)
  emulator.faults.add({ kind: 'reset-after' })
  expect(await rawResponse('lost')).toBe('ECONNRESET')
  expect(countOf('lost')).toBe(1)
  expect(emulator.calls.map((call) => call.status ?? call.aborted)).toEqual([undefined, undefined])
})

test('truncate runs the action and truncates the response', async () => {
  emulator.faults.add({ kind: 'truncate', keep: 5 })
  const seen = await rawResponse('cut')
  expect(seen).toMatch(/^HTTP\/1.1 200 OK\r\n/)
  const [head = '', body] = seen.split('\r\n\r\n')
  expect(body).toBe('{"Res')
  expect(Number(head.match(/content-length: (\d+)/)?.[1])).toBeGreaterThan(100)
  expect(countOf('cut')).toBe(1)
})

test('hang never responds, and a disconnect of the caller is recorded', async () => {
  const fault = emulator.faults.add({ kind: 'hang', work: true })
  const controller = new AbortController()
  const headers = { authorization: `Bearer ${emulator.rest.key}` }
  const { signal } = controller
  const url = `${emulator.rest.url}/assets/groups`
  const pending = fetch(url, { method: 'POST', body: '{"Name":"silent"}', headers, signal }).catch(
    (error) => error.name,
  )
  await fault.waitForHits()
  expect(countOf('silent')).toBe(1)
  controller.abort()
  expect(await pending).toBe('AbortError')
  while (!emulator.calls[0]?.aborted) await new Promise((resolve) => setImmediate(resolve))
  expect(emulator.calls[0]?.status).toBeUndefined()
})

test('hold stops calls before or after the action until it is released', async () => {
  for (const [when, created] of [
    ['before', 0],
    ['after', 1],
  ] as const) {
    const fault = emulator.faults.add({ kind: 'hold', when, times: 2 })
    const pending = [create(when), create(when)]
    await fault.waitForHits(2)
    expect(fault.hits).toBe(2)
    expect(countOf(when)).toBe(created * 2)
    fault.release()
    expect((await Promise.all(pending)).map((response) => response.status)).toEqual([200, 200])
    expect(countOf(when)).toBe(2)
  }
})

test('delay continues without a release', async () => {
  const fault = emulator.faults.add({ kind: 'delay', ms: 5 })
  expect((await create('late')).status).toBe(200)
  expect(fault.hits).toBe(1)
})

test('status replaces the response, without the action or after it', async () => {
  emulator.faults.add({ kind: 'status', status: 503, body: 'busy', headers: { 'Retry-After': '7' } })
  const busy = await create('busy')
  expect([busy.status, busy.text, busy.headers.get('retry-after'), countOf('busy')]).toEqual([503, 'busy', '7', 0])
  emulator.faults.add({ kind: 'status', status: 500, work: true })
  expect(await create('done')).toMatchObject({ status: 500, code: 'InternalError' })
  expect(countOf('done')).toBe(1)
})

test('not-json, empty, redirect, gzip and headers change the response', async () => {
  emulator.faults.add({ kind: 'not-json' })
  expect(await create('x')).toMatchObject({ status: 200, text: expect.stringContaining('<html>') })
  emulator.faults.add({ kind: 'empty' })
  expect(await create('x')).toMatchObject({ status: 200, text: '' })
  emulator.faults.add({ kind: 'redirect', location: 'https://elsewhere.example/' })
  const moved = await create('moved')
  expect([moved.status, moved.headers.get('location'), countOf('moved')]).toEqual([
    302,
    'https://elsewhere.example/',
    0,
  ])
  emulator.faults.add({ kind: 'gzip' })
  const coded = await create('x')
  expect([coded.headers.get('content-encoding'), coded.Result.Id]).toEqual(['gzip', expect.any(String)])
  emulator.faults.add({
    kind: 'headers',
    headers: { 'Set-Cookie': ['a=1', 'b=2'], Connection: 'x-secret', 'X-Secret': 's' },
  })
  const seen = (await rawResponse('x')).toLowerCase()
  for (const line of ['set-cookie: a=1', 'set-cookie: b=2', 'connection: x-secret', 'x-secret: s']) {
    expect(seen).toContain(`\r\n${line}\r\n`)
  }
})

test('foreign, missing-field, no-data and repeat-cursor change lists', async () => {
  const mine = emulator.library.addAsset({ groupId: group, name: 'mine' })
  const other = emulator.library.addAsset({ groupId: emulator.library.addGroup({ name: 'h' }).id, name: 'theirs' })
  const list = async (query = '') => (await rest(emulator, 'GET', `/assets?GroupIds=${group}${query}`)).Result
  emulator.faults.add({ kind: 'foreign' })
  expect((await list()).Items).toMatchObject([{ Id: other.id }, { Id: mine.id }])
  emulator.faults.add({ kind: 'missing-field', field: 'Name' })
  const [bare] = (await list()).Items
  expect([bare.Id, 'Name' in bare]).toEqual([mine.id, false])
  emulator.faults.add({ kind: 'no-data' })
  expect(await list('&PageNumber=1&PageSize=10')).toEqual({ Items: [], TotalCount: 0, PageNumber: 1, PageSize: 10 })
  emulator.faults.add({ kind: 'repeat-cursor', times: 3 })
  const { NextToken } = await list()
  for (let n = 0; n < 2; n++) expect((await list(`&NextToken=${NextToken}`)).NextToken).toBe(NextToken)
  expect((await list()).NextToken).toBeUndefined()
})

test('action, after and times select the calls of a fault, and remove ends it', async () => {
  const fault = emulator.faults.add({ kind: 'empty', action: /^Create/g, after: 1, times: 2 })
  const texts: boolean[] = []
  for (let n = 0; n < 4; n++) {
    texts.push((await create('n')).text === '')
    expect((await rest(emulator, 'GET', '/assets/groups')).text).not.toBe('')
  }
  expect(texts).toEqual([false, true, true, false])
  expect(fault.hits).toBe(2)
  const always = emulator.faults.add({ kind: 'empty', action: 'CreateAssetGroup', times: Number.POSITIVE_INFINITY })
  expect((await create('n')).text).toBe('')
  always.remove()
  expect((await create('n')).text).not.toBe('')
})

test('probability gives the same sequence in every run', async () => {
  const run = async () => {
    const separate = await startEmulator()
    const fault = separate.faults.add({ kind: 'empty', probability: 0.5, times: Number.POSITIVE_INFINITY })
    for (let n = 0; n < 20; n++) await rest(separate, 'GET', '/assets')
    await separate.stop()
    return fault.hits
  }
  const hits = await run()
  expect(hits).toBeGreaterThan(3)
  expect(hits).toBeLessThan(17)
  expect(await run()).toBe(hits)
})

test('stop ends calls in hang, delay and hold without running their action', async () => {
  const separate = await startEmulator()
  separate.faults.add({ kind: 'hang' })
  separate.faults.add({ kind: 'delay', ms: 3_600_000, after: 1 })
  const hold = separate.faults.add({ kind: 'hold', after: 2 })
  const pending = [1, 2, 3].map((n) => rest(separate, 'POST', '/assets/groups', { Name: `n${n}` }).catch(() => 'gone'))
  await hold.waitForHits()
  await separate.stop()
  expect(await Promise.all(pending)).toEqual(['gone', 'gone', 'gone'])
  expect(separate.library.count().groups).toBe(0)
})
