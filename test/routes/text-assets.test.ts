import { describe, expect, test } from 'bun:test'
import { ark } from '../../plugins/upstream-proxy/index.ts'
import type { User } from '../support/gateway.ts'
import { adoptFace, newAsset, newGroup, openFixture, repeatedKinds } from './fixture.ts'

const model = 'doubao-seed-emulated'

const blocks = {
  image: (address: string) => ({ type: 'image_url', image_url: { url: address } }),
  video: (address: string) => ({ type: 'video_url', video_url: { url: address } }),
  frames: (address: string) => ({ type: 'video', video: ['https://files.example/a.png', address] }),
}

const post = async (url: string, user: User, path: string, body: object) => {
  const response = await fetch(`${url}/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${user.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, text }
}

const chatWith = (block: object) => ({
  model,
  messages: [{ role: 'user', content: [{ type: 'text', text: 'what is on asset://it' }, block] }],
})
const responseWith = (address: string) => ({
  model,
  input: [{ role: 'user', content: [{ type: 'input_image', image_url: address, detail: 'auto' }] }],
})

const refused = (param: string) => ({
  status: 403,
  text: JSON.stringify({
    error: { message: 'asset not found in your asset group', type: 'permission_error', param, code: 'asset_not_found' },
  }),
})

describe.each(repeatedKinds)('an asset URL in a text request, with an upstream of kind $kind', ({ kindOf }) => {
  test('passes when the asset is the caller’s, in groups of both types', async () => {
    await using fixture = await openFixture({ kindOf })
    const { ann, url } = fixture
    const own = await newAsset(ann, await newGroup(ann, 'a'))
    const face = await newAsset(ann, await adoptFace(fixture, ann, 'me'), { GroupType: 'LivenessFace' })
    for (const id of [own, face]) {
      for (const block of Object.values(blocks)) {
        fixture.calls()
        const address = `asset://${id}`
        expect([address, await post(url, ann, '/chat/completions', chatWith(block(address)))]).toMatchObject([
          address,
          { status: 200 },
        ])
        const sent = fixture.calls().find(({ action }) => action === 'CreateChatCompletion')
        expect(sent?.body).toContain(address)
      }
      expect(await post(url, ann, '/responses', responseWith(`asset://${id}`))).toMatchObject({ status: 200 })
    }
  })

  test('is rejected with the same error for a foreign and an unknown asset, without a text upstream call', async () => {
    await using fixture = await openFixture({ kindOf })
    const { ann, bob, emulator, url } = fixture
    const foreign = await newAsset(bob, await newGroup(bob, 'a'))
    const nobodys = emulator.library.addAsset({ groupId: emulator.library.addGroup({ name: 'a' }).id }).id
    fixture.calls()
    for (const id of [foreign, nobodys, 'asset-20260101000000-zzzzz']) {
      for (const [kind, block] of Object.entries(blocks)) {
        const param = { image: 'image_url.url', video: 'video_url.url', frames: 'video[1]' }[kind]
        expect([id, await post(url, ann, '/chat/completions', chatWith(block(`asset://${id}`)))]).toEqual([
          id,
          refused(`messages[0].content[1].${param}`),
        ])
      }
      expect(await post(url, ann, '/responses', { ...responseWith(`asset://${id}`), stream: true })).toEqual(
        refused('input[0].content[0].image_url'),
      )
    }
    expect(fixture.calls().filter(({ action }) => action.startsWith('Create'))).toEqual([])
  })

  test('is 400 in any other spelling, for own and foreign assets', async () => {
    await using fixture = await openFixture({ kindOf })
    const { ann, bob, url } = fixture
    const foreign = await newAsset(bob, await newGroup(bob, 'a'))
    const own = await newAsset(ann, await newGroup(ann, 'a'))
    fixture.calls()
    const odd = [`${own}/../${foreign}`, `${own}?x`, `${own}%2f`, '', ' ', `${own}#${foreign}`, `/${own}`]
    const addresses = [
      ...odd.map((id) => `asset://${id}`),
      `ASSET://${foreign}`,
      `asset:${own}`,
      `%61sset://${foreign}`,
    ]
    for (const address of [
      ...addresses,
      `ａsset://${foreign}`,
      `\u0000asset://${foreign}`,
      foreign,
      `file:///${foreign}`,
    ]) {
      for (const block of Object.values(blocks)) {
        expect([address, await post(url, ann, '/chat/completions', chatWith(block(address)))]).toMatchObject([
          address,
          { status: 400 },
        ])
      }
      expect(await post(url, ann, '/responses', responseWith(address))).toMatchObject({ status: 400 })
    }
    expect(fixture.calls()).toEqual([])
  })

  test('is rejected as unknown while the asset upstream is down', async () => {
    await using fixture = await openFixture({ kindOf })
    fixture.emulator.faults.add({ kind: 'status', status: 503, action: 'GetAsset', times: Number.POSITIVE_INFINITY })
    const response = await post(
      fixture.url,
      fixture.ann,
      '/chat/completions',
      chatWith(blocks.image('asset://asset-x')),
    )
    expect(response).toEqual({
      status: 502,
      text: JSON.stringify({
        error: { message: 'asset library unavailable', type: 'server_error', param: null, code: null },
      }),
    })
    expect(fixture.calls().map(({ action }) => action)).not.toContain('CreateChatCompletion')
  })
})

test('without an asset library every asset URL is rejected', async () => {
  await using fixture = await openFixture({ kindOf: ({ ark: settings }) => ark(settings), kind: undefined })
  const response = await post(fixture.url, fixture.ann, '/chat/completions', chatWith(blocks.image('asset://asset-x')))
  expect([response.status, JSON.parse(response.text)]).toMatchObject([
    403,
    { error: { param: 'messages[0].content[1].image_url.url' } },
  ])
  expect(fixture.calls()).toEqual([])
})
