import { describe, expect, test } from 'bun:test'
import { usageLimits } from '../../plugins/usage-limits/index.ts'
import { createTaskIds } from '../../plugins/video-generation/tasks/task-id.ts'
import { repeatedDatabases } from '../support/database.ts'
import { MODEL, MODEL_10, MODEL_25, openVideoFixture, text, until, type VideoFixture } from './fixture.ts'

const newTaskId = createTaskIds()

// A token costs 46 millionths.
const costOf = (_task: unknown, { completionTokens = 0 }: { completionTokens?: number }) => completionTokens * 46_000

const finishAll = ({ emulator }: VideoFixture) => {
  for (const { id, status } of emulator.video.tasks()) if (status === 'running') emulator.video.finish(id)
}

describe.each(repeatedDatabases)('a dry run of a video task (%s)', (database) => {
  test('says what the task will use and cost, which is what it is charged, and creates nothing', async () => {
    await using fixture = await openVideoFixture({ database, gateway: { costOf } })
    const { ann, emulator, store } = fixture
    for (const more of [
      { duration: 5, resolution: '720p', ratio: '16:9' },
      { duration: 12, resolution: '480p', ratio: '9:16' },
      { content: [text('a cat --dur 7 --rs 1080p --rt 1:1')] },
    ]) {
      const before = emulator.video.tasks().length
      const { status, json } = await ann.create('a cat', { ...more, dry_run: true })
      expect(status).toBe(200)
      expect(json).toMatchObject({ dry_run: true, model: MODEL, usage: { exact: true }, violations: [], queue: null })
      expect(emulator.video.tasks()).toHaveLength(before)
      expect((await ann.send('GET', '')).json.total).toBe(before)
      const id = await ann.created('a cat', { ...more, dry_run: false })
      finishAll(fixture)
      await until(async () => (await ann.statusOf(id)) === 'succeeded')
      const task = (await ann.get(id)).json
      expect(json.usage.completion_tokens).toBe(task.usage.completion_tokens)
      expect(json.usage.seconds).toBe(task.duration)
      const { tasks } = await store.videoTasks(ann.id, { ids: [id] }, { offset: 0, limit: 1 })
      expect(json.cost).toBe((costOf(tasks[0], { completionTokens: json.usage.completion_tokens }) ?? 0) / 1e9)
    }
    // It never reaches the upstream, whatever its value.
    expect(JSON.stringify(emulator.video.tasks())).not.toContain('dry_run')
  })

  test('is the most that the task may use where the model decides its length', async () => {
    await using fixture = await openVideoFixture({ database })
    const { json } = await fixture.ann.create('a cat', { model: MODEL_25, dry_run: true, ratio: '16:9' })
    expect(json).toMatchObject({ usage: { completion_tokens: 648_000, seconds: 30, exact: false }, cost: null })
  })

  test('shows the limits that the task would use, and is refused as the task would be', async () => {
    await using fixture = await openVideoFixture({
      database,
      gateway: { costOf },
      more: {
        limitsOf: (store) =>
          usageLimits({
            store: store.limits,
            userLimits: [
              { unit: 'tokens', amount: 200_000, window: 'day' },
              { unit: 'videos', amount: 5 },
              { unit: 'groups', amount: 3 },
              { unit: 'tokens', amount: 7, model: 'another-*' },
              { unit: 'cost', amount: 100, model: 'doubao-*' },
            ],
          }),
      },
    })
    const { ann } = fixture
    const request = { duration: 5, resolution: '720p', ratio: '16:9' }
    const { json } = await ann.create('a cat', { ...request, dry_run: true })
    const needed = Object.fromEntries(json.limits.map((limit: { unit: string }) => [limit.unit, limit]))
    expect(needed.tokens).toMatchObject({ amount: 200_000, remaining: 200_000, reserved: 0, needed: 108_000 })
    expect(needed.videos).toMatchObject({ remaining: 5, needed: 1 })
    expect(needed.cost).toMatchObject({ remaining: 100, needed: 4.968 })
    expect(Object.keys(needed).toSorted()).toEqual(['cost', 'tokens', 'videos'])
    // Twenty dry runs reserve nothing.
    for (let round = 0; round < 20; round++) await ann.create('a cat', { ...request, dry_run: true })
    await ann.created('a cat', request)
    const [dry, real] = [await ann.create('a cat', { ...request, dry_run: true }), await ann.create('a cat', request)]
    expect([dry.status, dry.json]).toEqual([real.status, real.json])
    expect([dry.status, dry.code]).toEqual([429, 'QuotaExceeded'])
  })

  test('has the place that the task gets, and no more room than the queue', async () => {
    const slots = { running: 1, waitingPerUser: 2 }
    await using fixture = await openVideoFixture({
      database,
      gateway: { slots: { '*': slots } },
    })
    const { ann, bob, store } = fixture
    // Past the gateway, which uses what it has read of a queue for a second: so its first look is the dry run's.
    const add = (user: { readonly id: string }, model: string) => {
      const now = Date.now()
      const task = { id: newTaskId(now), user: user.id, model, serviceTier: 'default' as const, createdAt: now }
      const more = { expiresAt: now + 3_600_000, fields: '{"own":{},"shown":{}}', request: '{}', holds: false }
      return store.addVideoTask({ ...task, ...more }, slots, now + 3_600_000)
    }
    expect((await ann.create('a', { dry_run: true })).json.queue).toBeNull()
    expect((await ann.create('a')).headers.get('x-queue-position')).toBeNull()
    for (const user of [bob, bob, ann]) await add(user, MODEL_25)
    const { json } = await ann.create('a', { model: MODEL_25, dry_run: true })
    const created = await ann.create('a', { model: MODEL_25 })
    expect(json.queue).toEqual({ position: Number(created.headers.get('x-queue-position')), seconds: null })
    expect(json.queue.position).toBe(2)
    for (const user of [bob, ann, ann]) await add(user, MODEL_10)
    const [dry, real] = [
      await ann.create('a', { model: MODEL_10, dry_run: true }),
      await ann.create('a', { model: MODEL_10 }),
    ]
    expect([dry.status, dry.json]).toEqual([real.status, real.json])
    expect(dry.json.error.message).toBe('you have the maximum number of waiting tasks')
  })

  test('is refused for what is not the caller’s own, in the words of the task', async () => {
    await using fixture = await openVideoFixture({ database, gateway: { checkCallbackUrl: () => {} } })
    const { ann, bob } = fixture
    const video = await bob.created()
    const url = 'asset://asset-20260101000000-nobody'
    for (const more of [
      { content: [text('a'), { type: 'image_url', image_url: { url } }] },
      { content: [{ type: 'draft_task', draft_task: { id: video } }] },
      { content: 'x' },
      { callback_url: 'ftp://x.example' },
      { priority: 10 },
      { Model: MODEL },
      { model: '' },
    ]) {
      const [dry, real] = [await ann.create('a', { ...more, dry_run: true }), await ann.create('a', more)]
      expect([more, dry.status, dry.json]).toEqual([more, real.status, real.json])
      expect(dry.status).toBeGreaterThanOrEqual(400)
    }
    for (const dry_run of ['true', 1, [], {}]) {
      const reply = await ann.create('a', { dry_run })
      expect([reply.status, reply.json.error.param]).toEqual([400, 'dry_run'])
    }
    expect((await ann.create('a', { Dry_Run: true })).json.error.message).toBe('Dry_Run must be spelled dry_run')
    expect((await ann.send('GET', '')).json.total).toBe(0)
  })
})

test('a dry run says what the vendor’s rules do not allow, and what the request refers to', async () => {
  await using fixture = await openVideoFixture()
  const { ann, emulator } = fixture
  const frame = { type: 'image_url', role: 'first_frame', image_url: { url: 'data:image/png;base64,AAAA' } }
  const content = [text('a'), { type: 'video_url', video_url: { url: 'https://files.example/a.mp4' } }, frame]
  const { status, json } = await ann.create('a', { content, resolution: '8k', dry_run: true })
  expect(status).toBe(200)
  expect(json.references).toEqual([
    { param: 'content[1].video_url', kind: 'address', id: null },
    { param: 'content[2].image_url', kind: 'data', id: null },
  ])
  expect(json.violations.map(({ param }: { param: string }) => param)).toEqual([
    'resolution',
    'content',
    'content[1].role',
  ])
  expect(emulator.video.tasks()).toEqual([])
})

test('a dry run of the OpenAI API names the fields of its request, and sends nothing', async () => {
  await using fixture = await openVideoFixture({ gateway: { modelAliases: { 'sora-2': MODEL } } })
  const { gateway, ann, emulator } = fixture
  const ask = async (query: string, body: object) => {
    const response = await fetch(`${gateway.url}/v1/videos${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ann.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: response.status, json: (await response.json()) as { readonly object?: string } }
  }
  const input_reference = { image_url: 'https://files.example/a.png' }
  const dry = await ask('?dry_run=true', { prompt: 'a', input_reference, seconds: '99' })
  expect(dry).toMatchObject({
    status: 200,
    json: {
      ...{ dry_run: true, model: MODEL },
      references: [{ param: 'input_reference', kind: 'address' }],
      violations: [{ param: 'seconds', message: 'must be -1 or an integer from 4 to 15' }],
    },
  })
  expect(await ask('?dry_run=yes', { prompt: 'a' })).toMatchObject({
    status: 400,
    json: { error: { param: 'dry_run' } },
  })
  expect(emulator.video.tasks()).toEqual([])
  expect((await ask('?dry_run=false', { prompt: 'a' })).json.object).toBe('video')
})
