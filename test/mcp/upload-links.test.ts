import { expect, test } from 'bun:test'
import { folderStorage } from 'sluice/file-storage'
import { createUploadLinks } from '../../plugins/mcp/upload-links.ts'
import { temporaryFolder } from '../file-storage/fixture.ts'
import { VirtualClock } from '../support/virtual-clock.ts'
import { openMcpFixture, png } from './fixture.ts'

const put = (url: string, init: RequestInit = {}) => fetch(url, { method: 'PUT', body: png, ...init })

// biome-ignore lint/suspicious/noExplicitAny: responses of two shapes
const jsonOf = async (response: Response): Promise<any> => response.json()

test('a link takes a file of its user, until it expires', async () => {
  const clock = new VirtualClock()
  await using fixture = await openMcpFixture({ more: { mcp: { clock } } })
  await using ann = await fixture.connect(fixture.ann)
  const { upload_link: link, expires_at } = await ann.call('create_upload_link')
  expect(Date.parse(expires_at)).toBe(clock.now() + 600_000)
  expect(link).not.toContain(fixture.ann.token)
  expect(Buffer.from(link.split('/').at(-1), 'base64url').toString('latin1')).not.toContain(fixture.ann.token)

  const [{ upload }, posted] = [await jsonOf(await put(link)), await put(link, { method: 'POST' })]
  expect([posted.status, upload.content_type]).toEqual([200, 'image/png'])
  const form = new FormData()
  form.append('file', new Blob([png]), 'a.png')
  expect((await put(link, { body: form })).status).toBe(200)
  const rejected = await put(link, { body: 'no picture' })
  expect([rejected.status, (await jsonOf(rejected)).error.message]).toEqual([
    415,
    expect.stringContaining('the file is none of'),
  ])
  expect((await fetch(link)).status).toBe(405)

  await clock.pass(600_000)
  const late = await put(link)
  expect([late.status, await jsonOf(late)]).toEqual([404, expect.objectContaining({ success: false })])
})

test('a link ends with its token, and counts for the quota of its user', async () => {
  await using folder = await temporaryFolder()
  await using fixture = await openMcpFixture({
    more: { files: { storage: folderStorage(folder.path), maxUploads: 1 } },
  })
  await using ann = await fixture.connect(fixture.ann)
  const { upload_link: link } = await ann.call('create_upload_link')
  expect([(await put(link)).status, (await put(link)).status]).toEqual([200, 429])
  const [token] = await fixture.store.listTokens(fixture.ann.id)
  await fixture.store.revokeToken(token?.id ?? '', Date.now())
  while ((await put(link)).status !== 401) await Bun.sleep(20)
})

test('a changed link, and one of other secrets, get the same 404, before the body is read', async () => {
  await using fixture = await openMcpFixture()
  await using ann = await fixture.connect(fixture.ann)
  const { upload_link: link } = await ann.call('create_upload_link')
  const base = link.slice(0, link.lastIndexOf('/') + 1)
  const foreign = createUploadLinks(['another secret of the tests']).create(
    new Headers({ authorization: `Bearer ${fixture.ann.token}` }),
    Date.now() + 60_000,
  )
  // One link of 4,096 ends with AA.
  const changed = link.slice(0, -2) + (link.endsWith('AA') ? 'BA' : 'AA')
  const answers = new Set<string>()
  const endless = () => new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1024)) })
  for (const wrong of [`${link}A`, link.slice(0, -1), changed, base + foreign, `${base}x`, `${base}%00`]) {
    const response = await put(wrong, { body: endless() })
    answers.add(`${response.status} ${await response.text()}`)
  }
  expect([...answers]).toEqual([expect.stringMatching(/^404 .*this upload link is not valid/)])
})

test('links of an earlier secret work until they expire', () => {
  const [first, second] = ['the first secret of the tests', 'the second secret of the tests']
  const link = createUploadLinks([first]).create(new Headers({ 'x-api-key': 'sk-a' }), 100) ?? ''
  expect(createUploadLinks([second, first]).open(link, 99)).toEqual({ 'x-api-key': 'sk-a' })
  expect(createUploadLinks([second, first]).open(link, 100)).toBeUndefined()
  expect(createUploadLinks([second]).open(link, 99)).toBeUndefined()
  expect(createUploadLinks([first]).create(new Headers({ cookie: 'session=a' }), 100)).toBeUndefined()
})
