import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createNodeServer } from '../../src/node-server.ts'
import { repetitions } from '../support/repetitions.ts'
import { type Program, runtimes, startProgram } from './program.ts'
import { host, startTestServer } from './raw-connection.ts'

const upgradeTo = (protocol: string, target = '/', version = '1.1') =>
  `GET ${target} HTTP/${version}\r\n${host}Connection: Upgrade\r\nUpgrade: ${protocol}\r\n`
const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
/** `hi`, masked with zeros. */
const frame = Buffer.from('\x81\x82\0\0\0\0hi', 'latin1')

describe.each(repetitions(...Object.entries(runtimes)))('on %s, a request for another protocol', (_, command) => {
  let program: Program
  beforeAll(async () => {
    program = await startProgram(command, './upgrade-app.ts', 'upgrade')
  }, 300_000)
  afterAll(() => program[Symbol.asyncDispose]())

  test('reaches onUpgrade, and a WebSocket client works', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${program.port}/chat`)
    const message = new Promise((resolve) => socket.addEventListener('message', ({ data }) => resolve(data)))
    await new Promise((resolve) => socket.addEventListener('open', resolve))
    socket.send('hello')
    expect(await message).toBe('hello')
    socket.close()
  })

  test('has no timeouts afterwards', async () => {
    const connection = program.dial()
    connection.socket.write(Buffer.concat([Buffer.from(`${upgradeTo('websocket')}${key}\r\n`), frame]))
    expect(await connection.until('\r\n\r\n')).toContain('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
    await connection.until('hi')
    await Promise.race([connection.closed, new Promise((resolve) => setTimeout(resolve, 4_000))])
    connection.socket.write(frame)
    await connection.until('hi')
  }, 300_000)

  test('gets an ordinary response if onUpgrade returns false, and its connection closes', async () => {
    const connection = program.dial(`${upgradeTo('h2c', '/a')}\r\n`)
    const { status, headers, body } = await connection.readResponse()
    expect([status, headers.get('connection'), JSON.parse(body)]).toEqual([
      200,
      'close',
      ['GET', 'http://gateway/a', 'h2c', ''],
    ])
    await connection.closed
  })

  test('gets an ordinary response if it has a body', async () => {
    const body = `POST / HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 3\r\n\r\nabc`
    const { status, body: received } = await program.dial(body).readResponse()
    expect([status, JSON.parse(received)]).toEqual([200, ['POST', 'http://gateway/', 'websocket', 'abc']])
  })

  test('gets an ordinary response in HTTP/1.0', async () => {
    const { status } = await program.dial(`${upgradeTo('websocket', '/', '1.0')}${key}\r\n`).readResponse()
    expect(status).toBe(200)
  })

  test('is rejected like any other request', async () => {
    for (const [request, status] of [
      [upgradeTo('websocket').replace('gateway', 'a/b'), 400],
      [`${upgradeTo('websocket')}${host}`, 400],
    ] as const) {
      const connection = program.dial(`${request}${key}\r\n`)
      expect((await connection.readResponse()).status).toBe(status)
      await connection.closed
    }
  })

  test('behind a request without a response does not change the protocol', async () => {
    const connection = program.dial(`GET /slow HTTP/1.1\r\n${host}\r\n${upgradeTo('websocket')}${key}\r\n`)
    await expect(connection.until('101')).rejects.toThrow('the connection ended')
  })

  test('does not end the process if onUpgrade throws or the caller resets the connection', async () => {
    await program.dial(`${upgradeTo('websocket', '/throws')}\r\n`).closed
    const connection = program.dial(`${upgradeTo('websocket')}${key}\r\n`)
    await connection.until('\r\n\r\n')
    connection.socket.resetAndDestroy()
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect((await program.dial(`GET / HTTP/1.1\r\n${host}\r\n`).readResponse()).status).toBe(200)
  })
})

test('without onUpgrade the response is ordinary, and the connection stays open', async () => {
  await using served = await startTestServer((request) => Response.json(request.headers.get('upgrade')))
  const connection = served.dial()
  for (const protocol of ['websocket', 'h2c']) {
    connection.write(`${upgradeTo(protocol)}\r\n`)
    expect(JSON.parse((await connection.readResponse()).body)).toBe(protocol)
  }
})

test('stop closes connections with another protocol', async () => {
  const upgraded = Promise.withResolvers<void>()
  const server = await createNodeServer(() => new Response(), {
    onUpgrade(_, socket) {
      socket.on('close', () => upgraded.resolve())
      return socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
    },
  }).listen()
  const socket = await Bun.connect({ hostname: '127.0.0.1', port: server.port, socket: { data() {} } })
  socket.write(`${upgradeTo('websocket')}\r\n`)
  await new Promise((resolve) => setTimeout(resolve, 50))
  await server.stop()
  await upgraded.promise
})
