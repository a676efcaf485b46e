import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { bufferedBytes, host, pour, RawConnection } from '../node-server/raw-connection.ts'
import { startDeno } from './fixture.ts'

let program: ReturnType<typeof startDeno>
let port = 0
beforeAll(async () => {
  program = startDeno(['--allow-net=127.0.0.1', '--allow-env', '--allow-sys', 'test/deno/parse-in-turns-program.ts'])
  port = Number((await program.printed(/^(\d+)$/m))[1])
})
afterAll(() => program[Symbol.asyncDispose]())

const dial = () => new RawConnection(connect(port, '127.0.0.1'))

interface Found {
  readonly all: number
  readonly most: number
}

/** What the parser has found since the last call. */
const found = async (): Promise<Found> => (await fetch(`http://127.0.0.1:${port}/found`)).json() as Promise<Found>

/** What a turn may cost, and what is in the last piece of 8 KiB that it parses, twice: a read may come meanwhile. */
const mostChunks = 2 * (512 + 2 ** 13 / 6)

const request = `GET / HTTP/1.1\r\n${host}\r\n`
const chunked = (path: string, chunks: number) =>
  `POST ${path} HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(chunks)}0\r\n\r\n`

test('a turn of the event loop parses some of many tiny chunks only, of all connections', async () => {
  await found()
  const connections = Array.from({ length: 8 }, dial)
  for (const connection of connections) connection.write(chunked('/', 20_000))
  for (const connection of connections) expect(await connection.readResponse()).toMatchObject({ body: '20000' })
  const { all, most } = await found()
  expect(all).toBeGreaterThanOrEqual(8 * 20_000)
  expect(most).toBeLessThanOrEqual(mostChunks)
})

test('so it does of a body that nobody reads', async () => {
  await found()
  const connections = Array.from({ length: 8 }, dial)
  for (const connection of connections) connection.write(chunked('/unread', 40_000))
  for (const connection of connections) expect((await connection.readResponse()).status).toBe(401)
  for (const connection of connections) await connection.closed
  const { all, most } = await found()
  expect(all).toBeGreaterThan(8 * 1_000)
  expect(most).toBeLessThanOrEqual(mostChunks)
})

test('a turn parses the pipelined requests of a few connections only', async () => {
  const connections = Array.from({ length: 60 }, dial)
  for (const connection of connections) connection.write(request)
  for (const connection of connections) await connection.readResponse()
  await found()
  // While the server waits, all of them arrive.
  const waited = fetch(`http://127.0.0.1:${port}/wait`)
  await delay(100)
  for (const connection of connections) connection.write(request.repeat(19))
  for (const connection of connections)
    for (let nth = 0; nth < 19; nth++) expect((await connection.readResponse()).status).toBe(200)
  await waited
  expect((await found()).most).toBeLessThanOrEqual(64)
  for (const { socket } of connections) socket.destroy()
})

test('a body that the app does not read is not read from the connection', async () => {
  const connection = dial()
  connection.write(`POST /never HTTP/1.1\r\n${host}Content-Length: ${2 * bufferedBytes}\r\n\r\n`)
  expect(await pour(connection, 2 * bufferedBytes)).toBeLessThan(bufferedBytes)
  connection.socket.destroy()
})
