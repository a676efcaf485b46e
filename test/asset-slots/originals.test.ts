import { expect, test } from 'bun:test'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createResultStorage, folderStorage } from 'sluice/file-storage'
import { Background } from '../../plugins/shared/background/background.ts'
import { streamFrom } from '../../plugins/shared/http/body/byte-source.ts'
import { createOriginals } from '../../src/app/originals.ts'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { openStore } from '../../src/store/index.ts'
import { png, temporaryFolder } from '../file-storage/fixture.ts'
import { migratedDatabase, repeatOnDatabases } from '../support/database.ts'
import { sleepOn, VirtualClock } from '../support/virtual-clock.ts'
import { openProcess } from './fixture.ts'

/** Files on this machine, by path. */
const serveFiles = async (files: Readonly<Record<string, { readonly type: string; readonly bytes: Uint8Array }>>) => {
  const server = createServer(({ url = '' }, response) => {
    const file = files[url]
    response.writeHead(file ? 200 : 404, { 'content-type': file?.type ?? 'text/plain' }).end(file?.bytes)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

/** An asset that the upstream has got without the gateway. */
const addUpstream = async ({ rest }: Emulator, group: string, name: string, url: string): Promise<string> => {
  const response = await fetch(`${rest.url}/assets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${rest.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ GroupId: group, Name: name, URL: url, AssetType: 'Image' }),
  })
  return ((await response.json()) as { readonly Result: { readonly Id: string } }).Result.Id
}

repeatOnDatabases('the originals of assets that were there before', ({ kind }) => {
  test('are copied from the upstream, and only what is copied loses its slot', async () => {
    const bytes = png(5_000)
    await using files = await serveFiles({
      '/old.png': { type: 'image/png', bytes },
      '/odd.png': { type: 'image/png', bytes: new TextEncoder().encode('no picture') },
    })
    await using folder = await temporaryFolder()
    const emulator = await startEmulator({ processingMs: 0 })
    const made = await migratedDatabase(kind)
    const store = openStore(made.url, { deadlineMs: 60_000 })
    const clock = new VirtualClock(1, Date.now())
    const background = new Background({ sleep: sleepOn(clock) })
    const storage = folderStorage(folder.path)
    const settings = {
      storage,
      store,
      publicUrl: () => 'https://files.example',
      secrets: ['a secret of the test suite'],
    }
    const results = createResultStorage(settings)
    const originals = createOriginals({ ...settings, results, networks: [] })
    const options = { clock, slots: { slots: 2, originals } }
    const process = openProcess(store, emulator, options)
    const group = await process.group('ann', 'before')
    const old = await addUpstream(emulator, group, 'old', `${files.url}/old.png`)
    const odd = await addUpstream(emulator, group, 'odd', `${files.url}/odd.png`)
    expect((await process.list('ann')).toSorted()).toEqual([old, odd].toSorted())
    // Nothing can be copied from an upstream that does not respond.
    emulator.faults.add({ kind: 'status', status: 503, action: 'GetAsset', times: Number.POSITIVE_INFINITY })
    const working = openProcess(store, emulator, { ...options, background })
    const find = async (id: string) => (await store.slottedAssets([id]))[0]
    /** Lets time pass until something has happened. The database and the storage need real time. */
    const passUntil = async (isDone: () => Promise<boolean>) => {
      while (!(await isDone())) {
        await clock.pass(2_000)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
    const triesOf = () => emulator.calls.filter(({ action }) => action === 'GetAsset').length
    await passUntil(async () => triesOf() >= 4)
    expect((await find(old))?.original).toBeUndefined()
    expect(emulator.library.assets(group)).toHaveLength(2)

    emulator.faults.clear()
    await passUntil(async () => (await find(old))?.original !== undefined)
    const key = (await find(old))?.original ?? ''
    const info = await storage.find(key)
    expect(info?.size).toBe(bytes.length)
    const copied: Uint8Array[] = []
    if (info)
      for await (const piece of streamFrom(storage.read(key, info, { first: 0, last: info.size - 1 })))
        copied.push(piece)
    expect(Buffer.concat(copied)).toEqual(Buffer.from(bytes))

    // What has an original makes room, and comes back under its id, name and file.
    const [other] = [await addOwn()]
    expect(emulator.library.asset(old)).toBeUndefined()
    expect(emulator.library.asset(odd)).toBeDefined()
    const placed = await working.placed([old], 'task')
    const again = emulator.library.asset(placed.get(old) ?? '')
    expect(again?.url).toStartWith(`https://files.example/api/files/${key}?`)
    expect(placed.get(old)).not.toBe(old)
    const { json } = await working.ask('ann', 'GET', `/assets/${old}`)
    expect(json.Result).toMatchObject({ Id: old, Name: 'old', Status: 'Active' })
    expect(json.Result.URL).toStartWith(`https://files.example/api/files/${key}?`)
    expect((await find(odd))?.original).toBeUndefined()
    expect(await working.list('ann')).toHaveLength(3)
    expect(other).toBeDefined()

    await background.stop()
    await store.close()
    await made.remove()
    await emulator.stop()

    /** An asset of an upload, which takes the slot of another one. */
    async function addOwn(): Promise<string> {
      const added = {
        ...{ id: 'asset-20300101000000-own01', user: 'ann', group, account: '', name: 'own', createdAt: clock.now() },
        ...{ body: '{"AssetType":"Image"}', original: 'originals/own.png' },
      }
      expect(await store.addSlottedAsset(added)).toBe(true)
      await passUntil(async () => (await find(added.id))?.status === 'Active')
      return added.id
    }
  }, 60_000)
})
