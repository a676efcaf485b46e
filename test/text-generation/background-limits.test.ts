import { expect, test } from 'bun:test'
import { usageLimits } from '../../plugins/usage-limits/index.ts'
import { openStore } from '../../src/store/index.ts'
import { openApp } from './fixture.ts'

test('what a background response has reserved stays reserved until its usage is known, whatever happens to the process', async () => {
  const store = openStore('sqlite::memory:')
  await store.migrate()
  const start = () =>
    usageLimits({ store: store.limits, userLimits: [{ unit: 'tokens', amount: 10_000, window: 'month' }] })
  const limits = start()
  let status = 'in_progress'
  const app = openApp(
    () =>
      Response.json({
        ...{ id: 'resp_1', object: 'response', status, output: [] },
        ...(status === 'completed' && { usage: { input_tokens: 7, output_tokens: 30, total_tokens: 37 } }),
      }),
    { limits, objects: store },
  )
  const body = { model: 'm', input: 'Hi', background: true, max_output_tokens: 500 }
  expect((await app.post('/responses', body)).status).toBe(200)
  await limits.stop()
  const others = start()
  const report = async () => (await others.report({ user: 'ann' })).map(({ used, reserved }) => ({ used, reserved }))
  const [held] = await report()
  expect(held?.used).toBe(0)
  expect(held?.reserved).toBeWithin(501, 510)
  status = 'completed'
  expect((await app.get('/responses/resp_1')).status).toBe(200)
  expect(await report()).toEqual([{ used: 37, reserved: 0 }])
  await app.get('/responses/resp_1')
  expect(await report()).toEqual([{ used: 37, reserved: 0 }])
  await others.stop()
  await store.close()
})

test('a stream counts as a stream only until it ends, also when its response continues in the background', async () => {
  const store = openStore('sqlite::memory:')
  await store.migrate()
  const limits = usageLimits({
    store: store.limits,
    userLimits: [
      { unit: 'streams', amount: 1 },
      { unit: 'tokens', amount: 10_000, window: 'month' },
    ],
  })
  const app = openApp(() => Response.json({ id: 'resp_1', object: 'response', status: 'in_progress', output: [] }), {
    ...{ limits, objects: store },
  })
  const body = { model: 'm', input: 'Hi', background: true, stream: true, max_output_tokens: 500 }
  const response = await app.post('/responses', body)
  expect(response.status).toBe(200)
  await response.text()
  const reserved = (await limits.report({ user: 'ann' })).map(({ reserved }) => reserved)
  expect([reserved[0], (reserved[1] ?? 0) > 500]).toEqual([0, true])
  await limits.stop()
  await store.close()
})
