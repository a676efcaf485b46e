import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { folderStorage, type Storage } from 'sluice/file-storage'
import { StorageTimeoutError } from '../../plugins/file-storage/storage/storage.ts'
import { drawPng } from '../../src/demo/picture.ts'
import { temporaryFolder } from '../file-storage/fixture.ts'
import { newGroup } from '../routes/fixture.ts'
import { databaseNames } from '../support/database.ts'
import type { User } from '../support/gateway.ts'
import { batchesPath, ended, itemOf, itemsOf, newBatch, openBatchFixture, progressOf } from './fixture.ts'

const png = new Uint8Array(drawPng(() => [38, 118, 158]))

const openForms = async (
  kind: (typeof databaseNames)[number],
  maxUploads = 100,
  storageOf: (folder: Storage) => Storage = (folder) => folder,
) => {
  const folder = await temporaryFolder()
  const storage = storageOf(folderStorage(folder.path))
  const fixture = await openBatchFixture(kind, { files: { storage, maxUploads } })
  const group = await newGroup(fixture.ann, 'people')
  return {
    ...{ ...fixture, group },
    post: (form: FormData | ReadableStream | string, headers: Record<string, string> = {}, to = group) =>
      postForm(fixture.gateway.url, fixture.ann, form, headers, to),
    stored: () => {
      try {
        return readdirSync(`${folder.path}/uploads`).filter((name) => name.startsWith('up_'))
      } catch {
        return []
      }
    },
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]()
      await folder[Symbol.asyncDispose]()
    },
  }
}

const postForm = async (
  url: string,
  { token }: User,
  body: FormData | ReadableStream | string,
  headers: Record<string, string>,
  group: string,
) => {
  const response = await fetch(`${url}/api/media/proxy${batchesPath}?GroupId=${group}`, {
    ...{ method: 'POST', body, headers: { authorization: `Bearer ${token}`, ...headers } },
  })
  const text = await response.text()
  return { status: response.status, text, json: JSON.parse(text) }
}

const formOf = (files: readonly (readonly [string, Uint8Array])[]): FormData => {
  const form = new FormData()
  form.append('note', 'a field is no file')
  for (const [name, bytes] of files) form.append('files', new Blob([bytes as Uint8Array<ArrayBuffer>]), name)
  return form
}

describe.each(databaseNames)('a batch of files in a form (%s)', (kind) => {
  test('stores each file, and makes an asset of it with its name, which the upstream can fetch', async () => {
    await using it = await openForms(kind)
    const names = ['beach.png', 'folder/forest.png', '猫.png']
    const reply = await it.post(formOf(names.map((name) => [name, png])))
    expect([reply.status, reply.text]).toEqual([202, expect.stringContaining('"TotalCount":3')])
    await ended(it.ann, reply.json.Result.Id)
    expect((await progressOf(it.ann, reply.json.Result.Id)).Counts.Created).toBe(3)
    const items = await itemsOf(it.ann, reply.json.Result.Id)
    expect(items.map(({ Name }) => Name)).toEqual(['beach.png', 'forest.png', '猫.png'])
    expect(it.stored()).toHaveLength(3)
    const sent = it.emulator.calls.filter(({ action }) => action === 'CreateAsset').map(({ json }) => json as Sent)
    expect(sent.map(({ AssetType, GroupId }) => [AssetType, GroupId])).toEqual(Array(3).fill(['Image', it.group]))
    for (const { URL: url } of sent)
      expect(new Uint8Array(await (await fetch(url)).arrayBuffer()).length).toBe(png.length)
  })

  test('ends its files an hour after its end, so that the next form has room; those of failed items can be tried again', async () => {
    await using it = await openForms(kind, 4)
    // An upload of the same user is not of the form, also where a batch names it.
    const uploaded = await fetch(`${it.gateway.url}/api/uploads`, {
      ...{ method: 'POST', headers: { authorization: `Bearer ${it.ann.token}` }, body: png },
    })
    const { upload } = (await uploaded.json()) as { upload: { url: string } }
    await ended(it.ann, await newBatch(it.ann, it.group, [itemOf('line', { URL: upload.url })]))
    it.emulator.faults.add({ kind: 'status', action: 'CreateAsset', status: 400, after: 1 })
    const formWith = (...names: readonly string[]) => it.post(formOf(names.map((name) => [name, png])))
    const { json } = await formWith('a.png', 'b.png', 'c.png')
    const { Id: id } = json.Result
    await ended(it.ann, id)
    expect((await progressOf(it.ann, id)).Counts).toMatchObject({ Created: 2, Failed: 1 })

    it.pass(3_500_000)
    expect((await formWith('d.png')).status).toBe(429)
    it.pass(200_000)
    // The upload and the file of the failed item are left.
    expect((await fetch(upload.url)).status).toBe(200)
    expect((await formWith('d.png', 'e.png', 'f.png')).status).toBe(429)
    expect((await it.ann.ask('POST', `${batchesPath}/${id}/retry`)).status).toBe(200)
    await ended(it.ann, id)
    expect((await progressOf(it.ann, id)).Counts).toMatchObject({ Created: 3, Failed: 0 })
    const sent = it.emulator.calls.filter(({ action }) => action === 'CreateAsset').at(-1)?.json as Sent | undefined
    expect((await fetch(sent?.URL ?? '')).status).toBe(200)
    expect((await formWith('d.png', 'e.png')).status).toBe(202)
  })

  test('is one batch for one Idempotency-Key, and the files of a repetition do not stay', async () => {
    await using it = await openForms(kind)
    const send = (name: string) => it.post(formOf([[name, png]]), { 'idempotency-key': 'one' })
    const first = await send('a.png')
    expect(first.status).toBe(202)
    await ended(it.ann, first.json.Result.Id)
    const again = await send('a.png')
    expect([again.status, again.text]).toEqual([202, first.text])
    expect((await send('b.png')).status).toBe(409)
    expect([it.stored().length, it.creations()]).toEqual([1, 1])
  })

  test('with a file that cannot be an asset makes nothing, and keeps nothing', async () => {
    await using it = await openForms(kind, 3)
    const text = new TextEncoder().encode('no picture, video or sound at all, whatever its name says')
    for (const [files, status, message] of [
      [
        [
          ['a.png', png],
          ['b.png', text],
        ],
        415,
        'file 2: the file is none of',
      ],
      [
        [
          ['a.png', png],
          ['b.png', new Uint8Array()],
        ],
        400,
        'file 2: ',
      ],
      [
        [
          ['a.png', png],
          ['a.png', png],
        ],
        400,
        'file 2 has the name of file 1',
      ],
      [[], 400, 'the form has no file'],
      [
        [
          ['a', png],
          ['b', png],
          ['c', png],
          ['d', png],
        ],
        429,
        'at most 3 uploaded files',
      ],
    ] as const) {
      const reply = await it.post(formOf(files as never))
      expect([reply.status, reply.json.error.message]).toEqual([status, expect.stringContaining(message)])
      expect(it.stored()).toEqual([])
    }
    expect((await it.ann.ask('GET', batchesPath)).json.Result.Items).toEqual([])
    // The quota has room again.
    expect(
      (
        await it.post(
          formOf([
            ['a', png],
            ['b', png],
            ['c', png],
          ]),
        )
      ).status,
    ).toBe(202)
  })
})

interface Sent {
  readonly URL: string
  readonly AssetType: string
  readonly GroupId: string
}

test('a form that ends in the middle, or is too long, makes nothing and keeps nothing', async () => {
  await using it = await openForms('sqlite')
  const head = (name: string) => `--x\r\nContent-Disposition: form-data; name="f"; filename="${name}"\r\n\r\n`
  const type = { 'content-type': 'multipart/form-data; boundary=x' }
  const bodyOf = (...parts: readonly (string | Uint8Array)[]) =>
    new Blob(parts as (string | Uint8Array<ArrayBuffer>)[]).stream()
  const cut = await it.post(bodyOf(head('a.png'), png, '\r\n', head('b.png'), png), type)
  expect([cut.status, it.stored()]).toEqual([400, []])
  expect((await it.post('--x--', { 'content-type': 'multipart/form-data' })).status).toBe(400)
  // A request that announces too much is rejected before its body, which never comes.
  const { hostname, port } = new URL(it.gateway.url)
  const status = await new Promise<string>((resolve, reject) => {
    let received = ''
    void Bun.connect({
      ...{ hostname, port: Number(port) },
      socket: {
        open: (socket) =>
          void socket.write(
            `POST /api/media/proxy${batchesPath}?GroupId=${it.group} HTTP/1.1\r\nHost: x\r\n` +
              `Authorization: Bearer ${it.ann.token}\r\nContent-Type: ${type['content-type']}\r\n` +
              `Content-Length: ${300 * 2 ** 20}\r\n\r\n`,
          ),
        data: (socket, data) => {
          received += data.toString()
          if (!received.includes('\r\n')) return
          resolve(received.split(' ')[1] ?? '')
          socket.end()
        },
        error: (_, error) => reject(error),
      },
    })
  })
  expect([status, it.stored()]).toEqual(['413', []])
})

test('a form has at most 100 fields besides its files, wherever they are', async () => {
  await using it = await openForms('sqlite')
  const formWith = (fields: number) => {
    const form = formOf([['a.png', png]])
    for (let nth = 1; nth < fields; nth++) form.append(`field ${nth}`, '')
    return form
  }
  const reply = await it.post(formWith(101))
  expect([reply.status, reply.json.error.message]).toEqual([400, 'a form has at most 100 fields besides its files'])
  expect(it.stored()).toEqual([])
  expect((await it.post(formWith(100))).status).toBe(202)
})

test('whose group is not the caller’s, or whose user has the maximum of batches, is rejected before its body', async () => {
  await using it = await openForms('sqlite')
  let read = 0
  const endless = () =>
    new ReadableStream({
      pull(controller) {
        read++
        controller.enqueue(new Uint8Array(65_536))
      },
    })
  const type = { 'content-type': 'multipart/form-data; boundary=x' }
  expect((await it.post(endless(), type, 'group-of-nobody')).status).toBe(403)
  const held = it.emulator.faults.add({ kind: 'hold', action: 'CreateAsset', times: 20 })
  for (let nth = 0; nth < 10; nth++) expect((await it.post(formOf([[`${nth}`, png]]))).status).toBe(202)
  expect((await it.post(endless(), type)).status).toBe(429)
  held.release()
  expect(read).toBeLessThan(100)
})

test('whose storage stops to respond fails at once: the files before are left to the sweep', async () => {
  let stored = 0
  await using it = await openForms('sqlite', 100, (folder) => ({
    ...folder,
    put: (...file) => (++stored > 2 ? Promise.reject(new StorageTimeoutError()) : folder.put(...file)),
    remove: () => new Promise(() => {}),
  }))
  const reply = await it.post(formOf(['a.png', 'b.png', 'c.png'].map((name) => [name, png])))
  expect([reply.status, reply.json.error.message]).toEqual([500, 'the file could not be stored'])
  expect(await it.store.claimExpiredFiles(Date.now(), Date.now() + 1, 10)).toHaveLength(3)
})

test('is rejected by a service without a storage', async () => {
  await using it = await openBatchFixture('sqlite')
  const group = await newGroup(it.ann, 'people')
  const reply = await postForm(it.gateway.url, it.ann, formOf([['a.png', png]]), {}, group)
  expect([reply.status, reply.json.error.message]).toEqual([
    ...[415, 'this service stores no files: send JSON lines with addresses'],
  ])
})
