import { afterEach, expect, test } from 'bun:test'
import { type Emulator, type RateLimitKind, startEmulator } from '../../src/emulator/index.ts'
import { rateLimitKinds } from '../../src/emulator/video/rate-limits.ts'
import { create, created, get, MODEL, send, startAt } from './video-client.ts'

let emulator: Emulator
afterEach(() => emulator.stop())

test('every kind of 429 can be made; codes that stand for several kinds differ in their messages', async () => {
  emulator = await startAt()
  const seen = new Map<RateLimitKind, string>()
  for (const limit of rateLimitKinds) {
    const fault = emulator.faults.add({ kind: 'rate-limit', limit })
    const { status, json, headers } = await create(emulator)
    expect([status, json.error?.type, fault.hits]).toEqual([429, 'TooManyRequests', 1])
    seen.set(
      limit,
      `${json.error?.code}: ${json.error?.message}`.replace(` Request id: ${headers.get('x-request-id')}`, ''),
    )
  }
  expect(new Set(seen.values()).size).toBe(rateLimitKinds.length)
  expect([...seen.values()].filter((message) => message.startsWith('QuotaExceeded:'))).toHaveLength(5)
  expect(seen.get('queue')).toBe('QuotaExceeded: The request has exceeded the quota.')
  expect(emulator.video.tasks()).toEqual([])
  // other actions, if asked for
  emulator.faults.add({ kind: 'rate-limit', limit: 'api-rpm', action: 'ListVideoTasks' })
  expect((await send(emulator, 'GET', '')).code).toBe('APIAccountRpmRateLimitExceeded')
  expect(() => emulator.faults.add({ kind: 'rate-limit', limit: 'queue', action: 'ListAssets' })).toThrow(
    'applies to no action',
  )
})

test('limits by option: calls that create of an endpoint and of a model, and each other action', async () => {
  const id = 'ep-1'
  const endpoints = [{ id, model: MODEL, requestsPerMinute: 1 }]
  emulator = await startAt({ endpoints, createsPerMinute: 2, callsPerMinute: 2 })
  await created(emulator, 'x', { model: id })
  expect((await create(emulator, 'x', { model: id })).code).toBe('RateLimitExceeded.EndpointRPMExceeded')
  await created(emulator)
  expect((await create(emulator)).code).toBe('ModelAccountRpmRateLimitExceeded')
  for (const code of [undefined, undefined, 'APIAccountRpmRateLimitExceeded'])
    expect((await send(emulator, 'GET', '')).code).toBe(code)
  expect((await get(emulator, 'cgt-0')).status).toBe(404)
  emulator.video.advance(60_000)
  expect([(await create(emulator, 'x', { model: id })).status, (await send(emulator, 'GET', '')).status]).toEqual([
    200, 200,
  ])
})

test('a lost answer leaves a task that a list finds by its identifier and its time to expire', async () => {
  emulator = await startAt()
  const nonce = { safety_identifier: 'user-7', execution_expires_after: 172_799 }
  emulator.faults.add({ kind: 'reset-after', action: 'CreateVideoTask' })
  await expect(create(emulator, 'x', nonce)).rejects.toThrow()
  const { items } = (await send(emulator, 'GET', '')).json
  expect(items).toEqual([expect.objectContaining(nonce)])
  expect(items.map(({ id }) => id)).toEqual(emulator.video.tasks().map(({ id }) => id))
})

test('the faults of every API apply, with errors in the form of the data plane', async () => {
  emulator = await startAt()
  const { faults } = emulator
  const id = await created(emulator)
  faults.add({ kind: 'status', status: 503, action: 'GetVideoTask' })
  const { status, json } = await get(emulator, id)
  expect([status, json.error]).toMatchObject([503, { code: 'InternalServiceError', type: 'InternalServerError' }])
  faults.add({ kind: 'not-json', action: 'ListVideoTasks' })
  expect((await send(emulator, 'GET', '')).text).toStartWith('<html>')
  faults.add({ kind: 'leak', action: 'GetVideoTask' })
  expect((await get(emulator, id)).text).toContain(emulator.video.key)
  // a fault of lists of assets is none of lists of tasks
  faults.add({ kind: 'no-data', times: Infinity })
  expect((await send(emulator, 'GET', '')).json.total).toBe(1)
  const hang = faults.add({ kind: 'hang', action: 'CreateVideoTask', work: true })
  const signal = AbortSignal.timeout(100)
  const body = JSON.stringify({ model: MODEL, content: [{ type: 'text', text: 'x' }] })
  const headers = { authorization: `Bearer ${emulator.video.key}` }
  const call = fetch(`${emulator.video.url}/contents/generations/tasks`, { method: 'POST', body, headers, signal })
  await expect(call).rejects.toThrow()
  expect([hang.hits, emulator.video.tasks().length]).toEqual([1, 2])
})

test('the control routes read and end tasks, read callbacks and let time pass', async () => {
  emulator = await startAt({ runningMs: Infinity })
  const control = async (method: string, path: string, body?: object) => {
    const init = { method, body: body && JSON.stringify(body) }
    const response = await fetch(`${emulator.origin}/_emulator/${path}`, init)
    const json: unknown = await response.json()
    return [response.status, json] as const
  }
  const ids = [await created(emulator), await created(emulator), await created(emulator)]
  expect(await control('GET', 'video')).toMatchObject([200, ids.map((id) => ({ id }))])
  expect(await control('POST', `video/${ids[0]}`, { do: 'succeed' })).toEqual([200, { status: 'succeeded' }])
  expect(await control('POST', `video/${ids[1]}`, { do: 'fail', code: 'X', message: 'y' })).toEqual([
    200,
    { status: 'failed' },
  ])
  expect((await get(emulator, ids[1] ?? '')).json.error).toEqual({ code: 'X', message: 'y' })
  expect(await control('POST', `video/${ids[1]}`, { do: 'succeed' })).toEqual([
    400,
    { error: expect.stringContaining('has ended') },
  ])
  expect((await control('POST', `video/${ids[2]}`, { do: 'sing' }))[0]).toBe(400)
  expect(await control('POST', 'time', { ms: 172_800_000 })).toEqual([200, {}])
  expect((await get(emulator, ids[2] ?? '')).json.status).toBe('expired')
  expect(await control('GET', 'callbacks')).toEqual([200, []])
})

test('a wrong option rejects the start', async () => {
  emulator = await startAt()
  for (const [video, message] of [
    [{ runningMs: -1 }, 'video.runningMs must be a number from 0'],
    [{ maxRunning: { x: 1 } }, 'video.maxRunning: there is no model x'],
    [{ maxRunning: { '*': -1 } }, 'video.maxRunning.* must be a number from 0'],
    [{ endpoints: [{ id: 'ep-1', model: 'x' }] }, 'video.endpoints: ep-1 has no model x'],
  ] as const)
    await expect(startEmulator({ video })).rejects.toThrow(message)
})
