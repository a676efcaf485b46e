import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { createNodeServer } from '../../src/node-server.ts'
import { listenBun } from '../../src/server/listen.ts'
import { RawConnection } from '../node-server/raw-connection.ts'
import { openFiles, type TestFiles } from './fixture.ts'

/** Longer than what the system buffers for a caller that does not read. */
const length = 16 * 2 ** 20
const video = new Uint8Array(length)
video.set([0, 0, 0, 24, ...Buffer.from('ftypisom')])

const http = { host: '127.0.0.1', port: 0, getBodies: false, maxBodyBytes: 2 ** 26 }
type Handle = (request: Request) => Promise<Response>
const fronts = {
  'node:http': (handle: Handle) => createNodeServer(handle).listen(),
  'Bun.serve': (handle: Handle) => listenBun(handle, { http, media: { segment: 'media' }, shared: false }),
}

const sockets: RawConnection[] = []
afterEach(() => {
  for (const { socket } of sockets.splice(0)) socket.destroy()
})

const dial = (port: number, method: string, path: string, headers = '') => {
  const connection = new RawConnection(connect(port, '127.0.0.1'))
  sockets.push(connection)
  connection.write(`${method} ${path} HTTP/1.1\r\nHost: files.example\r\n${headers}\r\n`)
  return connection
}

/** Begins a download, and reads its head only. */
const open = async (port: number, path: string) => {
  const connection = dial(port, 'GET', path)
  const head = await connection.until('\r\n\r\n')
  connection.socket.pause()
  return { connection, status: Number(head.split(' ')[1]), head }
}

const uploadOf = async (files: TestFiles, user: string) => {
  const response = await files.upload(video, { 'x-user': user })
  const { upload } = (await response.json()) as { readonly upload: { readonly url: string } }
  const { pathname, search } = new URL(upload.url)
  return pathname + search
}

describe.each(Object.entries(fronts))('with %s, open downloads by link', (_name, listen) => {
  const opened = Promise.all([openFiles({ maxDownloads: 2 })])
  const servers = opened.then(([files]) => listen((request) => files.app.fetch(request)))
  afterAll(async () => {
    await (await servers).stop({ closeActiveConnections: true })
    for (const files of await opened) await files[Symbol.asyncDispose]()
  })

  test('are limited for all files of one user together, and end with their connections', async () => {
    const [files] = await opened
    const { port } = await servers
    const [one, other, bobs] = [
      await uploadOf(files, 'ann'),
      await uploadOf(files, 'ann'),
      await uploadOf(files, 'bob'),
    ]
    const first = await open(port, one)
    const second = await open(port, other)
    expect([first.status, second.status]).toEqual([200, 200])
    const third = await open(port, one)
    expect(third.status).toBe(429)
    expect(third.head.toLowerCase()).toContain('retry-after: 1')
    expect((await open(port, bobs)).status).toBe(200)
    expect((await dial(port, 'HEAD', one).readResponse(true)).status).toBe(200)
    second.connection.socket.destroy()
    let next = await open(port, one)
    for (; next.status === 429; next = await open(port, one)) await delay(10)
    expect(next.status).toBe(200)
  })

  test('do not count when they are whole, or were refused', async () => {
    const [files] = await opened
    const { port } = await servers
    const path = await uploadOf(files, 'carol')
    const { headers } = await dial(port, 'HEAD', path).readResponse(true)
    for (let nth = 0; nth < 5; nth++) {
      const unchanged = await dial(port, 'GET', path, `If-None-Match: ${headers.get('etag')}\r\n`).until('\r\n\r\n')
      expect(unchanged).toStartWith('HTTP/1.1 304')
      expect((await dial(port, 'GET', path, 'Range: bytes=99999999-\r\n').readResponse()).status).toBe(416)
    }
    const part = async () => (await dial(port, 'GET', path, 'Range: bytes=0-99999\r\n').readResponse()).status
    for (let nth = 0; nth < 5; nth++) {
      let status = await part()
      // `Bun.serve` reports the end of a response somewhat later.
      for (; status === 429; status = await part()) await delay(10)
      expect(status).toBe(206)
    }
  })
})

test('a file whose owner is not known counts for itself', async () => {
  await using files = await openFiles({ maxDownloads: 1 })
  Object.assign(files.store, {
    fileOwner: async () => {
      throw new Error('the database is not available')
    },
  })
  const [one, other] = [await uploadOf(files, 'ann'), await uploadOf(files, 'ann')]
  const statuses = []
  for (const path of [one, other, one]) statuses.push((await files.ask(path)).status)
  expect(statuses).toEqual([200, 200, 429])
})

test('createNodeServer closes a download whose caller does not read', async () => {
  await using files = await openFiles({ maxDownloads: 1 })
  await using server = await createNodeServer((request) => files.app.fetch(request), {
    timeouts: { responseStallMs: 200 },
  }).listen()
  const path = await uploadOf(files, 'ann')
  expect((await open(server.port, path)).status).toBe(200)
  let next = await open(server.port, path)
  expect(next.status).toBe(429)
  for (; next.status === 429; next = await open(server.port, path)) await delay(10)
  expect(next.status).toBe(200)
})
