import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { MODEL } from '../video-generation/fixture.ts'
import { type McpClient, type McpFixture, openMcpFixture, png } from './fixture.ts'

describe('what belongs to another user', () => {
  let fixture: McpFixture
  let ann: McpClient
  let bob: McpClient
  let asset: { readonly asset_id: string; readonly group_id: string }
  let video: string

  beforeAll(async () => {
    fixture = await openMcpFixture({ video: { runningMs: 0 }, more: { mcp: { confirmAbove: null } } })
    ann = await fixture.connect(fixture.ann)
    bob = await fixture.connect(fixture.bob)
    asset = (await ann.call('create_asset', { data: png.toBase64(), name: 'secret' })) as never
    video = (await ann.call('create_video', { model: MODEL, prompt: 'a secret' })).video_id
    expect(await ann.call('wait_for_video', { video_id: video })).toMatchObject({ status: 'succeeded' })
  })
  afterAll(async () => {
    await ann[Symbol.asyncDispose]()
    await bob[Symbol.asyncDispose]()
    await fixture[Symbol.asyncDispose]()
  })

  /** A call with an id of ann's, and the same with an id that nobody has. */
  const calls = (): readonly (readonly [name: string, own: object, unknown: object])[] => {
    const none = {
      asset: 'asset-20260101000000-aaaaa',
      group: 'group-20260101000000-00000',
      video: 'cgt-20260101000000-aaaaa',
    }
    const using = (id: string) => ({ model: MODEL, prompt: 'a cat', first_frame: `asset://${id}` })
    const into = (group_id: string) => ({ data: png.toBase64(), group_id })
    return [
      ['get_asset', { asset_id: asset.asset_id }, { asset_id: none.asset }],
      ['get_asset', { asset_id: asset.asset_id, wait_seconds: 5 }, { asset_id: none.asset, wait_seconds: 5 }],
      ['find_assets', { group_id: asset.group_id }, { group_id: none.group }],
      ['create_asset', into(asset.group_id), into(none.group)],
      ['price_video', using(asset.asset_id), using(none.asset)],
      ['create_video', using(asset.asset_id), using(none.asset)],
      ['get_video', { video_id: video }, { video_id: none.video }],
      ['wait_for_video', { video_id: video }, { video_id: none.video }],
    ]
  }

  test('is found by no tool, and has the answer of what does not exist', async () => {
    const created = fixture.emulator.video.tasks().length
    for (const [name, own, unknown] of calls()) {
      const reply = await bob.call(name, own)
      expect([name, reply.isError]).toEqual([name, true])
      expect([name, reply]).toEqual([name, await bob.call(name, unknown)])
    }
    expect(fixture.emulator.video.tasks().length).toBe(created)
  })

  test('is found by its owner', async () => {
    for (const [name, own] of calls()) expect([name, (await ann.call(name, own)).isError]).toEqual([name, false])
  })

  test('is in no list', async () => {
    expect(await bob.call('find_assets')).toEqual({ isError: false, assets: [], total: 0, next_cursor: null })
    expect(await bob.call('list_videos')).toEqual({ isError: false, videos: [], total: 0 })
    expect((await bob.call('find_assets', { name: 'secret' })).total).toBe(0)
  })

  test('a cursor of another user shows nothing of theirs', async () => {
    await ann.call('create_asset', { data: png.toBase64() })
    const { next_cursor } = await ann.call('find_assets', { limit: 1 })
    expect(next_cursor).toBeString()
    expect(await bob.call('find_assets', { limit: 1, cursor: next_cursor })).toMatchObject({ assets: [], total: 0 })
  })
})
