import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Emulator } from '../../src/emulator/index.ts'
import { create, created, get, remove, startAt } from './video-client.ts'

/** The received callbacks: the path of the request and the fields of the task. */
let received: { readonly path?: string; readonly status?: string }[] = []
let answers: number[] = []
let server: Server
let emulator: Emulator

beforeEach(async () => {
  received = []
  answers = []
  server = createServer(async (incoming, response) => {
    let body = ''
    for await (const chunk of incoming) body += chunk
    received.push({ path: incoming.url, ...JSON.parse(body) })
    const status = answers.shift() ?? 200
    // 0: no answer at all
    if (status > 0) response.writeHead(status).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  emulator = await startAt({ runningMs: 1000 })
})
afterEach(async () => {
  await emulator.stop()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/told`
const run = async (prompt?: string) => {
  const id = await created(emulator, prompt, { callback_url: url() })
  emulator.video.advance(1000)
  await emulator.video.callbacksSettled()
  return id
}
const states = () => received.map(({ status }) => status)

test('every change of the state is told, in order, with the body of GET', async () => {
  const id = await run()
  expect(states()).toEqual(['queued', 'running', 'succeeded'])
  const { path, ...last } = received[2] ?? {}
  expect([path, last]).toEqual(['/told', (await get(emulator, id)).json])
  expect(emulator.video.callbacks().map(({ status, attempt }) => [status, attempt])).toEqual([
    [200, 1],
    [200, 1],
    [200, 1],
  ])
})

test('nobody has to ask: the clock alone moves tasks, also a fast one, and also after one was finished', async () => {
  await emulator.stop()
  const start = Date.now()
  const clock = () => start + (Date.now() - start) * 100
  emulator = await startAt(
    { maxRunning: { '*': 1 }, runningMs: ({ number }) => (number === 0 ? Infinity : 60_000) },
    { clock },
  )
  const first = await created(emulator)
  await created(emulator, 'x', { callback_url: url() })
  emulator.video.finish(first)
  while (!states().includes('succeeded')) await new Promise((resolve) => setTimeout(resolve, 5))
  expect(states()).toEqual(['queued', 'running', 'succeeded'])
})

test('a cancellation is told', async () => {
  await emulator.stop()
  emulator = await startAt({ queuedMs: Infinity })
  await remove(emulator, await created(emulator, 'x', { callback_url: url() }))
  await emulator.video.callbacksSettled()
  expect(states()).toEqual(['queued', 'cancelled'])
})

test('an end is told up to three times until somebody answers in time; other states once', async () => {
  await emulator.stop()
  emulator = await startAt({ runningMs: 1000, callbackTimeoutMs: 500 })
  answers = [200, 500, 0, 503, 0]
  await run()
  expect(states()).toEqual(['queued', 'running', 'succeeded', 'succeeded', 'succeeded'])
  expect(emulator.video.callbacks().map(({ status }) => status)).toEqual([200, 500, undefined, 503, undefined])
  received = []
  answers = [200, 200, 0, 204]
  await run('fail with InternalServiceError')
  expect(states()).toEqual(['queued', 'running', 'failed', 'failed'])
})

test('an address where nobody listens disturbs nothing', async () => {
  const id = await created(emulator, 'x', { callback_url: 'http://127.0.0.1:1/' })
  emulator.video.advance(1000)
  await emulator.video.callbacksSettled()
  expect((await get(emulator, id)).json.status).toBe('succeeded')
  expect(emulator.video.callbacks().map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => undefined))
})

test('faults repeat, reorder, lose and forge callbacks', async () => {
  const { faults } = emulator
  faults.add({ kind: 'repeat-callback', copies: 2, after: 2 })
  await run()
  expect(states()).toEqual(['queued', 'running', 'succeeded', 'succeeded', 'succeeded'])

  received = []
  faults.add({ kind: 'reorder-callback', after: 1 })
  await run()
  expect(states()).toEqual(['queued', 'succeeded', 'running'])

  received = []
  const lost = faults.add({ kind: 'lose-callback', times: 2 })
  await run()
  expect([states(), lost.hits]).toEqual([['succeeded'], 2])

  received = []
  faults.add({ kind: 'forge-callback', body: { safety_identifier: 'somebody' } })
  const id = await run('fail with InternalServiceError')
  expect(states()).toEqual(['succeeded', 'queued', 'running', 'failed'])
  const content = { video_url: 'https://forged.example/video.mp4' }
  expect(received[0]).toMatchObject({ id, content, safety_identifier: 'somebody' })
  expect(emulator.video.callbacks().filter(({ forged }) => forged)).toHaveLength(1)
})

test('a fault of callbacks is none of calls, and the other way round', async () => {
  const { faults } = emulator
  const call = faults.add({ kind: 'status', status: 500, api: 'video', times: Infinity })
  const { status } = await create(emulator)
  expect([status, call.hits]).toEqual([500, 1])
  call.remove()
  const callback = faults.add({ kind: 'lose-callback', times: Infinity })
  expect((await create(emulator, 'x', { callback_url: url() })).status).toBe(200)
  await emulator.video.callbacksSettled()
  expect([received, callback.hits]).toEqual([[], 2])
  expect(() => faults.add({ kind: 'lose-callback', action: 'CreateVideoTask' })).toThrow('applies to no action')
  expect(() => faults.add({ kind: 'status', status: 500, action: 'SendVideoCallback' })).toThrow('applies to no action')
})
