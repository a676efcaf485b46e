/** Runs with `--all`: files of 200 MiB on every runtime and server; file-storage/upload.test.ts tests uploads in one process. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import type { CreatedUpload } from '../../plugins/file-storage/index.ts'
import { eachDatabase } from '../support/database.ts'
import type { Runtime, ServerProcess } from '../support/server.ts'
import { openServerFixture } from '../support/server-fixture.ts'
import { type Browser, browse, type Fixture, openFixture, until } from './fixture.ts'

setDefaultTimeout(300_000)

const mib = 2 ** 20
const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const mp4 = (length: number): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(length).fill(7)
  bytes.set([0, 0, 0, 24, ...Buffer.from('ftypisom')])
  return bytes
}

/** All files below the folder of a storage. */
const filesIn = (storageUrl = ''): string[] => {
  const folder = storageUrl.slice('file:'.length)
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
}

const memoryOf = ({ pid }: ServerProcess): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

describe.each([
  ['bun', 'on'],
  ['bun', 'off'],
  ['deno', 'on'],
] as const)('uploads on %s with GET_BODIES %s', (runtime: Runtime, getBodies) => {
  let fixture: Fixture
  let server: ServerProcess
  let ann: Browser
  let token: string
  beforeAll(async () => {
    fixture = await openFixture()
    await fixture.addPerson('ann')
    token = (await fixture.addUser('bob')).token
    server = await fixture.start({ GET_BODIES: getBodies }, runtime)
    ann = await browse(server, 'ann')
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const upload = (body: RequestInit['body'], headers: Record<string, string> = {}) =>
    fetch(`${server.url}/api/uploads`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, ...headers },
      body,
    })
  const files = () => filesIn(fixture.environment.STORAGE_URL)

  test('200 MiB need no more memory than their pieces, up and down', async () => {
    const size = 200 * mib
    const piece = new Uint8Array(mib).fill(7)
    let sent = 0
    const before = memoryOf(server)
    const body = new ReadableStream({
      pull(controller) {
        if (sent === size) return controller.close()
        controller.enqueue(sent === 0 ? mp4(mib) : piece)
        sent += mib
      },
    })
    const response = await upload(body)
    expect(response.status).toBe(200)
    const { url } = ((await response.json()) as CreatedUpload).upload
    let received = 0
    const download = await fetch(url)
    expect(download.headers.get('content-length')).toBe(String(size))
    for await (const { length } of download.body ?? []) received += length
    expect(received).toBe(size)
    expect(memoryOf(server) - before).toBeLessThan(150)
  })

  test('by a session work from pages of the public address only', async () => {
    const send = (origin: string) =>
      fetch(`${server.url}/api/uploads`, { method: 'POST', headers: { cookie: ann.cookie, origin }, body: png })
    const statuses = [await send(server.url), await send('https://evil.example')].map(({ status }) => status)
    expect(statuses).toEqual([200, 403])
    const without = await fetch(`${server.url}/api/uploads`, {
      method: 'POST',
      headers: { cookie: ann.cookie },
      body: png,
    })
    expect(without.status).toBe(403)
  })

  test('that are cut off leave nothing behind', async () => {
    const before = files().length
    const { hostname, port } = new URL(server.url)
    for (const framing of ['content-length: 1000000', 'transfer-encoding: chunked']) {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {})
      const body = mp4(300_000)
      const head = ['POST /api/uploads HTTP/1.1', 'host: x', `authorization: Bearer ${token}`, framing, '', '']
      socket.write(head.join('\r\n'))
      if (framing.startsWith('transfer')) socket.write(`${body.length.toString(16)}\r\n`)
      socket.write(body)
      await until(() => files().length > before)
      socket.destroy()
      await until(() => files().length === before)
    }
    expect((await upload(png)).status).toBe(200)
  })

  test('may be one file of a form, as browsers send it', async () => {
    const form = new FormData()
    form.append('file', new Blob([mp4(70_000)], { type: 'text/html' }), '../../evil.html')
    const { url, content_type } = ((await (await upload(form as never)).json()) as CreatedUpload).upload
    const file = await fetch(url)
    expect([content_type, file.headers.get('content-type'), (await file.bytes()).length]).toEqual([
      ...['video/mp4', 'video/mp4'],
      70_000,
    ])
    expect((await fetch(url, { method: 'HEAD' })).headers.get('content-length')).toBe('70000')
    expect(file.headers.get('content-length')).toBe('70000')
    const range = await fetch(url, { headers: { range: 'bytes=4-7' } })
    expect(range.headers.get('content-length')).toBe('4')
    expect([range.status, range.headers.get('content-range'), await range.text()]).toEqual([
      ...[206, 'bytes 4-7/70000'],
      'ftyp',
    ])
  })
})

eachDatabase('the quota of uploads', ({ kind }) => {
  test('holds for two processes', async () => {
    await using fixture = await openServerFixture(kind)
    const { token } = await fixture.addUser('ann')
    const environment = { USER_MAX_UPLOADS: '5' }
    const servers = await Promise.all([fixture.start(environment), fixture.start(environment)])
    const responses = await Promise.all(
      Array.from({ length: 30 }, (_, nth) =>
        fetch(`${servers[nth % 2]?.url}/api/uploads`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}` },
          body: png,
        }),
      ),
    )
    const statuses = responses.map(({ status }) => status)
    expect([statuses.filter((status) => status === 200).length, new Set(statuses)]).toEqual([5, new Set([200, 429])])
    expect(filesIn(fixture.environment.STORAGE_URL)).toHaveLength(5)
  })
})
