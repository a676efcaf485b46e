import { expect, test } from 'bun:test'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { folderStorage } from 'sluice/file-storage'
import { drawPng } from '../../src/demo/picture.ts'
import { temporaryFolder } from '../file-storage/fixture.ts'
import { newGroup } from '../routes/fixture.ts'
import { ended, itemOf, itemsOf, newBatch, openBatchFixture, progressOf, until } from './fixture.ts'

const png = drawPng(() => [38, 118, 158])

/** Files at addresses of users. A path with `missing` has none, and one with `slow` waits for `release`. */
const serveFiles = async () => {
  const released = Promise.withResolvers<void>()
  let slow = 0
  const server = createServer(async ({ url = '' }, response) => {
    if (url.includes('slow')) {
      slow++
      await released.promise
    }
    response.writeHead(url.includes('missing') ? 404 : 200, { 'content-type': 'image/png' })
    response.end(url.includes('missing') ? 'nothing' : png)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    addressOf: (path: string) => `http://127.0.0.1:${port}/${path}.png`,
    slow: () => slow,
    release: () => released.resolve(),
    async [Symbol.asyncDispose]() {
      released.resolve()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const open = async () => {
  const [files, folder] = [await serveFiles(), await temporaryFolder()]
  const fixture = await openBatchFixture('sqlite', {
    ...{ slots: { slots: 3 }, files: { storage: folderStorage(folder.path) } },
  })
  return {
    ...{ ...fixture, files, group: await newGroup(fixture.ann, 'people') },
    async [Symbol.asyncDispose]() {
      await files[Symbol.asyncDispose]()
      await fixture[Symbol.asyncDispose]()
      await folder[Symbol.asyncDispose]()
    },
  }
}

test('a batch is larger than the slots, and an item whose file cannot be read fails alone and at once', async () => {
  await using it = await open()
  const { ann, emulator, files, group } = it
  const names = Array.from({ length: 8 }, (_, nth) => `picture ${nth}`)
  const addressOf = (name: string) => files.addressOf(name === 'picture 3' ? 'missing' : name.replace(' ', '-'))
  const id = await newBatch(
    ann,
    group,
    names.map((name) => itemOf(name, { URL: addressOf(name) })),
  )
  // No lease and no pause ends meanwhile.
  await ended(ann, id)
  expect((await progressOf(ann, id)).Counts).toMatchObject({ Created: 7, Failed: 1 })
  const items = await itemsOf(ann, id)
  expect(items[3]).toMatchObject({
    ...{ State: 'Failed', Error: { Code: 'InvalidParameter', Message: expect.stringContaining('cannot be read') } },
  })
  expect(emulator.library.assets().length).toBeLessThanOrEqual(3)
  const { Result } = (await ann.ask('GET', `/assets?GroupIds=${group}&SortOrder=Asc&PageSize=100`)).json
  const created = items.flatMap(({ AssetId }) => AssetId ?? [])
  expect([Result.TotalCount, Result.Items.map(({ Id }: { Id: string }) => Id).toSorted()]).toEqual([
    ...[7, created.toSorted()],
  ])
}, 60_000)

test('a file that is not read now is no creation without an outcome: its key is free, and a batch waits for its turn', async () => {
  await using it = await open()
  const { ann, bob, files, group } = it
  const others = await newGroup(bob, 'others')
  const wanted = (path: string, to: string) => ({ GroupId: to, URL: files.addressOf(path), AssetType: 'Image' })
  // As many as one process reads at once.
  const reading = Array.from({ length: 4 }, (_, nth) => bob.ask('POST', '/assets', wanted(`slow-${nth}`, others)))
  await until(() => files.slow() === 4)
  const key = { 'idempotency-key': 'one' }
  const busy = await ann.ask('POST', '/assets', wanted('a', group), key)
  expect([busy.status, busy.headers.get('retry-after')]).toEqual([503, '2'])
  const id = await newBatch(ann, group, [itemOf('b', { URL: files.addressOf('b') })])
  await until(async () => (await it.store.assetBatchItems(id, { after: 0, limit: 1 }))[0]?.attempts === 1)
  await until(async () => (await progressOf(ann, id)).Counts.Waiting === 1)
  files.release()
  for (const { status } of await Promise.all(reading)) expect(status).toBe(200)
  expect((await ann.ask('POST', '/assets', wanted('a', group), key)).status).toBe(200)
  // Longer than the response asked for, and much shorter than the lease of a call.
  it.pass(5_000)
  await ended(ann, id)
  expect((await progressOf(ann, id)).Counts.Created).toBe(1)
}, 60_000)
