import { afterAll, describe, expect, test } from 'bun:test'
import { treaty } from '@elysiajs/eden'
import { Elysia } from 'elysia'
import { account } from '../../plugins/account/index.ts'
import { gateway } from '../../plugins/asset-library/index.ts'
import type { AssetGroup } from '../../plugins/asset-library/schema/types.ts'
import { type ChatCompletion, textGeneration } from '../../plugins/text-generation/index.ts'
import { rest } from '../../plugins/upstream-proxy/index.ts'
import { createVideoService, openaiVideos, type Video } from '../../plugins/video-generation/index.ts'
import { startEmulator } from '../../src/emulator/index.ts'
import { openStore } from '../../src/store/index.ts'

const emulator = await startEmulator({ limits: {}, processingMs: 0 })
const store = openStore('sqlite::memory:')
await store.migrate()
const ann = (await store.addUser({ name: 'ann', createdAt: 0 })) ?? ''
afterAll(async () => {
  await emulator.stop()
  await store.close()
})

const identify = () => ({ user: ann })
const secrets = ['a secret of the test suite'] as const
const app = new Elysia()
  .use(gateway({ kind: rest(emulator.rest), store, identify, secrets }))
  .use(textGeneration({ upstreams: [emulator.text], identify }))
  .use(textGeneration({ upstreams: [emulator.text], identify, prefix: '/models/v1' }))
  .use(openaiVideos({ service: createVideoService({ store, upstream: emulator.video }), identify }))
  .use(account({ store, secrets, publicUrl: 'http://localhost' }))
const client = treaty(app, { parseDate: false })

/** Compiles only if the two types are the same. */
const isType = <Expected>() => ({
  of: <Actual>(_: Actual & (Same<Expected, Actual> extends true ? unknown : never)) => {},
})
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

describe('Eden infers', () => {
  const library = client.api.media.proxy.assets

  test('the bodies of the asset library', async () => {
    const created = await library.groups.post({ Name: 'holiday', Description: 'by the sea' })
    if (!created.data) throw created.error
    isType<string>().of(created.data.Result.Id)
    const { data, error } = await library.groups.get({ query: { Name: 'holiday', PageSize: 1 } })
    if (!data) throw error
    isType<readonly AssetGroup[]>().of(data.Result.Items)
    expect(data.Result.Items).toMatchObject([{ Id: created.data.Result.Id, Description: 'by the sea' }])
    const one = await library.groups({ group_id: created.data.Result.Id }).get()
    expect(one.data?.Result.Name).toBe('holiday')
    // @ts-expect-error: a group has no such field
    one.data?.Result.Size
    // @ts-expect-error: a group needs a name
    expect((await library.groups.post({})).status).toBe(400)
    // @ts-expect-error: assets cannot be sorted by name
    expect((await library.get({ query: { SortBy: 'Name' } })).status).toBe(400)
  })

  test('the bodies of videos', async () => {
    const { videos } = client.v1
    const { data, error } = await videos.post({ prompt: 'a cat', model: 'doubao-seedance-2-0-260128', seconds: 5 })
    if (!data) throw error
    isType<string>().of(data.id)
    expect(data.seconds).toBe('5')
    const list = await videos.get({ query: { limit: 1, order: 'asc' } })
    if (!list.data) throw list.error
    isType<readonly Video[]>().of(list.data.data)
    expect(list.data.data.map(({ id }) => id)).toEqual([data.id])
    const one = await videos({ video_id: data.id }).get()
    expect(one.data?.prompt).toBe('a cat')
    // @ts-expect-error: a video needs a prompt
    expect((await videos.post({ model: 'm' })).status).toBe(400)
    // @ts-expect-error: there is no such variant
    expect((await videos({ video_id: data.id }).content.get({ query: { variant: 'spritesheet' } })).status).toBe(400)
  })

  test('the bodies of messages', async () => {
    const messages = [{ role: 'user', content: 'hi' }]
    const { data, error } = await client.v1.messages.post({ model: 'doubao-seed-emulated', max_tokens: 50, messages })
    if (!data || Symbol.asyncIterator in data) throw error
    isType<string | null>().of(data.stop_reason)
    expect(data.content).toMatchObject([{ type: 'text' }])
    // @ts-expect-error: the maximum is required
    const wrong = await client.v1.messages.post({ model: 'doubao-seed-emulated', messages })
    if (wrong.error?.status !== 400 || !('request_id' in wrong.error.value)) throw wrong.error
    expect(wrong.error.value).toMatchObject({ type: 'error', error: { message: 'max_tokens is required' } })
    const counted = await client.v1.messages.count_tokens.post({ model: 'm', messages })
    expect(counted.data?.input_tokens).toBeGreaterThan(0)
  })

  test('the bodies of errors', async () => {
    const { error } = await library({ asset_id: 'asset-of-nobody' }).get()
    if (error?.status !== 403 || !('success' in error.value)) throw error
    expect(error.value).toMatchObject({ error: { type: 'media_proxy_error' } })
  })

  test('completions, and the events of a stream', async () => {
    const request = { model: 'doubao-seed-emulated', messages: [{ role: 'user', content: 'hello' }] }
    const { data } = await client.v1.chat.completions.post(request)
    if (!data || Symbol.asyncIterator in data) throw new Error('a stream')
    isType<ChatCompletion>().of(data)
    const text = data.choices[0]?.message.content ?? ''
    expect(text).not.toBe('')
    const streamed = await client.v1.chat.completions.post({ ...request, stream: true })
    if (!streamed.data || !(Symbol.asyncIterator in streamed.data)) throw new Error('no stream')
    let joined = ''
    let last: unknown
    for await (const { data } of streamed.data) {
      last = data
      if (typeof data === 'object' && 'choices' in data) joined += data.choices[0]?.delta.content ?? ''
    }
    expect([joined, last]).toEqual([text, '[DONE]'])
  })

  test('routes at another prefix', async () => {
    const { data } = await client.models.v1.models.get()
    isType<string | undefined>().of(data?.data[0]?.id)
    expect(data?.object).toBe('list')
  })

  test('the routes of account', async () => {
    const { error } = await client.api.session.get()
    expect(error?.status).toBe(401)
    const { data } = await client.api.usage.get({ query: { since: '2026-01-31' } })
    isType<number | undefined>().of(data?.usage[0]?.input_tokens)
    expect(data).toBeNull()
    // @ts-expect-error: without the option `face` there is no face verification
    client.api.media['face-verifications']
  })
})
