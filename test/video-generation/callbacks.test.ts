import { expect, test } from 'bun:test'
import { callbackKey } from '../../plugins/video-generation/service/callback.ts'
import { openVideoFixture, tasksPath, until, type VideoFixture } from './fixture.ts'

/** A gateway that polls once a minute: only callbacks move tasks. */
const openWithCallbacks = async (video = {}): Promise<VideoFixture> => {
  let url = ''
  const fixture = await openVideoFixture({ video, gateway: { pollMs: 60_000, publicUrl: () => url } })
  url = fixture.gateway.url
  return fixture
}

const callbacksPath = tasksPath.replace('tasks', 'callbacks')

test('a callback of the upstream is a hint: the task is polled at once', async () => {
  await using fixture = await openWithCallbacks()
  const { ann, emulator } = fixture
  const id = await ann.created()
  const [task] = emulator.video.tasks()
  expect(task?.body.callback_url).toMatch(new RegExp(`^${fixture.gateway.url}${callbacksPath}/${id}/[\\w-]{43}$`))
  await until(async () => (await ann.statusOf(id)) === 'running')
  emulator.video.finish(task?.id ?? '')
  await until(async () => (await ann.statusOf(id)) === 'succeeded')
  await emulator.video.callbacksSettled()
  const callbacks = emulator.video.callbacks()
  expect(callbacks.map(({ status }) => status)).toEqual(callbacks.map(() => 200))
  expect((await ann.get(id)).text).not.toContain('callback')
})

test('forged, repeated, reordered and lost callbacks change nothing that the upstream does not say', async () => {
  await using fixture = await openWithCallbacks()
  const { ann, emulator } = fixture
  emulator.faults.add({ kind: 'forge-callback', times: 3 })
  emulator.faults.add({ kind: 'repeat-callback', copies: 3, times: 3 })
  emulator.faults.add({ kind: 'reorder-callback' })
  const id = await ann.created()
  const statuses = new Set<string>()
  await until(async () => {
    statuses.add(await ann.statusOf(id))
    return statuses.has('running')
  })
  await emulator.video.callbacksSettled()
  expect(emulator.video.callbacks().some(({ forged }) => forged)).toBe(true)
  expect([...statuses]).toEqual(statuses.has('queued') ? ['queued', 'running'] : ['running'])
  expect((await ann.get(id)).text).not.toContain('forged.example')
  emulator.video.finish(emulator.video.tasks()[0]?.id ?? '', { status: 'failed', code: 'X', message: 'x' })
  await until(async () => (await ann.statusOf(id)) === 'failed')
  expect((await ann.get(id)).text).not.toContain('forged.example')
})

test('a stranger who calls the callback route gets the same 404 for everything, and causes no call to the upstream', async () => {
  await using fixture = await openWithCallbacks()
  const { ann, emulator } = fixture
  const id = await ann.created()
  await until(async () => (await ann.statusOf(id)) === 'running')
  const before = emulator.calls.length
  const post = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(fixture.gateway.url + callbacksPath + path, {
      method: 'POST',
      keepalive: false,
      ...init,
    })
    return [response.status, await response.text()]
  }
  const rejected = await post(`/${id}/${'A'.repeat(43)}`)
  expect(rejected[0]).toBe(404)
  const other = 'cgt-20260101000000-00000000000000000000'
  const big = { body: 'x'.repeat(5_000_000) }
  expect(await post(`/${other}/${'A'.repeat(43)}`)).toEqual(rejected)
  expect(await post(`/${id}/`)).toEqual(rejected)
  expect(await post(`/${id}/%00`)).toEqual(rejected)
  expect(await post(`/${id}/${'A'.repeat(5_000)}`)).toEqual(rejected)
  expect(await post(`/${id}/${'A'.repeat(43)}`, big)).toEqual(rejected)
  expect(await post(`/${other}/${callbackKey('another secret', other)}`)).toEqual(rejected)
  expect(emulator.calls.length).toBe(before)
})

test('who knows the address of a task can cause polls, and nothing else', async () => {
  await using fixture = await openWithCallbacks()
  const { ann, emulator } = fixture
  const id = await ann.created()
  await until(async () => (await ann.statusOf(id)) === 'running')
  const address = String(emulator.video.tasks()[0]?.body.callback_url)
  const body = JSON.stringify({ id, status: 'succeeded', content: { video_url: 'https://forged.example/' } })
  await Promise.all(Array.from({ length: 50 }, () => fetch(address, { method: 'POST', body })))
  expect((await ann.get(id)).json).toMatchObject({ status: 'running' })
  expect((await ann.get(id)).json.content).toBeUndefined()
  emulator.video.finish(emulator.video.tasks()[0]?.id ?? '')
  await until(async () => (await ann.statusOf(id)) === 'succeeded')
  expect((await fetch(address, { method: 'POST', body })).status).toBe(200)
  expect((await ann.get(id)).text).not.toContain('forged.example')
})

test('the log has no key of a callback', async () => {
  const lines: string[] = []
  const write = (fields: object, text: string) => void lines.push(JSON.stringify([fields, text]))
  let url = ''
  await using fixture = await openVideoFixture({
    gateway: { publicUrl: () => url },
    more: { log: { debug: write, info: write, warn: write, error: write } },
  })
  url = fixture.gateway.url
  const id = await fixture.ann.created()
  await until(async () => (await fixture.ann.statusOf(id)) === 'running')
  await fixture.emulator.video.callbacksSettled()
  const key = String(fixture.emulator.video.tasks()[0]?.body.callback_url).split('/').at(-1) ?? '-'
  expect(lines.join()).toContain('/contents/generations/callbacks/')
  expect(lines.join()).not.toContain(key)
})
