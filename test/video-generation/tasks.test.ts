import { expect, test } from 'bun:test'
import { MODEL, MODEL_10, openVideoFixture, until } from './fixture.ts'

test('a task is created, polled, and has its result', async () => {
  await using fixture = await openVideoFixture()
  const { ann, emulator } = fixture
  const created = await ann.create('a cat', { resolution: '480p', priority: 7, safety_identifier: 'mine' })
  expect([created.status, created.text]).toEqual([200, JSON.stringify({ id: created.json.id })])
  const { id } = created.json
  expect(id).toMatch(/^cgt-\d{14}-[0-9a-z]{20}$/)
  const [upstream] = emulator.video.tasks()
  expect(upstream?.id).not.toBe(id)
  expect(upstream?.body.safety_identifier).toMatch(/^[0-9a-f]{64}$/)
  expect(upstream?.body.priority).toBeUndefined()
  await until(async () => (await ann.statusOf(id)) === 'running')
  const running = await ann.get(id)
  expect(running.json).toMatchObject({
    ...{ id, model: MODEL, status: 'running', error: null, priority: 7, safety_identifier: 'mine' },
    execution_expires_after: 172_800,
  })
  emulator.video.finish(upstream?.id ?? '')
  await until(async () => (await ann.statusOf(id)) === 'succeeded')
  const { json, text } = await ann.get(id)
  expect(json.content.video_url).toStartWith(emulator.origin)
  expect(json.usage.completion_tokens).toBeGreaterThan(0)
  expect(text).not.toContain(upstream?.id ?? '')
  expect((await fetch(json.content.video_url)).headers.get('content-type')).toBe('video/mp4')
})

test('the video object of a native task has the first text as its prompt, as long as a prompt may be', async () => {
  await using fixture = await openVideoFixture()
  const { ann, gateway } = fixture
  const promptOf = async (id: string) => {
    const headers = { authorization: `Bearer ${ann.token}` }
    const [one, list] = await Promise.all(
      [`/${id}`, ''].map(async (path) => (await fetch(`${gateway.url}/v1/videos${path}`, { headers })).json()),
    )
    const { data } = list as { data: { id: string; prompt: unknown }[] }
    expect(data.find((video) => video.id === id)?.prompt).toBe((one as { prompt: unknown }).prompt)
    return (one as { prompt: unknown }).prompt
  }
  expect(await promptOf(await ann.created('a cat\0 "and" \u{1f408}'))).toBe('a cat\0 "and" \u{1f408}')
  expect(await promptOf(await ann.created('x'.repeat(32_000)))).toBe('x'.repeat(32_000))
  expect(await promptOf(await ann.created('x'.repeat(32_001)))).toBeNull()
})

test('the error of the upstream reaches the caller, and nothing remains', async () => {
  await using fixture = await openVideoFixture()
  const reply = await fixture.ann.create('a cat', { resolution: '9p' })
  expect([reply.status, reply.code, reply.json.error.type]).toEqual([400, 'InvalidParameter', 'BadRequest'])
  const limited = fixture.emulator.faults.add({ kind: 'rate-limit', limit: 'inflight' })
  expect((await fixture.ann.create()).code).toBe('InflightBatchsizeExceeded')
  expect(limited.hits).toBe(1)
  expect((await fixture.ann.send('GET', '')).json).toEqual({ items: [], total: 0 })
})

test('flex tasks of a model without priorities are polled too', async () => {
  await using fixture = await openVideoFixture()
  const { ann, emulator } = fixture
  const id = await ann.created('a cat', { model: MODEL_10, service_tier: 'flex' })
  await until(async () => (await ann.statusOf(id)) === 'running')
  emulator.video.finish(emulator.video.tasks()[0]?.id ?? '', { status: 'failed', code: 'X.Y', message: 'no' })
  await until(async () => (await ann.statusOf(id)) === 'failed')
  expect((await ann.get(id)).json.error).toEqual({ code: 'X.Y', message: 'no' })
  expect((await ann.send('GET', '')).json.total).toBe(0)
  const flex = await ann.send('GET', '?filter.service_tier=flex')
  expect(flex.json.items).toMatchObject([{ id, status: 'failed', failure_reason: { code: 'X.Y' } }])
})

test('a task of another user and one that does not exist are the same 404', async () => {
  await using fixture = await openVideoFixture()
  const { ann, bob } = fixture
  const id = await ann.created()
  const foreign = await bob.get(id)
  expect([foreign.status, foreign.code]).toEqual([404, 'NotFound.Task'])
  for (const unknown of ['cgt-20260101000000-00000000000000000000', 'x', '%2e%2e%2f', 'cgt-%00'])
    expect((await bob.get(unknown)).text).toBe(foreign.text)
  expect((await bob.send('DELETE', `/${id}`)).text).toBe(foreign.text)
  expect((await ann.get(id)).status).toBe(200)
})

test('DELETE cancels a queued task, rejects a running one, and deletes an ended one', async () => {
  await using fixture = await openVideoFixture({ video: { maxRunning: { '*': 1 } } })
  const { ann, emulator } = fixture
  const [running, queued] = [await ann.created(), await ann.created()]
  await until(async () => (await ann.statusOf(running)) === 'running')
  expect((await ann.send('DELETE', `/${queued}?mode=delete`)).code).toBe('InvalidAction.QueuedTaskDeletion')
  expect((await ann.send('DELETE', `/${queued}`)).text).toBe('{}')
  expect(await ann.statusOf(queued)).toBe('cancelled')
  expect(emulator.video.tasks()[1]?.status).toBe('cancelled')
  const rejected = await ann.send('DELETE', `/${running}`)
  expect([rejected.status, rejected.code]).toEqual([409, 'InvalidAction.RunningTaskDeletion'])
  emulator.video.finish(emulator.video.tasks()[0]?.id ?? '')
  await until(async () => (await ann.statusOf(running)) === 'succeeded')
  expect((await ann.send('DELETE', `/${running}?mode=cancel`)).code).toBe('InvalidAction.EndedTaskCancellation')
  expect((await ann.send('DELETE', `/${running}`)).status).toBe(200)
  expect((await ann.get(running)).status).toBe(404)
  // The upstream's record has the only result, and the caller has not asked for its deletion.
  expect(emulator.video.tasks()[0]?.gone).toBe(false)
})

test('a task that ends while it is to be cancelled is shown as failed, because the upstream has deleted it', async () => {
  let endsNow = false
  await using fixture = await openVideoFixture({
    video: { maxRunning: { '*': 1 } },
    gateway: {
      // A poll between the end and the deletion would see the result.
      pollMs: 3_600_000,
      fetch: (url, init) => {
        const id = String(url).split('/').at(-1) ?? ''
        if (endsNow && init.method === 'DELETE') emulator.video.finish(id)
        return fetch(url, init)
      },
    },
  })
  const { ann, emulator } = fixture
  await ann.created()
  for (const mode of ['', '?mode=cancel']) {
    const id = await ann.created()
    endsNow = true
    const rejected = await ann.send('DELETE', `/${id}${mode}`)
    endsNow = false
    expect([rejected.status, rejected.code]).toEqual([409, 'InvalidAction.EndedTaskCancellation'])
    expect(emulator.video.tasks().at(-1)).toMatchObject({ status: 'succeeded', gone: true })
    expect((await ann.get(id)).json).toMatchObject({ id, status: 'failed', error: { code: 'NotFound.Task' } })
    expect((await ann.send('DELETE', `/${id}`)).status).toBe(200)
    expect((await ann.get(id)).status).toBe(404)
  }
})

test('a task that the upstream cannot show does not keep others from being polled', async () => {
  let broken = ''
  await using fixture = await openVideoFixture({
    video: { listedAfterMs: 3_600_000 },
    gateway: {
      fetch: (url, init) =>
        broken !== '' && String(url).endsWith(broken)
          ? Promise.resolve(Response.json({ error: { code: 'InternalServiceError', message: 'x' } }, { status: 500 }))
          : fetch(url, init),
    },
  })
  const { ann, emulator } = fixture
  const first = await ann.created('first')
  const second = await ann.created('second')
  await until(async () => (await ann.statusOf(first)) === 'running')
  await until(async () => (await ann.statusOf(second)) === 'running')
  broken = emulator.video.tasks().find(({ request }) => request.prompt === 'first')?.id ?? ''
  for (const { id } of emulator.video.tasks()) emulator.video.finish(id)
  await until(async () => (await ann.statusOf(second)) === 'succeeded')
  expect(await ann.statusOf(first)).toBe('running')
  broken = ''
  await until(async () => (await ann.statusOf(first)) === 'succeeded')
})
