import { expect, test } from 'bun:test'
import { createByteDance } from '@ai-sdk/bytedance'
import { APICallError, experimental_generateVideo as generateVideo, experimental_startVideo as startVideo } from 'ai'
import { openFaceFixture } from '../consents/fixture.ts'
import { newAsset, newGroup } from '../routes/fixture.ts'
import { MODEL, openVideoFixture, tasksPath, type VideoFixture, type VideoUser } from '../video-generation/fixture.ts'

const open = () => openVideoFixture({ video: { runningMs: 30 } })

/** The library refuses addresses without a host name, which the links of the emulated upstream have. */
const download = async ({ url }: { readonly url: URL }) => {
  const response = await fetch(url)
  return { data: await response.bytes(), mediaType: response.headers.get('content-type') ?? undefined }
}

/** A `fetch` that loses the first `losses` responses to POST, and the keys of all POSTs. */
const losing = (losses: number) => {
  const keys: (string | null)[] = []
  const lossy = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const response = await fetch(input, init)
    if (init?.method !== 'POST') return response
    keys.push(new Headers(init.headers).get('idempotency-key'))
    return keys.length <= losses ? new Response('lost', { status: 502 }) : response
  }
  return { fetch: Object.assign(lossy, { preconnect: fetch.preconnect }), keys }
}

const providerOf = ({ gateway }: VideoFixture, { token }: VideoUser, more: object = {}) =>
  createByteDance({ baseURL: `${gateway.url}/api/v3`, apiKey: token, ...more })

const fast = { bytedance: { pollIntervalMs: 10, pollTimeoutMs: 20_000 } }

test('@ai-sdk/bytedance makes a video of an own asset', async () => {
  await using fixture = await open()
  const { ann } = fixture
  const asset = await newAsset(ann, await newGroup(ann, 'people'))
  const { video } = await generateVideo({
    model: providerOf(fixture, ann).video(MODEL),
    prompt: 'she waves',
    providerOptions: { bytedance: { ...fast.bytedance, referenceImages: [`asset://${asset}`] } },
    download,
  })
  expect(video.mediaType).toBe('video/mp4')
  expect(new TextDecoder().decode(video.uint8Array.subarray(4, 8))).toBe('ftyp')
  expect(JSON.stringify(fixture.emulator.video.tasks()[0]?.body)).toContain(`asset://${asset}`)
})

/** Makes a video of an asset with the library. */
const videoOf = (asset: string, fixture: VideoFixture, user: VideoUser) =>
  generateVideo({
    model: providerOf(fixture, user).video(MODEL),
    prompt: 'she waves',
    providerOptions: { bytedance: { ...fast.bytedance, referenceImages: [`asset://${asset}`] } },
    download,
  })

test('@ai-sdk/bytedance makes a video of a lent asset, until the share is revoked', async () => {
  await using fixture = await open()
  const { ann, bob, emulator } = fixture
  const group = await newGroup(ann, 'people')
  const asset = await newAsset(ann, group)
  const foreign = { statusCode: 403, message: expect.stringContaining('asset not found') }
  await expect(videoOf(asset, fixture, bob)).rejects.toMatchObject(foreign)
  const { json } = await ann.ask('POST', `/assets/groups/${group}/shares`, { User: bob.id, Access: 'use' })
  expect((await videoOf(asset, fixture, bob)).video.mediaType).toBe('video/mp4')
  expect((await ann.ask('DELETE', `/assets/groups/${group}/shares/${json.Result.Id}`)).status).toBe(200)
  await expect(videoOf(asset, fixture, bob)).rejects.toMatchObject(foreign)
  expect(emulator.video.tasks()).toHaveLength(1)
})

test('@ai-sdk/bytedance makes a video of a person, until the consent is withdrawn', async () => {
  await using face = await openFaceFixture({ video: { runningMs: 30 } })
  const { fixture, asset } = face
  const { ann, bob, emulator } = fixture
  for (const user of [ann, bob]) expect((await videoOf(asset, fixture, user)).video.mediaType).toBe('video/mp4')
  expect((await face.withdraw()).status).toBe(200)
  for (const user of [ann, bob]) await expect(videoOf(asset, fixture, user)).rejects.toMatchObject({ statusCode: 403 })
  expect(emulator.video.tasks()).toHaveLength(2)
})

test('@ai-sdk/bytedance that repeats a generation with a key creates one task', async () => {
  await using fixture = await open()
  const { fetch, keys } = losing(1)
  await generateVideo({
    model: providerOf(fixture, fixture.ann, { fetch }).video(MODEL),
    prompt: 'a cat',
    headers: { 'idempotency-key': 'my-key' },
    providerOptions: fast,
    download,
  })
  expect(keys).toEqual(['my-key', 'my-key'])
  expect(fixture.emulator.video.tasks()).toHaveLength(1)
}, 300_000)

test('ai sends one key for a start and its repetitions: each start creates one task', async () => {
  await using fixture = await open()
  const { ann, gateway, emulator } = fixture
  const lossy = losing(1)
  /** A model that starts a task, as a provider of this version does. */
  const model: Exclude<Parameters<typeof startVideo>[0]['model'], string> = {
    ...{ specificationVersion: 'v4', provider: 'test', modelId: MODEL, maxVideosPerCall: 1 },
    async doStart({ prompt, headers = {} }) {
      const response = await lossy.fetch(gateway.url + tasksPath, {
        method: 'POST',
        headers: { ...(headers as Record<string, string>), authorization: `Bearer ${ann.token}` },
        body: JSON.stringify({ model: MODEL, content: [{ type: 'text', text: prompt }] }),
      })
      if (!response.ok)
        throw new APICallError({ message: 'lost', url: '', requestBodyValues: {}, statusCode: response.status })
      const { id } = (await response.json()) as { id: string }
      return { operation: id, warnings: [], response: { timestamp: new Date(), modelId: MODEL, headers: undefined } }
    },
    doStatus: async () => {
      throw new Error('the test asks for no status')
    },
  }
  const first = await startVideo({ model, prompt: 'a cat' })
  const second = await startVideo({ model, prompt: 'a cat' })
  expect(first.operation).not.toEqual(second.operation)
  const [key] = lossy.keys
  expect(key).toMatch(/^aisdk_vid_/)
  expect(lossy.keys).toEqual([key ?? '', key ?? '', expect.not.stringContaining(String(key))])
  expect(emulator.video.tasks()).toHaveLength(2)
  const { items } = (await ann.send('GET', '')).json
  expect(items.map(({ id }: { id: string }) => id).sort()).toEqual([first.operation, second.operation].sort())
}, 300_000)
