import { describe, expect, test } from 'bun:test'
import { newAsset, newGroup } from '../routes/fixture.ts'
import { MODEL_25, media, openVideoFixture, text, until } from './fixture.ts'

test('an asset must be the caller’s own or a preset, however it is written', async () => {
  await using fixture = await openVideoFixture({ gateway: { presetAssets: ['asset-20250101000000-face1'] } })
  const { ann, bob, emulator } = fixture
  const own = await newAsset(ann, await newGroup(ann, 'people'))
  const image = (url: string) => ({ content: [text('x'), media('image', url, 'reference_image')] })
  expect((await ann.create('x', image(`asset://${own}`))).status).toBe(200)
  expect((await ann.create('x', image('asset://asset-20250101000000-face1'))).status).toBe(200)
  const foreign = await bob.create('x', image(`asset://${own}`))
  expect([foreign.status, foreign.code, foreign.json.error.param]).toEqual([
    403,
    'asset_not_found',
    'content[1].image_url.url',
  ])
  const unknown = await bob.create('x', image('asset://asset-none'))
  expect(unknown.text).toBe(foreign.text)
  const before = emulator.video.tasks().length
  const escaped = [...`asset://${own}`].map((sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
  const body = (item: string) => `{"model":"${MODEL_25}","content":[${item}]}`
  for (const [status, sent] of [
    [403, body(`{"type":"image_url","image_url":{"url":"${escaped}"},"role":"reference_image"}`)],
    [400, body(`{"type":"image_url","image_url":{"url":"Asset://${own}"}}`)],
    [400, body(`{"type":"image_url","image_url":{"url":" asset://${own}"}}`)],
    [403, body(`{"type":"image_url","image_url":{"url":"https://x.example/","url":"asset://${own}"}}`)],
    [403, body(`{"type":"image_url","image_url":{"url":"asset://${own}","url":"https://x.example/"}}`)],
    [403, body(`{"type":"image_url","IMAGE_URL":{"URL":"asset://${own}"}}`)],
    [403, body(`{"type":"new","anything":{"asset://${own}":1}}`)],
    [403, body(`{"type":"new","anything":["asset://${own}"]}`)],
    [403, `{"model":"${MODEL_25}","content":[],"content2":[{"x":"asset:${own}"}]}`],
    [400, `{"model":"${MODEL_25}","content":[],"content":[{"type":"image_url","image_url":{"url":"asset://${own}"}}]}`],
    [400, `{"model":"${MODEL_25}","Content":[{"type":"image_url","image_url":{"url":"https://x.example/"}}]}`],
  ] as const) {
    const reply = await bob.send('POST', '', sent)
    expect([sent, reply.status]).toEqual([sent, status])
  }
  expect(emulator.video.tasks()).toHaveLength(before)
})

test('an asset of a person counts only while the upstream has it', async () => {
  await using fixture = await openVideoFixture()
  const { ann, emulator, store } = fixture
  const { id: group } = emulator.library.addGroup({ name: 'ann’s face', type: 'LivenessFace' })
  const { id: asset } = emulator.library.addAsset({ groupId: group, url: 'https://files.example/a.png', type: 'Image' })
  await store.adoptGroup({ id: group, user: ann.id, type: 'LivenessFace', name: 'Me', createdAt: 1 })
  const content = [text('x'), media('image', `asset://${asset}`, 'reference_image')]
  expect((await ann.create('x', { content })).status).toBe(200)
  expect((await ann.create('x', { content })).status).toBe(200)
  emulator.library.deleteGroup(group)
  const reply = await ann.create('x', { content })
  expect([reply.status, reply.code]).toEqual([403, 'asset_not_found'])
  expect(emulator.video.tasks()).toHaveLength(2)
})

describe('a draft task', () => {
  const draftOf = (id: unknown) => ({ model: MODEL_25, content: [{ type: 'draft_task', draft_task: { id } }] })

  test('is one of the caller’s own; the upstream gets its own id, and the caller never sees that', async () => {
    await using fixture = await openVideoFixture()
    const { ann, bob, emulator } = fixture
    const draft = await ann.created('a draft', { model: MODEL_25, draft: true })
    const early = await ann.create('x', draftOf(draft))
    expect([early.status, early.json.error.param]).toEqual([400, 'content[0].draft_task.id'])
    const upstreamId = emulator.video.tasks()[0]?.id ?? ''
    emulator.video.finish(upstreamId)
    await until(async () => (await ann.statusOf(draft)) === 'succeeded')
    const id = await ann.created('x', { ...draftOf(draft), resolution: '720p' })
    expect(emulator.video.tasks()[1]?.body.content).toEqual([{ type: 'draft_task', draft_task: { id: upstreamId } }])
    await until(async () => (await ann.statusOf(id)) === 'running')
    expect((await ann.get(id)).json.draft_task_id).toBe(draft)
    expect((await ann.get(id)).text).not.toContain(upstreamId)
    // A draft that the upstream has forgotten: the message of its error names the id that the caller has sent.
    emulator.video.advance(8 * 86_400_000)
    const gone = await ann.create('x', draftOf(draft))
    expect([gone.status, gone.text.includes(draft), gone.text.includes(upstreamId)]).toEqual([400, true, false])
    const foreign = await bob.create('x', draftOf(draft))
    expect(foreign.status).toBe(400)
    for (const unknown of ['cgt-20260101000000-00000000000000000000', upstreamId, 'x'])
      expect((await bob.create('x', draftOf(unknown))).text).toBe(foreign.text)
  })

  test('is named in one way only', async () => {
    await using fixture = await openVideoFixture()
    const { ann, emulator } = fixture
    await ann.created('a draft', { model: MODEL_25, draft: true })
    const upstreamId = emulator.video.tasks()[0]?.id ?? ''
    const task = { id: upstreamId }
    for (const body of [
      ...[{ Draft_Task: task }, { draftTask: task }, { 'draft-task': task }, { draft_task_id: upstreamId }].map(
        (item) => ({
          content: [{ type: 'draft_task', ...item }],
        }),
      ),
      { content: [{ type: 'draft_task', draft_task: upstreamId }] },
      { content: [{ type: 'draft_task', draft_task: { ...task, ID: upstreamId } }] },
      { content: [{ type: 'draft_task', draft_task: [task] }] },
      { content: [{ type: 'video', video: { task: upstreamId } }] },
      { content: [text('x')], draft_task: task },
      { content: [text('x')], source: ` ${upstreamId}` },
      { content: [text('x')], sources: [upstreamId.toUpperCase()] },
    ]) {
      const { status } = await ann.send('POST', '', { model: MODEL_25, ...body })
      expect([body, status]).toEqual([body, 400])
    }
    const twice = `{"model":"${MODEL_25}","content":[{"type":"draft_task","draft_task":{"id":"x"},"draft_task":{"id":"${upstreamId}"}}]}`
    expect((await ann.send('POST', '', twice)).status).toBe(400)
    expect((await ann.create(`a cat named ${upstreamId}`)).status).toBe(200)
    expect(emulator.video.tasks()).toHaveLength(2)
  })
})

describe('the fields that the gateway owns', () => {
  test('reach the upstream as the gateway sets them: one identifier for each user, and no priority', async () => {
    await using fixture = await openVideoFixture()
    const { ann, bob, emulator } = fixture
    const fields = { priority: 9, safety_identifier: 'somebody else', execution_expires_after: 7_200 }
    await ann.created('1', fields)
    await ann.created('2')
    await bob.created('3', fields)
    const [one, two, three] = emulator.video.tasks().map(({ body }) => body)
    expect(one?.safety_identifier).toBe(two?.safety_identifier)
    expect(three?.safety_identifier).not.toBe(one?.safety_identifier)
    for (const body of [one, two, three]) {
      expect(body?.safety_identifier).toMatch(/^[0-9a-f]{64}$/)
      expect(JSON.stringify(body)).not.toMatch(new RegExp(`priority|somebody|${ann.id}|${bob.id}`))
    }
    expect(Number(one?.execution_expires_after)).toBeLessThan(7_201)
    expect(Number(one?.execution_expires_after)).toBeGreaterThan(3_599)
  })

  test('a priority is lowered to what the operator allows', async () => {
    await using fixture = await openVideoFixture({ gateway: { maxPriority: 3 } })
    for (const priority of [0, 2, 9]) await fixture.ann.created('x', { priority })
    expect(fixture.emulator.video.tasks().map(({ body }) => body.priority)).toEqual([undefined, 2, 3])
  })

  test('are rejected when they are wrong, stand twice, or are spelled in another way', async () => {
    await using fixture = await openVideoFixture()
    const { ann, emulator } = fixture
    for (const [name, value] of [
      ...[-1, 10, 1.5, '1', true].map((value) => ['priority', value] as const),
      ...[3_599, 259_201, '7200'].map((value) => ['execution_expires_after', value] as const),
      ...[1, 'x'.repeat(65), 'a\0b'].map((value) => ['safety_identifier', value] as const),
      ...['x', 'ftp://x.example/', 1].map((value) => ['callback_url', value] as const),
      ['service_tier', 'fast'],
      ['model', ''],
      ['model', 'm'.repeat(257)],
      ...[
        'Priority',
        'PRIORITY',
        'prioritY',
        'safetyIdentifier',
        'ſafety_identifier',
        'callbackUrl',
        'Callback-URL',
      ].map((name) => [name, 1] as const),
    ] as const) {
      const { status, json } = await ann.create('x', { [name]: value })
      expect([name, value, status, json.error.param]).toEqual([name, value, 400, name])
    }
    const twice = JSON.stringify({ model: MODEL_25, content: [text('x')] }).replace(
      '}]}',
      '}],"priority":0,"priority":9}',
    )
    expect((await ann.send('POST', '', twice)).status).toBe(400)
    expect(emulator.video.tasks()).toEqual([])
  })
})
