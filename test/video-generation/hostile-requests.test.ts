import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { newAsset, newGroup } from '../routes/fixture.ts'
import { MODEL, MODEL_25, openVideoFixture, text, until, type VideoFixture, type VideoReply } from './fixture.ts'

/** Creates in the upstream, since the last call of this function. */
const sent = ({ emulator }: VideoFixture) => {
  const creates = emulator.calls.filter(({ action, path }) => action === 'CreateVideoTask' || /tasks$/.test(path ?? ''))
  emulator.clearCalls()
  return creates.filter(({ method }) => method === 'POST')
}

const body = (content: unknown, more: object = {}) => ({ model: MODEL, content, ...more })
const picture = (url: unknown) => ({ type: 'image_url', image_url: { url }, role: 'reference_image' })

describe('a hostile request', () => {
  let fixture: VideoFixture
  let own = ''
  let foreign = ''
  let ownDraft = ''
  let foreignDraft = ''
  let upstreamDraft = ''
  beforeAll(async () => {
    fixture = await openVideoFixture({ gateway: { presetAssets: ['asset-preset'] } })
    const { ann, bob, emulator } = fixture
    const { id } = emulator.library.addGroup({ name: 'presets' })
    emulator.library.addAsset({ id: 'asset-preset', groupId: id })
    own = await newAsset(ann, await newGroup(ann, 'a'))
    foreign = await newAsset(bob, await newGroup(bob, 'b'))
    const draftOf = async (user: typeof ann) => {
      const id = await user.created('a draft', { model: MODEL_25, draft: true })
      const upstream = emulator.video.tasks().at(-1)?.id ?? ''
      emulator.video.finish(upstream)
      await until(async () => (await user.statusOf(id)) === 'succeeded')
      return [id, upstream] as const
    }
    ;[ownDraft, upstreamDraft] = await draftOf(ann)
    ;[foreignDraft] = await draftOf(bob)
    sent(fixture)
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const rejected = async (request: unknown, statuses: readonly number[]): Promise<VideoReply> => {
    const reply = await fixture.ann.send('POST', '', request)
    const name = JSON.stringify(request).slice(0, 300)
    expect([name, statuses.includes(reply.status), sent(fixture).length]).toEqual([name, true, 0])
    return reply
  }

  test('differs from one with own and preset assets, and with an own draft, which pass', async () => {
    for (const id of [own, 'asset-preset'])
      expect((await fixture.ann.send('POST', '', body([text('a'), picture(`asset://${id}`)]))).status).toBe(200)
    const draft = body([{ type: 'draft_task', draft_task: { id: ownDraft } }], { model: MODEL_25 })
    const reply = await fixture.ann.send('POST', '', draft)
    expect(reply.status).toBe(200)
    const [, , call] = sent(fixture)
    expect(call?.body).toContain(upstreamDraft)
    expect(call?.body).not.toContain(ownDraft)
  })

  test('with an asset of another user reaches no upstream, in any disguise', async () => {
    const addresses = [
      `asset://${foreign}`,
      `ASSET://${foreign}`,
      ` asset://${foreign}`,
      `\u0000asset://${foreign}`,
      `a\tsset://${foreign}`,
      `asset:${foreign}`,
      `asset:/${foreign}`,
      `asset:///${foreign}`,
      `asset://${foreign}?`,
      `asset://${foreign}#a`,
      `asset://${own}/../${foreign}`,
      `asset://${own}?id=${foreign}`,
      `asset://${own},asset://${foreign}`,
      `asset://${own} asset://${foreign}`,
      `asset://user@${foreign}`,
      `asset://%61${foreign.slice(1)}`,
      `"asset://${foreign}"`,
      `ａsset://${foreign}`,
    ]
    for (const address of addresses) {
      await rejected(body([text('a'), picture(address)]), [400, 403])
      await rejected(body([{ type: 'video_url', video_url: { url: address } }]), [400, 403])
      await rejected(body([{ type: 'audio_url', audio_url: { url: address } }]), [400, 403])
      await rejected(body([{ type: 'image_url', image_url: address }]), [400, 403])
      await rejected(body([{ type: 'text', text: 'a', image_url: { url: address } }]), [400, 403])
    }
    const address = `asset://${foreign}`
    const places: unknown[] = [
      body([text('a')], { image: address }),
      body([text('a')], { first_frame: { url: address } }),
      body([text('a')], { references: [[address]] }),
      body([text('a')], { extra: { deep: [{ x: address }] } }),
      body([text('a')], { [address]: 1 }),
      body([{ type: 'image_url', text: address }]),
      body([{ type: 'image_url', image_url: [{ url: address }] }]),
      body({ type: 'image_url', image_url: { url: address } }),
      body(address),
      `{"model":"${MODEL}","content":[{"type":"image_url","image_url":{"url":"\\u0061sset:\\/\\/${foreign}"}}]}`,
      `{"model":"${MODEL}","content":[{"type":"image_url","\\u0069mage_url":{"url":"asset://${own}"},"image_url":{"url":"asset://${foreign}"}}]}`,
      `{"model":"${MODEL}","content":[{"type":"image_url","image_url":{"url":"asset://${own}","url":"asset://${foreign}"}}]}`,
      `{"model":"${MODEL}","content":[{"type":"text","text":"a"}],"content":[{"type":"image_url","image_url":{"url":"asset://${foreign}"}}]}`,
      `{"model":"${MODEL}","content":[{"type":"text","text":"a"}],"Content":[{"type":"image_url","image_url":{"url":"asset://${foreign}"}}]}`,
    ]
    for (const request of places) await rejected(request, [400, 403])
  })

  test('with a draft of another user, or an id of the upstream, reaches no upstream, in any disguise', async () => {
    const draft = (id: unknown) => ({ type: 'draft_task', draft_task: { id } })
    for (const hidden of [foreignDraft, upstreamDraft]) {
      const unicode = hidden.replace('c', '\\u0063')
      const requests: unknown[] = [
        body([draft(hidden)]),
        body([draft([hidden])]),
        body([draft({ id: hidden })]),
        body([draft(` ${hidden}`)]),
        body([draft(`${hidden}\u0000`)]),
        body([draft(hidden.toUpperCase())]),
        body([draft(ownDraft), draft(hidden)]),
        body([{ type: 'draft_task', draft_task: hidden }]),
        body([{ type: 'draft_task', draft_task: { id: ownDraft, ID: hidden } }]),
        body([{ type: 'draft_task', draft_task: { id: ownDraft, task_id: hidden } }]),
        body([{ type: 'draft_task', draft_task: [{ id: hidden }] }]),
        body([{ type: 'draft_task', Draft_Task: { id: hidden } }]),
        body([{ type: 'draft_task', 'draft-task': { id: hidden } }]),
        body([{ type: 'draft_task', ｄraft_task: { id: hidden } }]),
        body([{ type: 'draft_task', draft_task: { id: ownDraft }, draft_task_id: hidden }]),
        body([{ type: 'text', text: { draft_task: { id: hidden } } }]),
        body([{ type: 'text', text: 'a', nested: { draft_task: { id: hidden } } }]),
        body([text('a')], { draft_task_id: hidden }),
        body([text('a')], { draft_task: { id: hidden } }),
        body([text('a')], { task: hidden }),
        body([text('a')], { deep: [[{ x: [` ${hidden}`] }]] }),
        `{"model":"${MODEL}","content":[{"type":"draft_task","draft_task":{"id":"${ownDraft}"},"draft_task":{"id":"${hidden}"}}]}`,
        `{"model":"${MODEL}","content":[{"type":"draft_task","draft_task":{"id":"${ownDraft}","id":"${hidden}"}}]}`,
        `{"model":"${MODEL}","content":[{"type":"draft_task","draft_task":{"id":"${unicode}"}}]}`,
        `{"model":"${MODEL}","content":[{"type":"draft_task","dr\\u0061ft_task":{"id":"${hidden}"}}]}`,
      ]
      for (const request of requests) await rejected(request, [400])
    }
    // A foreign draft and one that does not exist get the same response.
    const foreignReply = await rejected(body([draft(foreignDraft)]), [400])
    const unknown = await rejected(body([draft(`${foreignDraft.slice(0, -1)}0`)]), [400])
    expect(unknown.text).toBe(foreignReply.text)
  })

  test('with a field of the gateway in another spelling or twice is rejected; in the right one it has no effect upstream', async () => {
    for (const name of ['priority', 'safety_identifier', 'callback_url', 'execution_expires_after', 'service_tier']) {
      const value = { priority: 9, execution_expires_after: 3_600 }[name] ?? 'default'
      const spellings = [
        name.toUpperCase(),
        name[0]?.toUpperCase() + name.slice(1),
        `${name} `,
        ` ${name}`,
        name.replaceAll('_', '-'),
        name.replace(/_(.)/g, (_, letter) => letter.toUpperCase()),
        name.replace('r', 'ｒ'),
        `${name}\u200b`,
        name.replace(/i|e/, (letter) => (letter === 'i' ? 'İ' : 'ｅ')),
      ]
      for (const spelling of new Set(spellings))
        if (spelling !== name) await rejected(body([text('a')], { [spelling]: value }), [400])
      const twice = `{"model":"${MODEL}","content":[{"type":"text","text":"a"}],"${name}":${JSON.stringify(value)},"${name}":${JSON.stringify(value)}}`
      await rejected(twice, [400])
      const escaped = `{"model":"${MODEL}","content":[{"type":"text","text":"a"}],"${name}":${JSON.stringify(value)},"\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}":${JSON.stringify(value)}}`
      await rejected(escaped, [400])
    }
    const given = { priority: 9, safety_identifier: 'bob', callback_url: 'https://caller.example/hook' }
    const reply = await fixture.ann.send('POST', '', body([text('a --rs 480p --priority 9')], given))
    expect([200, 400]).toContain(reply.status)
    if (reply.status === 200) {
      const upstream = fixture.emulator.video.tasks().at(-1)?.body
      expect(upstream).toMatchObject({ safety_identifier: expect.stringMatching(/^[0-9a-f]{64}$/) })
      expect(JSON.stringify(upstream)).not.toContain('caller.example')
      expect(upstream?.priority).toBeUndefined()
    }
    sent(fixture)
    // Legacy parameters of a prompt pass, as they came.
    expect((await fixture.ann.send('POST', '', body([text('a --rs 480p --rt 16:9 --callback_url x')]))).status).toBe(
      200,
    )
    expect(sent(fixture)[0]?.body).toContain('"a --rs 480p --rt 16:9 --callback_url x"')
  })

  test('with many values or keys is 400', async () => {
    const members = (count: number, key: (index: number) => string) =>
      `{"model":"${MODEL}","content":[{"type":"text","text":"a"}],${Array.from({ length: count }, (_, index) => `"${key(index)}":1`)}}`
    for (const request of [
      members(20_000, (index) => `k${index}`),
      members(5_000, (index) => `${'ﷺ'.repeat(50)}${index}`),
      JSON.stringify(body(Array.from({ length: 20_000 }, () => text('a')))),
      `{"model":"${MODEL}","content":${'['.repeat(65)}${']'.repeat(65)}}`,
    ])
      await rejected(request, [400])
  })
})
