/** Runs with `--all`: client libraries and curl with batches of assets, and with a library that is larger than its slots, before the default server in a process, which is killed in the middle of a batch. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createByteDance } from '@ai-sdk/bytedance'
import Anthropic from '@anthropic-ai/sdk'
import { experimental_generateVideo as generateVideo } from 'ai'
import OpenAI from 'openai'
import { drawPng } from '../../src/demo/picture.ts'
import { connectMcp, eras } from '../mcp/fixture.ts'
import { findProgram, run } from '../operating/fixture.ts'
import { freePort } from '../support/free-port.ts'
import { describeIf } from '../support/run-if.ts'
import type { ServerProcess } from '../support/server.ts'
import { openServerFixture, type ServerFixture } from '../support/server-fixture.ts'
import { until } from '../support/until.ts'
import { MODEL } from '../video-generation/fixture.ts'
import { thrown } from './fixture.ts'

const slots = 4
const library = '/api/media/proxy'

let fixture: ServerFixture
let server: ServerProcess
let files: Server
let folder: string
let start: () => Promise<ServerProcess>
let ann: Person
let bob: Person

interface Person {
  readonly id: string
  readonly token: string
}

// biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
type Reply = { readonly Result: any; readonly error?: object }

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-slots-'))
  const png = drawPng(() => [38, 118, 158])
  files = createServer(({ url = '' }, response) => {
    response.writeHead(url.includes('missing') ? 404 : 200, { 'content-type': 'image/png' }).end(png)
  })
  await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve))
  fixture = await openServerFixture('sqlite', { video: { queuedMs: 0, runningMs: 50 } })
  const { text, video } = fixture.emulator
  const port = String(await freePort())
  start = () =>
    fixture.start({
      ...{ PORT: port, MEDIA_ASSET_SLOTS: String(slots), WEBHOOK_NETWORKS: '127.0.0.1', MEDIA_UPSTREAM_LIMITS: '{}' },
      // Calls of a killed process are settled after some seconds.
      ...{ MEDIA_UPSTREAM_TIMEOUT_SECONDS: '1', UPSTREAM_QUEUE_SECONDS: '1' },
      ...{ TEXT_UPSTREAM_URL: text.url, TEXT_UPSTREAM_KEY: text.key },
      ...{ VIDEO_UPSTREAM_URL: video.url, VIDEO_UPSTREAM_KEY: video.key, VIDEO_POLL_SECONDS: '1' },
      ...{ VIDEO_MODEL_ALIASES: JSON.stringify({ 'sora-2': MODEL }), MCP_CONFIRM_ABOVE: 'off' },
    })
  server = await start()
  ann = await fixture.addUser('ann')
  bob = await fixture.addUser('bob')
}, 300_000)
afterAll(async () => {
  await fixture[Symbol.asyncDispose]()
  files.closeAllConnections()
  files.close()
  await rm(folder, { recursive: true, force: true })
})

const addressOf = (path: string) => `http://127.0.0.1:${(files.address() as AddressInfo).port}/${path}.png`
const lineOf = (name: string, path = name.replaceAll(' ', '-')) =>
  JSON.stringify({ URL: addressOf(path), AssetType: 'Image', Name: name })
const openaiOf = ({ token }: Person, base: string) =>
  new OpenAI({ baseURL: server.url + base, apiKey: token, maxRetries: 0 })

const newGroup = async (person: Person, Name: string): Promise<string> =>
  (await openaiOf(person, library).post<Reply>('/assets/groups', { body: { Name } })).Result.Id

/** So that the next test does not wait until the upstream has processed its assets. */
const removeGroup = (group: string) => openaiOf(ann, library).delete(`/assets/groups/${group}`)

/** All assets of a group, walked by token. */
const assetsOf = async (person: Person, group: string) => {
  const found: { readonly Id: string; readonly Name: string }[] = []
  for (let NextToken = ''; ; ) {
    const given = { GroupIds: group, SortOrder: 'Asc', MaxResults: 7, NextToken }
    const { Result } = await openaiOf(person, library).get<Reply>('/assets', { query: given })
    found.push(...Result.Items)
    NextToken = Result.NextToken
    if (NextToken !== '') continue
    expect(Result.TotalCount).toBe(found.length)
    return found
  }
}

const atUpstream = (id: string) => fixture.emulator.library.assets().some(({ name }) => name.startsWith(id))

/** Assets of a group that have lost their slots. */
const evictedOf = async (person: Person, group: string): Promise<readonly string[]> => {
  const query = { GroupIds: group, Statuses: 'Processing', PageSize: 1 }
  await until(async () => (await openaiOf(person, library).get<Reply>('/assets', { query })).Result.TotalCount === 0)
  return (await assetsOf(person, group)).flatMap(({ Id }) => (atUpstream(Id) ? [] : [Id]))
}

const newBatch = async (person: Person, group: string, lines: readonly string[]): Promise<string> => {
  const headers = { 'content-type': 'application/x-ndjson' }
  const sent = { query: { GroupId: group }, body: lines.join('\n'), headers }
  return (await openaiOf(person, library).post<Reply>('/assets/batches', sent)).Result.Id
}

const ended = (person: Person, id: string) =>
  until(async () => {
    const { Result } = await openaiOf(person, library).get<Reply>(`/assets/batches/${id}`)
    return Result.State === 'Ended'
  })

const curl = findProgram('curl')
describeIf(curl !== undefined, 'curl is not installed')('curl', () => {
  const ask = async (...args: readonly string[]): Promise<Reply> => {
    const headers = ['-H', `Authorization: Bearer ${ann.token}`]
    const { output } = await run(['curl', '-sS', '--retry', '20', '--retry-connrefused', ...headers, ...args])
    return JSON.parse(output)
  }

  test('sends 60 lines, one with a bad address, and finds each asset once after the server was killed', async () => {
    const group = await newGroup(ann, 'lines')
    const names = Array.from({ length: 60 }, (_, nth) => `line ${String(nth).padStart(2, '0')}`)
    const file = join(folder, 'lines.ndjson')
    await writeFile(file, `\ufeff${names.map((name, nth) => lineOf(name, nth === 30 ? 'missing' : 'a')).join('\r\n')}`)
    const batches = `${server.url}${library}/assets/batches`
    const type = 'Content-Type: application/x-ndjson'
    const created = await ask('-H', type, '--data-binary', `@${file}`, `${batches}?GroupId=${group}`)
    const batch = `${batches}/${created.Result.Id}`
    expect([created.Result.TotalCount, created.Result.State]).toEqual([60, 'Running'])
    await until(async () => (await ask(batch)).Result.Counts.Created > 5)
    await server.kill('SIGKILL')
    server = await start()
    await until(async () => (await ask(batch)).Result.State === 'Ended')
    const { Counts } = (await ask(batch)).Result
    expect([Counts.Created, Counts.Failed]).toEqual([59, 1])
    const items: { readonly Name: string; readonly State: string; readonly AssetId?: string }[] = []
    for (let next = ''; ; ) {
      const { Result } = await ask(`${batch}/items?MaxResults=25&NextToken=${next}`)
      items.push(...Result.Items)
      next = Result.NextToken
      if (next === '') break
    }
    expect(items.map(({ Name }) => Name)).toEqual(names)
    const failed = (await ask(`${batch}/items?State=Failed`)).Result.Items
    expect(failed).toMatchObject([{ Name: 'line 30', Error: { Code: 'InvalidParameter' } }])
    const assets = await assetsOf(ann, group)
    expect(assets.map(({ Id }) => Id).toSorted()).toEqual(items.flatMap(({ AssetId }) => AssetId ?? []).toSorted())
    expect(assets.map(({ Name }) => Name).toSorted()).toEqual(names.filter((name) => name !== 'line 30'))
    expect(fixture.emulator.library.assets().length).toBeLessThanOrEqual(slots)
    await removeGroup(group)
  }, 300_000)

  test('sends files as a form, and nothing of a form with a bad one', async () => {
    const group = await newGroup(ann, 'form')
    const paths = Array.from({ length: 20 }, (_, nth) => join(folder, `file ${nth}.png`))
    for (const path of paths)
      await writeFile(
        path,
        drawPng(() => [1, 2, 3]),
      )
    const bad = join(folder, 'bad.png')
    await writeFile(bad, 'no picture')
    const target = `${server.url}${library}/assets/batches?GroupId=${group}`
    const form = (all: readonly string[]) => all.flatMap((path) => ['-F', `file=@${path}`])
    expect(await ask(...form([...paths, bad]), target)).toMatchObject({
      error: { message: expect.stringMatching(/^file 21: /) },
    })
    const { Result } = await ask(...form(paths), target)
    await ended(ann, Result.Id)
    expect((await assetsOf(ann, group)).map(({ Name }) => Name).toSorted()).toEqual(
      paths.map((path) => path.slice(folder.length + 1)).toSorted(),
    )
    await removeGroup(group)
  }, 300_000)
})

test('OpenAI’s client sends files and lines, sees errors, and cancels', async () => {
  const group = await newGroup(ann, 'sdk')
  const client = openaiOf(ann, library)
  const form = new FormData()
  for (const name of ['a.png', 'b.png']) form.append('file', new File([drawPng(() => [1, 2, 3])], name))
  const { Result } = await client.post<Reply>('/assets/batches', { query: { GroupId: group }, body: form })
  await ended(ann, Result.Id)
  const { Items } = (await client.get<Reply>(`/assets/batches/${Result.Id}/items`)).Result
  expect(Items).toMatchObject([
    { Position: 1, Name: 'a.png', State: 'Created' },
    { Position: 2, Name: 'b.png', State: 'Created' },
  ])
  expect(await thrown(newBatch(ann, group, ['{}', 'x']))).toMatchObject({
    ...{ status: 400, error: { message: 'line 2 is not valid JSON' } },
  })
  expect(await thrown(newBatch(bob, group, [lineOf('a')]))).toMatchObject({ status: 403 })
  expect(await thrown(client.get('/assets/batches', { query: { NextToken: 'x' } }))).toMatchObject({ status: 400 })
  const names = Array.from({ length: 200 }, (_, nth) => `long ${nth}`)
  const long = await newBatch(
    ann,
    group,
    names.map((name) => lineOf(name)),
  )
  const cancelled = (await client.post<Reply>(`/assets/batches/${long}/cancel`)).Result
  expect(cancelled).toMatchObject({ CancelTime: expect.any(String), Counts: { Waiting: 0, Failed: 0 } })
  await ended(ann, long)
  const { Counts } = (await client.get<Reply>(`/assets/batches/${long}`)).Result
  expect([Counts.Created + Counts.Cancelled, Counts.Cancelled > 100]).toEqual([200, true])
  expect(await assetsOf(ann, group)).toHaveLength(2 + Counts.Created)
  await removeGroup(group)
}, 300_000)

test('each client uses assets that have lost their slots, also lent ones, and lists stay exact meanwhile', async () => {
  const group = await newGroup(ann, 'evicted')
  const names = Array.from({ length: 16 }, (_, nth) => `asset ${nth}`)
  await ended(
    ann,
    await newBatch(
      ann,
      group,
      names.map((name) => lineOf(name)),
    ),
  )
  const ids = (await assetsOf(ann, group)).map(({ Id }) => Id).toSorted()
  expect(ids).toHaveLength(16)
  const lent = { User: bob.id, Access: 'use' }
  await openaiOf(ann, library).post(`/assets/groups/${group}/shares`, { body: lent })

  const download = async ({ url }: { readonly url: URL }) => {
    const response = await fetch(url)
    return { data: await response.bytes(), mediaType: response.headers.get('content-type') ?? undefined }
  }
  const bytedance = ({ token }: Person, asset: string) =>
    generateVideo({
      model: createByteDance({ baseURL: `${server.url}/api/v3`, apiKey: token }).video(MODEL),
      ...{ prompt: 'she waves', download },
      providerOptions: {
        bytedance: { pollIntervalMs: 100, pollTimeoutMs: 60_000, referenceImages: [`asset://${asset}`] },
      },
    })
  const messages = (asset: string): OpenAI.ChatCompletionMessageParam[] => [
    { role: 'user', content: [{ type: 'image_url', image_url: { url: `asset://${asset}` } }] },
  ]
  const openai = openaiOf(ann, '/v1')
  const model = 'doubao-seed-emulated'
  const uses: Readonly<Record<string, (asset: string) => Promise<unknown>>> = {
    'AI SDK': async (asset) => expect((await bytedance(ann, asset)).video.mediaType).toBe('video/mp4'),
    'AI SDK of a borrower': async (asset) => expect((await bytedance(bob, asset)).video.mediaType).toBe('video/mp4'),
    'openai chat': (asset) => openai.chat.completions.create({ model, messages: messages(asset) }),
    'openai stream': async (asset) => {
      for await (const _ of await openai.chat.completions.create({
        model,
        stream: true,
        messages: messages(asset),
      }));
    },
    'openai responses': (asset) =>
      openai.responses.create({
        ...{ model, stream: false },
        input: [{ role: 'user', content: [{ type: 'input_image', image_url: `asset://${asset}`, detail: 'auto' }] }],
      }),
    anthropic: (asset) =>
      new Anthropic({ baseURL: server.url, apiKey: ann.token, maxRetries: 0 }).messages.create({
        ...{ model, max_tokens: 10 },
        messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url: `asset://${asset}` } }] }],
      }),
    'openai videos': async (asset) => {
      const input_reference = { image_url: `asset://${asset}` }
      const { id } = await openai.videos.create({ model: 'sora-2', prompt: 'she waves', input_reference })
      await until(async () => (await openai.videos.retrieve(id)).status === 'completed')
    },
  }
  for (const [name, use] of Object.entries(uses)) {
    const [asset = ''] = await evictedOf(ann, group)
    expect([name, asset]).toEqual([name, expect.stringMatching(/^asset-/)])
    await use(asset)
    // It was there, under an id that nobody was told of.
    expect([name, atUpstream(asset)]).toEqual([name, true])
    expect((await assetsOf(ann, group)).map(({ Id }) => Id).toSorted()).toEqual(ids)
  }

  for (const era of eras) {
    const [asset = ''] = await evictedOf(ann, group)
    await using mcp = await connectMcp(server.url, bob.token, { era })
    const found: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await mcp.call('find_assets', { scope: 'shared', limit: 6, ...(cursor !== undefined && { cursor }) })
      found.push(...page.assets.map(({ asset_id }: { readonly asset_id: string }) => asset_id))
      cursor = page.next_cursor
    }
    expect(found.toSorted()).toEqual(ids)
    const video = {
      ...{ model: MODEL, prompt: 'she waves', duration: 4, resolution: '480p' },
      reference_images: [`asset://${asset}`],
    }
    expect(await mcp.call('price_video', video)).toMatchObject({ isError: false, references: [{ id: asset }] })
    const { video_id } = await mcp.call('create_video', video)
    await until(async () => (await mcp.call('wait_for_video', { video_id, wait_seconds: 5 })).status === 'succeeded')
    expect(atUpstream(asset)).toBe(true)
  }
  expect((await assetsOf(ann, group)).map(({ Id }) => Id).toSorted()).toEqual(ids)
  for (const { body } of fixture.emulator.video.tasks())
    for (const id of ids) expect(JSON.stringify(body)).not.toContain(id)
}, 600_000)
