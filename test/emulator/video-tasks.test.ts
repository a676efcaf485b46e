import { afterEach, expect, test } from 'bun:test'
import type { Emulator } from '../../src/emulator/index.ts'
import {
  create,
  created,
  get,
  MODEL,
  MODEL_10,
  MODEL_25,
  remove,
  START,
  send,
  startAt,
  statusOf,
} from './video-client.ts'

let emulator: Emulator
afterEach(() => emulator.stop())

const DAY = 86_400_000

test('a task is queued, runs and succeeds by the clock of the emulator', async () => {
  emulator = await startAt({ queuedMs: 1000, runningMs: 5000 })
  const { status, json } = await create(emulator, 'a cat', { safety_identifier: 'user-1' })
  expect<unknown>([status, json]).toEqual([
    200,
    { id: expect.stringMatching(/^cgt-20260801120000-[a-z0-9]{5}$/), safety_identifier: 'user-1' },
  ])
  expect<object>((await get(emulator, json.id)).json).toEqual({
    ...{ id: json.id, model: MODEL, status: 'queued', error: null, created_at: START / 1000, updated_at: START / 1000 },
    ...{ service_tier: 'default', execution_expires_after: 172_800, generate_audio: true, priority: 0 },
    safety_identifier: 'user-1',
  })
  emulator.video.advance(1000)
  expect(await statusOf(emulator, json.id)).toBe('running')
  emulator.video.advance(4999)
  expect(await statusOf(emulator, json.id)).toBe('running')
  emulator.video.advance(1)
  expect((await get(emulator, json.id)).json).toMatchObject({
    ...{ status: 'succeeded', updated_at: START / 1000 + 6, resolution: '720p', ratio: '16:9', duration: 5 },
    ...{ framespersecond: 24, seed: expect.any(Number), revised_prompt: expect.stringContaining('a cat') },
    content: { video_url: expect.stringContaining('X-Tos-Expires=86400') },
    usage: { completion_tokens: 108_000, total_tokens: 108_000 },
  })
})

test('with the real clock a task ends without further requests', async () => {
  emulator = await startAt({ runningMs: 20 }, { clock: Date.now })
  const id = await created(emulator)
  while (emulator.video.tasks()[0]?.status !== 'succeeded') await new Promise((resolve) => setTimeout(resolve, 5))
  expect(await statusOf(emulator, id)).toBe('succeeded')
})

test('the prompt decides how a task ends, and so does the test', async () => {
  emulator = await startAt({ runningMs: 1000 })
  const failing = await created(emulator, 'fail with OutputVideoSensitiveContentDetected.')
  const endless = await created(emulator, 'run forever', { execution_expires_after: 3600 })
  const [ended, broken] = [await created(emulator, 'run forever'), await created(emulator)]
  emulator.video.finish(ended)
  emulator.video.finish(broken, { status: 'failed', code: 'InternalServiceError', message: 'no' })
  emulator.video.advance(1000)
  const code = 'OutputVideoSensitiveContentDetected'
  expect((await get(emulator, failing)).json).toMatchObject({ status: 'failed', error: { code } })
  expect((await get(emulator, failing)).json.content).toBeUndefined()
  expect((await get(emulator, broken)).json.error).toEqual({ code: 'InternalServiceError', message: 'no' })
  expect([await statusOf(emulator, ended), await statusOf(emulator, endless)]).toEqual(['succeeded', 'running'])
  emulator.video.advance(3_599_000)
  expect(await statusOf(emulator, endless)).toBe('expired')
  expect(() => emulator.video.finish(ended)).toThrow('has ended: succeeded')
  expect(() => emulator.video.finish('cgt-1')).toThrow('there is no video task cgt-1')
})

test('DELETE cancels what is queued, deletes what has ended, and rejects the rest', async () => {
  emulator = await startAt({ maxRunning: { '*': 1 }, runningMs: 1000 })
  const [running, queued] = [await created(emulator), await created(emulator)]
  expect(await remove(emulator, running)).toMatchObject({ status: 409, code: 'InvalidAction.RunningTaskDeletion' })
  expect(await remove(emulator, queued)).toMatchObject({ status: 200, json: {} })
  expect(await statusOf(emulator, queued)).toBe('cancelled')
  expect(await remove(emulator, queued)).toMatchObject({ status: 409, code: 'InvalidAction.CancelledTaskDeletion' })
  emulator.video.advance(1000)
  expect(await statusOf(emulator, running)).toBe('succeeded')
  expect((await remove(emulator, running)).status).toBe(200)
  expect(await get(emulator, running)).toMatchObject({ status: 404, code: 'NotFound.Task' })
  expect(await remove(emulator, running)).toMatchObject({ status: 404, code: 'NotFound.Task' })
  // a failed and an expired one can be deleted too
  const failed = await created(emulator, 'fail with InternalServiceError')
  const expired = await created(emulator, 'run forever', { execution_expires_after: 3600 })
  emulator.video.advance(3_700_000)
  expect([(await remove(emulator, failed)).status, (await remove(emulator, expired)).status]).toEqual([200, 200])
})

test('a record vanishes 7 days after its creation, a cancelled one 24 hours after the cancellation', async () => {
  emulator = await startAt({ maxRunning: { '*': 1 }, runningMs: 1000 })
  const [ended, cancelled] = [await created(emulator), await created(emulator)]
  await remove(emulator, cancelled)
  emulator.video.advance(DAY - 1)
  expect([await statusOf(emulator, ended), await statusOf(emulator, cancelled)]).toEqual(['succeeded', 'cancelled'])
  emulator.video.advance(1)
  expect([await statusOf(emulator, ended), await statusOf(emulator, cancelled)]).toEqual(['succeeded', 'NotFound.Task'])
  emulator.video.advance(6 * DAY - 1)
  expect(await statusOf(emulator, ended)).toBe('succeeded')
  emulator.video.advance(1)
  expect(await statusOf(emulator, ended)).toBe('NotFound.Task')
  expect(emulator.video.tasks().map(({ gone }) => gone)).toEqual([true, true])
})

test('a model runs as many tasks as it may: 3 of 2.5, 10 of the others', async () => {
  emulator = await startAt({ runningMs: 1000 })
  for (const model of [MODEL_25, MODEL, MODEL_10]) for (let i = 0; i < 12; i++) await created(emulator, 'x', { model })
  const running = (model: string) =>
    emulator.video.tasks().filter((task) => task.model.id === model && task.status === 'running').length
  expect([running(MODEL_25), running(MODEL), running(MODEL_10)]).toEqual([3, 10, 10])
  emulator.video.advance(1000)
  expect([running(MODEL_25), running(MODEL), running(MODEL_10)]).toEqual([3, 2, 2])
})

test('flex tasks take no slot', async () => {
  emulator = await startAt({ maxRunning: { '*': 1 } })
  for (let i = 0; i < 3; i++) await created(emulator, 'x', { model: MODEL_10, service_tier: 'flex' })
  expect(emulator.video.tasks().map(({ status }) => status)).toEqual(['running', 'running', 'running'])
  await created(emulator, 'x', { model: MODEL_10 })
  expect(emulator.video.tasks()[3]?.status).toBe('running')
})

test('a higher priority overtakes, equal ones are first come, first served; each endpoint has its own queue', async () => {
  emulator = await startAt({ maxRunning: { '*': 1 }, runningMs: 1000 })
  const names = new Map<string, string>()
  const add = async (name: string, model: string, priority = 0) =>
    names.set(await created(emulator, name, { model, priority }), name)
  await add('running', MODEL)
  await add('low-1', 'ep-20260101000000-video')
  await add('low-2', 'ep-20260101000000-video')
  await add('other', 'ep-20260101000000-other')
  await add('high', 'ep-20260101000000-video', 9)
  for (let i = 0; i < 5; i++) emulator.video.advance(1000)
  const started = emulator.video.tasks().sort((a, b) => (a.startTime ?? 0) - (b.startTime ?? 0))
  // "high" goes before its own endpoint's tasks, but not before the older one of the other endpoint
  expect(started.map(({ id }) => names.get(id))).toEqual(['running', 'other', 'high', 'low-1', 'low-2'])
})

test('too many queued tasks are 429 with the code QuotaExceeded, and so is a full account if asked for', async () => {
  emulator = await startAt({ maxRunning: { '*': 1 }, maxQueued: 2, runningMs: 1000 })
  for (let i = 0; i < 3; i++) await created(emulator)
  const full = await create(emulator)
  expect(full).toMatchObject({ status: 429, code: 'QuotaExceeded' })
  expect(full.json.error?.message).toStartWith('The request has exceeded the quota.')
  emulator.video.advance(1000)
  expect((await create(emulator)).status).toBe(200)
  await emulator.stop()
  emulator = await startAt({ maxRunning: { '*': 1 }, whenFull: 'reject' })
  await created(emulator)
  expect(await create(emulator)).toMatchObject({ status: 429, code: 'InflightBatchsizeExceeded' })
})

test('thousands of tasks pass through the queue, each started once and never more than the slots', async () => {
  emulator = await startAt({ maxQueued: Infinity, runningMs: ({ number }) => 500 + (number % 7) * 100 })
  const body = JSON.stringify({ model: MODEL, content: [{ type: 'text', text: 'x' }] })
  for (let i = 0; i < 20; i++) await Promise.all(Array.from({ length: 100 }, () => send(emulator, 'POST', '', body)))
  emulator.video.advance(200_000)
  const tasks = emulator.video.tasks()
  expect(new Set(tasks.map(({ id }) => id)).size).toBe(2000)
  expect(new Set(tasks.map(({ status }) => status))).toEqual(new Set(['succeeded']))
  const changes = tasks.flatMap(({ startTime = 0, endTime = 0 }) => [
    { at: startTime, by: 1 },
    { at: endTime, by: -1 },
  ])
  changes.sort((a, b) => a.at - b.at || a.by - b.by)
  let [running, most] = [0, 0]
  for (const { by } of changes) {
    running += by
    most = Math.max(most, running)
  }
  expect(most).toBe(10)
})
