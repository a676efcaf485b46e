import { expect, test } from 'bun:test'
import { newAsset, newGroup, openFixture } from './fixture.ts'

const image = (url: string) => ({ type: 'image', source: { type: 'url', url } })

/** Everywhere that a Messages request can have the address of an image. */
const requests: Readonly<Record<string, (url: string) => object>> = {
  'a message': (url) => ({ messages: [{ role: 'user', content: [{ type: 'text', text: 'asset://x' }, image(url)] }] }),
  'a document': (url) => ({
    messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'content', content: [image(url)] } }] }],
  }),
  'the result of a tool': (url) => ({
    messages: [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'c', name: 'f', input: { url: 'asset://x', file_id: 'f' } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: [image(url)] }] },
    ],
  }),
}

const openMessages = async () => {
  const fixture = await openFixture()
  const { ann, bob, url } = fixture
  return {
    fixture,
    own: await newAsset(ann, await newGroup(ann, 'a')),
    foreign: await newAsset(bob, await newGroup(bob, 'a')),
    async post(request: object) {
      fixture.calls()
      const response = await fetch(`${url}/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': ann.token, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'doubao-seed-emulated', max_tokens: 50, ...request }),
      })
      const { status } = response
      const sent = fixture.calls().find(({ action }) => action === 'CreateChatCompletion')
      const text = (await response.text()).replace(/"request_id":"[^"]+"/, '"request_id":null')
      return { status, text, sent: sent?.body }
    },
  }
}

test('the caller’s own assets pass, wherever a Messages request has them', async () => {
  const { fixture, own, post } = await openMessages()
  await using _ = fixture
  for (const [where, request] of Object.entries(requests)) {
    const { status, sent } = await post(request(`asset://${own}`))
    expect([where, status]).toEqual([where, 200])
    expect(sent).toContain(`{"url":"asset://${own}"}`)
  }
})

test('foreign and unknown assets are rejected with the same error, and nothing is sent', async () => {
  const { fixture, foreign, post } = await openMessages()
  await using _ = fixture
  const message = 'asset not found in your asset group'
  const details = { error_code: 'asset_not_found' }
  const body = { type: 'error', error: { type: 'permission_error', message, details }, request_id: null }
  for (const id of [foreign, 'asset-20260101000000-zzzzz']) {
    for (const [where, request] of Object.entries(requests)) {
      const reply = await post(request(`asset://${id}`))
      expect([where, reply]).toEqual([where, { status: 403, text: JSON.stringify(body), sent: undefined }])
    }
  }
})

test('other spellings are 400', async () => {
  const { fixture, own, foreign, post } = await openMessages()
  await using _ = fixture
  const spellings = [
    `asset://${own}/../${foreign}`,
    `ASSET://${foreign}`,
    `asset:${foreign}`,
    `ａsset://${foreign}`,
    foreign,
  ]
  for (const address of spellings) {
    for (const [where, request] of Object.entries(requests)) {
      const { status, sent } = await post(request(address))
      expect([where, address, status, sent]).toEqual([where, address, 400, undefined])
    }
  }
})
