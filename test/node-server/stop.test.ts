import { expect, test } from 'bun:test'
import { connect } from 'node:net'
import { Elysia } from 'elysia'
import { createNodeServer, type ListeningServer } from '../../src/node-server.ts'
import { repetitions } from '../support/repetitions.ts'
import { runtimes, startProgram } from './program.ts'
import { host, RawConnection } from './raw-connection.ts'

const dial = ({ port }: ListeningServer, request = '') => {
  const connection = new RawConnection(connect(port, '127.0.0.1'))
  if (request !== '') connection.write(request)
  return connection
}
const get = `GET / HTTP/1.1\r\n${host}\r\n`

/** A server whose responses wait until `release`. */
const startHolding = async () => {
  const released = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const server = await createNodeServer(async (request) => {
    asked.resolve()
    await released.promise
    return new Response(await request.text())
  }).listen()
  return { server, asked: asked.promise, release: released.resolve }
}

test('an Elysia app listens with one line, and its lazy plugins are loaded by then', async () => {
  const app = new Elysia().get('/here', 'early').use(import('./lazy-plugin.ts'))
  await using server = await createNodeServer(app).listen()
  expect(server.url).toBe(`http://127.0.0.1:${server.port}`)
  expect(await (await fetch(`${server.url}/late`)).text()).toBe('loaded')
})

test('a port in use is an error', async () => {
  await using server = await createNodeServer(() => new Response()).listen()
  await expect(createNodeServer(() => new Response()).listen(server.port)).rejects.toThrow('in use')
})

test('the end of a block closes the server and its connections', async () => {
  let connection: RawConnection
  {
    const { server, asked } = await startHolding()
    await using _ = server
    connection = dial(server, get)
    await asked
  }
  await connection.closed
})

for (const [what, head] of [
  ['a request', 'Content-Length: 3\r\n\r\nabc'],
  ['a request with Expect: 100-continue', 'Expect: 100-continue\r\nContent-Length: 3\r\n\r\nabc'],
] as const) {
  test(`stop waits for ${what}, announces the end of the connection, and then closes idle connections`, async () => {
    const { server, asked, release } = await startHolding()
    const connection = dial(server, `POST / HTTP/1.1\r\n${host}${head}`)
    const idle = dial(server, 'GET / HT')
    await asked
    let hasStopped = false
    const stopped = server.stop().then(() => {
      hasStopped = true
    })
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(hasStopped).toBe(false)
    await expect(fetch(server.url)).rejects.toThrow()
    release()
    const { headers, body } = await connection.readResponse()
    expect([body, headers.get('connection')]).toEqual(['abc', 'close'])
    await Promise.all([stopped, connection.closed, idle.closed])
  })
}

test('stop answers what has arrived on idle connections, and only then closes them', async () => {
  const { server, asked, release } = await startHolding()
  release()
  const connections = Array.from({ length: 20 }, () => dial(server, get))
  await asked
  for (const connection of connections) await connection.readResponse()
  // The server shares this thread, so it cannot have read them yet.
  for (const connection of connections) connection.write(get)
  const stopped = server.stop()
  for (const connection of connections)
    expect((await connection.readResponse()).headers.get('connection')).toBe('close')
  await stopped
})

test('stop closes the connections of requests that take longer than drainMs', async () => {
  const { server, asked } = await startHolding()
  const connection = dial(server, get)
  await asked
  await server.stop({ drainMs: 20 })
  await connection.closed
})

test('stop accepts connections for graceMs, with Connection: close, and then no longer', async () => {
  const server = await createNodeServer(() => new Response('ok')).listen(0)
  const stopped = server.stop({ graceMs: 50 })
  const response = await fetch(server.url)
  expect([response.status, response.headers.get('connection')]).toEqual([200, 'close'])
  await stopped
  expect(await fetch(server.url).catch(() => 'refused')).toBe('refused')
})

test('graceMs does not pass while the process cannot answer', async () => {
  const server = await createNodeServer(() => new Response('ok')).listen(0)
  const stopped = server.stop({ graceMs: 1_000 })
  // No turn of the event loop, as on a machine that is busy with other things.
  Bun.sleepSync(1_200)
  // All that is due, and the few turns in which a server stops to listen.
  await Bun.sleep(1)
  for (let turns = 0; turns < 10; turns++) await new Promise((resolve) => setImmediate(resolve))
  expect((await fetch(server.url)).headers.get('connection')).toBe('close')
  await stopped
})

test('stop listens until the promise of beforeClose has resolved', async () => {
  const server = await createNodeServer(() => new Response('ok')).listen(0)
  const [called, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const beforeClose = () => {
    called.resolve()
    return released.promise
  }
  const stopped = server.stop({ graceMs: 1, beforeClose })
  await called.promise
  expect((await fetch(server.url)).headers.get('connection')).toBe('close')
  released.resolve()
  await stopped
  expect(await fetch(server.url).catch(() => 'refused')).toBe('refused')
})

test('a second stop does not wait for beforeClose of the first one', async () => {
  const { server, asked, release } = await startHolding()
  const connection = dial(server, get)
  await asked
  const before = Promise.withResolvers<void>()
  const stopped = server.stop({ beforeClose: () => before.promise, drainMs: 1 })
  const second = server.stop()
  before.resolve()
  // Longer than the first one would have left the connection open.
  await new Promise((resolve) => setTimeout(resolve, 20))
  release()
  expect((await connection.readResponse()).headers.get('connection')).toBe('close')
  await Promise.all([stopped, second])
})

test('a second stop ends the grace of the first one', async () => {
  const server = await createNodeServer(() => new Response('ok')).listen(0)
  const stopped = server.stop({ graceMs: 2 ** 30 })
  await Promise.all([server.stop(), stopped])
})

test('a second stop shortens the first one', async () => {
  const { server, asked } = await startHolding()
  const connection = dial(server, get)
  await asked
  const stopped = server.stop()
  await server.stop({ closeActiveConnections: true })
  await Promise.all([stopped, connection.closed])
})

for (const [runtime, command] of repetitions(...Object.entries(runtimes))) {
  test(`on ${runtime}, a stopped server keeps no process alive`, async () => {
    await using program = await startProgram(command, './upgrade-app.ts', 'upgrade')
    const upgraded = program.dial(`GET / HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`)
    await upgraded.until('101')
    const half = program.dial('GET / HT')
    const slow = program.dial(
      `POST /until-stop HTTP/1.1\r\n${host}Expect: 100-continue\r\nContent-Length: 3\r\n\r\nabc`,
    )
    await program.dial(`GET /arrived HTTP/1.1\r\n${host}Connection: close\r\n\r\n`).readResponse()
    program.kill('SIGTERM')
    const { headers, body } = await slow.readResponse()
    expect([headers.get('connection'), JSON.parse(body)[3]]).toEqual(['close', 'abc'])
    await Promise.all([slow.closed, half.closed, upgraded.closed])
    expect(await program.ended).toBe(0)
  }, 300_000)
}
