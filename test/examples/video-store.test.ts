import { expect, test } from 'bun:test'
import { DatabaseSync } from 'node:sqlite'
import { Elysia } from 'elysia'
import { Background } from 'sluice/shared'
import { videoGeneration } from 'sluice/video-generation'
import { createStore } from '../../examples/video-store-of-your-own.ts'
import { startEmulator } from '../../src/emulator/index.ts'
import { MODEL, text } from '../emulator/video-client.ts'
import { until } from '../video-generation/fixture.ts'

const path = 'http://localhost/api/v3/contents/generations/tasks'

test('video-store-of-your-own: two processes on one store share tasks, slots and turns, and each end comes once', async () => {
  const emulator = await startEmulator({ video: { queuedMs: 0, runningMs: Number.POSITIVE_INFINITY } })
  const store = createStore(new DatabaseSync(':memory:'))
  const background = new Background()
  const ends: string[] = []
  const process = () =>
    new Elysia().use(
      videoGeneration({
        ...{ store, background, pollMs: 10, upstream: emulator.video, slots: { '*': { running: 1 } } },
        ...{ identifierSecret: 'secret of two processes', observeEnd: (status) => void ends.push(status) },
        identify: (request) => ({ user: request.headers.get('x-user') ?? '' }),
      }),
    )
  const apps = [process(), process()] as const
  const ask = async (user: string, method: string, below = '', body?: object) => {
    const init = { method, headers: { 'x-user': user, 'content-type': 'application/json' } }
    const request = new Request(`${path}${below}`, { ...init, ...(body && { body: JSON.stringify(body) }) })
    const response = await apps[user === 'ann' ? 0 : 1].handle(request)
    return { status: response.status, json: JSON.parse(await response.text()) }
  }
  const create = async (user: string, prompt: string): Promise<string> =>
    (await ask(user, 'POST', '', { model: MODEL, content: [text(prompt)] })).json.id
  const statusOf = async (user: string, id: string) => (await ask(user, 'GET', `/${id}`)).json.status
  const running = () => emulator.video.tasks().filter(({ status }) => status === 'running')

  const ids = [
    await create('ann', 'a1'),
    await create('ann', 'a2'),
    await create('ann', 'a3'),
    await create('carl', 'c1'),
  ]
  const [first = '', second = '', third = '', ofCarl = ''] = ids
  expect(await ask('ann', 'DELETE', `/${second}`)).toMatchObject({ status: 200 })
  const order: string[] = []
  while (order.length < 3) {
    await until(() => running().length === 1)
    for (const task of running()) {
      order.push(task.request.prompt)
      emulator.video.finish(task.id)
    }
  }
  expect(order).toEqual(['a1', 'c1', 'a3'])
  await until(async () => (await statusOf('ann', third)) === 'succeeded')
  expect(await statusOf('ann', second)).toBe('cancelled')
  expect(await ask('ann', 'GET', `/${ofCarl}`)).toMatchObject({ status: 404 })
  expect((await ask('ann', 'GET')).json).toMatchObject({
    total: 3,
    items: [{ id: third }, { id: second }, { id: first }],
  })
  expect(await ask('ann', 'DELETE', `/${first}`)).toMatchObject({ status: 200 })
  expect((await ask('ann', 'GET')).json.total).toBe(2)
  expect(ends).toEqual(['succeeded', 'succeeded', 'succeeded'])
  await background.stop()
  await emulator.stop()
})
