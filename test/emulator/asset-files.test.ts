import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createServer, type Server } from 'node:http'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'

const bytes = Buffer.from('the bytes of a picture')

describe('the files of assets', () => {
  let emulator: Emulator
  let storage: Server
  let storageUrl: string
  let now = Date.UTC(2026, 0, 1)
  beforeAll(async () => {
    emulator = await startEmulator({ processingMs: 0, clock: () => now })
    // The storage of a gateway on this machine.
    storage = createServer((request, response) => {
      const page = request.url === '/page'
      response.writeHead(request.url === '/gone' ? 404 : 200, { 'content-type': page ? 'text/html' : 'image/png' })
      response.end(bytes)
    })
    await new Promise<void>((resolve) => storage.listen(0, '127.0.0.1', resolve))
    const address = storage.address()
    storageUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  })
  afterAll(async () => {
    await emulator.stop()
    storage.close()
  })

  const ask = async (path: string, body?: object) => {
    const headers = { authorization: `Bearer ${emulator.rest.key}`, 'content-type': 'application/json' }
    const init = body ? { method: 'POST', body: JSON.stringify(body) } : {}
    const response = await fetch(`${emulator.rest.url}${path}`, { ...init, headers })
    return (await response.json()) as { readonly Result: { readonly Id: string; readonly URL: string } }
  }
  /** The link of a new asset with this address. */
  const linkOf = async (url: string): Promise<string> => {
    const group = emulator.library.addGroup({ name: 'holidays' })
    const { Result } = await ask('/assets', { GroupId: group.id, URL: url, AssetType: 'Image', Name: 'beach' })
    return (await ask(`/assets/${Result.Id}`)).Result.URL
  }

  test('that come from this machine are served by signed links, with ranges', async () => {
    const link = await linkOf(`${storageUrl}/beach.png`)
    expect(link).toStartWith(`${emulator.origin}/ark-media-asset/`)
    const response = await fetch(link)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes)
    const part = await fetch(link, { headers: { range: 'bytes=4-8' } })
    expect([part.status, await part.text()]).toEqual([206, 'bytes'])
    expect((await fetch(link, { method: 'POST' })).status).toBe(405)
    expect(emulator.calls.some(({ path }) => path.startsWith('/ark-media-asset'))).toBe(false)
  })

  test('have no other link, nor one that has expired', async () => {
    const link = await linkOf(`${storageUrl}/beach.png`)
    for (const wrong of [
      link.replace(/Signature=./, 'Signature=x'),
      link.replace('asset-', 'asset-1'),
      link.split('?')[0],
    ]) {
      expect([wrong, (await fetch(wrong ?? '')).status]).toEqual([wrong, 403])
    }
    now += 43_200_000
    expect((await fetch(link)).status).toBe(403)
  })

  test('are none when the address has no picture, video or sound', async () => {
    for (const path of ['/gone', '/page']) {
      expect([path, (await fetch(await linkOf(storageUrl + path))).status]).toEqual([path, 404])
    }
  })

  test('of other addresses are at the vendor, and the emulator requests none of them', async () => {
    expect(await linkOf('https://files.example/beach.png')).toStartWith(
      'https://ark-media-asset.tos-cn-beijing.volces.com/',
    )
    const local = await linkOf(`${storageUrl.replace('http:', 'https:')}/beach.png`)
    expect(local).toStartWith('https://ark-media-asset.tos-cn-beijing.volces.com/')
  })
})
