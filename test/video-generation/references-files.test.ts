import { afterEach, describe, expect, test } from 'bun:test'
import { createHash, randomBytes } from 'node:crypto'
import { folderStorage } from 'sluice/file-storage'
import { pictureDigest } from '../../plugins/asset-library/pictures/digest.ts'
import { temporaryFolder } from '../file-storage/fixture.ts'
import { media, openVideoFixture, text, until, type VideoFixture } from './fixture.ts'

const code = 'InputImageSensitiveContentDetected.PrivacyInformation'
/** A PNG, for its first bytes, that shows a person, for the emulator. */
const bytes = (name: string) => new TextEncoder().encode(`real-face ${name}`)
const png = (name: string) => Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), bytes(name)])
const dataUrl = (name: string) => `data:image/png;base64,${png(name).toString('base64')}`

let open: AsyncDisposable[] = []
afterEach(async () => {
  for (const each of open.reverse()) await each[Symbol.asyncDispose]()
  open = []
})

const openWithStorage = async (): Promise<VideoFixture> => {
  const folder = await temporaryFolder()
  const fixture = await openVideoFixture({ more: { files: { storage: folderStorage(folder.path) } } })
  open = [folder, fixture]
  return fixture
}

const createVideo = async ({ gateway, ann }: VideoFixture, body: FormData | object, query = '') => {
  const response = await fetch(`${gateway.url}/v1/videos${query}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${ann.token}`,
      ...(!(body instanceof FormData) && { 'content-type': 'application/json' }),
    },
    body: body instanceof FormData ? body : JSON.stringify(body),
  })
  const json = (await response.json()) as { readonly id: string; readonly error: { readonly message: string } }
  return { status: response.status, json }
}

const formOf = (fields: Record<string, string | Blob>) => {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  return form
}

const model = 'doubao-seedance-2-0-260128'

describe('references: auto with a picture in the request', () => {
  test('makes one asset of the same bytes, in either API, from the gateway’s own copy', async () => {
    const fixture = await openWithStorage()
    const { ann, emulator } = fixture
    const picture = media('image', dataUrl('ann'), 'reference_image')
    const id = await ann.created('a', { references: 'auto', content: [text('a'), picture] })
    await until(async () => (await ann.statusOf(id)) === 'running')
    const input_reference = new File([png('ann')], 'ann.png', { type: 'image/png' })
    const form = formOf({ model, prompt: 'b', references: 'auto', input_reference })
    const video = await createVideo(fixture, form)
    expect(video).toMatchObject({ status: 200, json: { status: 'queued' } })
    await until(async () => (await ann.statusOf(video.json.id)) === 'running')
    const json = { model, prompt: 'c', references: 'auto', input_reference: { image_url: dataUrl('ann') } }
    const third = await createVideo(fixture, json)
    await until(async () => (await ann.statusOf(third.json.id)) === 'running')
    const [asset, ...more] = emulator.library.assets()
    expect(more).toEqual([])
    expect(asset?.url).toStartWith(`${fixture.gateway.url}/api/files/results/picture-`)
    // The upstream could read it, without a credential.
    expect(Buffer.from(await (await fetch(asset?.url ?? '')).arrayBuffer())).toEqual(png('ann'))
    expect(emulator.video.tasks().map(({ body }) => JSON.stringify(body))).toEqual(
      Array(3).fill(expect.stringContaining(`"asset://${asset?.id}"`)),
    )
    // Its price is asked for with the same fields, and nothing is made.
    expect(await createVideo(fixture, json, '?dry_run=true')).toMatchObject({ status: 200, json: { dry_run: true } })
  })

  test('also takes a picture whose request the store keeps in pieces', async () => {
    const fixture = await openWithStorage()
    const { ann, emulator } = fixture
    const large = Buffer.concat([png('large'), randomBytes(400_000)])
    const url = `data:image/png;base64,${large.toString('base64')}`
    const content = [text('a'), media('image', url, 'reference_image')]
    const id = await ann.created('a', { references: 'auto', content })
    await until(async () => (await ann.statusOf(id)) === 'running')
    const [asset] = emulator.library.assets()
    expect(Buffer.from(await (await fetch(asset?.url ?? '')).arrayBuffer())).toEqual(large)
    expect(JSON.stringify(emulator.video.tasks()[0]?.body).length).toBeLessThan(1_000)
  })

  test('knows a picture of any length by its bytes, wherever the steps in which they are read end', async () => {
    for (const length of [0, 1, 2, 3, 196_607, 196_608, 196_609, 1_000_000]) {
      const bytes = randomBytes(length)
      const url = `data:image/png;base64,${bytes.toString('base64')}`
      expect(await pictureDigest(url, undefined, undefined)).toBe(createHash('sha256').update(bytes).digest('hex'))
    }
  })

  test('is a failure of /v1/videos with the vendor’s code and advice, when the asset fails', async () => {
    const fixture = await openWithStorage()
    const { ann, emulator, gateway } = fixture
    const image_url = 'https://files.example/real-face/fail-FaceMismatch/a.png'
    const video = await createVideo(fixture, { model, prompt: 'a', references: 'auto', input_reference: { image_url } })
    await until(async () => (await ann.statusOf(video.json.id)) === 'failed')
    const headers = { authorization: `Bearer ${ann.token}` }
    const shown = await fetch(`${gateway.url}/v1/videos/${video.json.id}`, { headers })
    expect(await shown.json()).toMatchObject({
      error: { code: 'FaceMismatch', advice: { change: 'other_picture' } },
    })
    expect(emulator.video.tasks()).toEqual([])
    for (const references of ['all', 'AUTO'])
      expect(await createVideo(fixture, { model, prompt: 'a', references })).toMatchObject({
        status: 400,
        json: { error: { param: 'references' } },
      })
  })

  test('is refused as without it where no storage can give it an address', async () => {
    await using fixture = await openVideoFixture()
    const { ann, emulator } = fixture
    const picture = media('image', dataUrl('ann'), 'reference_image')
    expect(await ann.create('a', { references: 'auto', content: [text('a'), picture] })).toMatchObject({
      status: 400,
      code,
    })
    expect(emulator.library.groups()).toEqual([])
    expect((await ann.send('GET', '')).json.total).toBe(0)
  })
})
