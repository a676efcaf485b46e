import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { countInFlight, type InFlight } from '../../plugins/shared/http/in-flight.ts'
import { createNodeServer, type ListeningServer } from '../../src/node-server.ts'
import { listenBun } from '../../src/server/listen.ts'
import { RawConnection } from '../node-server/raw-connection.ts'
import { openFiles, type TestFiles } from './fixture.ts'

const mib = 2 ** 20
const fileOf = (length: number) => {
  const bytes = new Uint8Array(length).map((_, at) => at % 251)
  bytes.set([0, 0, 0, 24, ...Buffer.from('ftypisom')])
  return bytes
}

const http = { host: '127.0.0.1', port: 0, getBodies: false, maxBodyBytes: 2 ** 26 }
const fronts = {
  'node:http': (handle: (request: Request) => Promise<Response>) => createNodeServer(handle).listen(),
  'Bun.serve': (handle: (request: Request) => Promise<Response>) =>
    listenBun(handle, { http, media: { segment: 'media' }, shared: false }),
}

describe.each(Object.entries(fronts))('a download from %s', (_name, listen) => {
  let files: TestFiles
  let server: ListeningServer
  /** The downloads, in order. */
  const downloads: { isOpen: boolean; readonly ended: PromiseWithResolvers<void> }[] = []
  const sockets: RawConnection[] = []
  beforeAll(async () => {
    files = await openFiles()
    server = await listen((request) => {
      const download = { isOpen: false, ended: Promise.withResolvers<void>() }
      const streaming = () => {
        download.isOpen = true
        downloads.push(download)
      }
      const streamed = () => {
        download.isOpen = false
        download.ended.resolve()
      }
      const nothing = () => {}
      const counted: InFlight = {
        identified: nothing,
        reading: nothing,
        streaming,
        streamed,
        sending: nothing,
        sent: nothing,
      }
      countInFlight(request, counted)
      return files.app.fetch(request)
    })
  })
  afterAll(async () => {
    for (const { socket } of sockets) socket.destroy()
    await server.stop({ closeActiveConnections: true })
    await files[Symbol.asyncDispose]()
  })

  const pathOf = async (bytes: Uint8Array<ArrayBuffer>) => {
    const { upload } = (await (await files.upload(bytes)).json()) as { readonly upload: { readonly url: string } }
    const { pathname, search } = new URL(upload.url)
    return pathname + search
  }
  const dial = (text: string) => {
    const connection = new RawConnection(connect(server.port, '127.0.0.1'))
    sockets.push(connection)
    connection.write(text)
    return connection
  }
  const ask = (method: string, path: string, range?: string) =>
    dial(
      `${method} ${path} HTTP/1.1\r\nHost: files.example\r\n${range === undefined ? '' : `Range: ${range}\r\n`}\r\n`,
    ).readResponse(method === 'HEAD')

  for (const length of [70_000, 2 ** 18, 2 ** 18 + 1, 3 * mib]) {
    test(`of ${length} bytes has its Content-Length, whole, as a range, and for HEAD`, async () => {
      const bytes = fileOf(length)
      const path = await pathOf(bytes)
      for (const [range, first, last] of [
        [undefined, 0, length - 1],
        ['bytes=4-7', 4, 7],
        ['bytes=10-', 10, length - 1],
        ['bytes=-69999', length - 69_999, length - 1],
      ] as const) {
        const { status, headers, body } = await ask('GET', path, range)
        expect(status).toBe(range === undefined ? 200 : 206)
        expect([headers.get('content-length'), headers.get('transfer-encoding')]).toEqual([`${last - first + 1}`, null])
        expect(headers.get('content-range')).toBe(range === undefined ? null : `bytes ${first}-${last}/${length}`)
        expect(headers.get('content-type')).toBe('video/mp4')
        expect(Buffer.from(body, 'latin1').equals(bytes.subarray(first, last + 1))).toBe(true)
      }
      const head = await ask('HEAD', path)
      expect([head.status, head.headers.get('content-length'), head.headers.get('transfer-encoding')]).toEqual([
        ...[200, `${length}`, null],
      ])
    })
  }

  test('counts as a stream until its last byte is sent, or the caller has disconnected', async () => {
    const path = await pathOf(fileOf(16 * mib))
    const connection = dial(`GET ${path} HTTP/1.1\r\nHost: files.example\r\n\r\n`)
    await connection.until('\r\n\r\n')
    connection.socket.pause()
    expect(downloads.at(-1)?.isOpen).toBe(true)
    connection.socket.destroy()
    await downloads.at(-1)?.ended.promise
    for (const length of [70_000, mib]) {
      const before = downloads.length
      expect((await ask('GET', await pathOf(fileOf(length)))).body.length).toBe(length)
      expect(downloads.length).toBe(before + 1)
      await downloads.at(-1)?.ended.promise
    }
  })

  for (const length of [70_000, mib]) {
    test(`of ${length} bytes that fails in the storage is no complete response, and tells nothing of the storage`, async () => {
      const path = await pathOf(fileOf(length))
      const { find } = files.storage
      // The file is removed after the storage has found it.
      const findAndRemove = async (key: string) => {
        const info = await find(key)
        await files.storage.remove(key)
        return info
      }
      Object.assign(files.storage, { find: findAndRemove })
      try {
        const connection = dial(`GET ${path} HTTP/1.1\r\nHost: files.example\r\nConnection: close\r\n\r\n`)
        await connection.closed
        const text = connection.rest()
        expect(text).not.toMatch(/^HTTP\/1.1 200[\s\S]*\r\n\r\n[\s\S]{100}/)
        for (const inside of [files.path, 'ENOENT', 'at ']) expect(text).not.toContain(inside)
      } finally {
        Object.assign(files.storage, { find })
      }
    })
  }
})
