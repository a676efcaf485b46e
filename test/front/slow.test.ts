import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type ChildProcess, spawn } from 'node:child_process'
import { connect } from 'node:net'
import { denoBinary } from '../support/server.ts'
import { host, json, Wire } from './wire.ts'

const file = new URL('./fixture.ts', import.meta.url).pathname
const runtimes = {
  Bun: () => [process.execPath, file],
  Deno: () => [denoBinary(), 'run', '-A', file],
} as const

/** A body of which most is missing. */
const half = (method: string, path: string) =>
  `${method} ${path} HTTP/1.1\r\n${host}${json}Content-Length: 100\r\n\r\n{"a":`

describe.each(Object.entries(runtimes))('on %s', (_, command) => {
  let child: ChildProcess
  let port = 0
  const wires: Wire[] = []
  const dial = (text = '') => {
    const wire = new Wire(connect(port, '127.0.0.1'))
    wires.push(wire)
    if (text !== '') wire.write(text)
    return wire
  }
  beforeAll(async () => {
    const [program = '', ...args] = command()
    child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const line = await new Promise<string>((resolve) => child.stdout?.once('data', (text) => resolve(String(text))))
    port = Number(line.split(' ').at(-1))
  }, 30_000)
  afterAll(() => {
    for (const wire of wires) wire.socket.destroy()
    child.kill('SIGKILL')
  })

  test.concurrent('a connection without a request, or with half of one, is closed', async () => {
    const others = [dial(), dial('GET / HT'), dial(`GET / HTTP/1.1\r\n${host}a: b`)]
    await Promise.all(others.map((wire) => wire.closed))
  }, 20_000)

  test.concurrent('headers that come letter by letter do not buy more time', async () => {
    const wire = dial(`GET / HTTP/1.1\r\n${host}a: `)
    const dripping = setInterval(() => wire.write('b'), 100)
    await wire.closed
    clearInterval(dripping)
  }, 20_000)

  test.concurrent('a connection is kept between two requests, but not for ever', async () => {
    const wire = dial(`GET / HTTP/1.1\r\n${host}\r\n`)
    expect((await wire.answer()).body).toBe('answered')
    wire.write(`GET / HTTP/1.1\r\n${host}\r\n`)
    expect((await wire.answer()).body).toBe('answered')
    await wire.closed
  }, 20_000)

  for (const method of ['GET', 'POST']) {
    test.concurrent(`a ${method} whose body stops coming is answered with 408, and closed`, async () => {
      const wire = dial(half(method, '/read'))
      const { status, headers, body } = await wire.answer()
      expect([status, headers.get('connection')?.toLowerCase(), JSON.parse(body).error.message]).toEqual([
        408,
        'close',
        'request body did not arrive in time',
      ])
      await wire.closed
    }, 20_000)

    test.concurrent(`a ${method} whose body comes letter by letter has an end too`, async () => {
      const wire = dial(half(method, '/read'))
      const dripping = setInterval(() => wire.write(' '), 200)
      expect((await wire.answer()).status).toBe(408)
      await wire.closed
      clearInterval(dripping)
    }, 20_000)

    test.concurrent(`a ${method} whose body is not read yet is not late`, async () => {
      const wire = dial(half(method, '/later'))
      wire.write(' '.repeat(95))
      const { status, body } = await wire.answer()
      expect([status, body]).toEqual([200, '100'])
    }, 20_000)

    test.concurrent(`what is missing of a ${method}’s body that nobody wanted is not waited for`, async () => {
      const wire = dial(half(method, '/'))
      expect((await wire.answer()).body).toBe('answered')
      await wire.closed
    }, 20_000)
  }

  test.concurrent('a silent call and a silent stream take their time', async () => {
    const call = dial(`POST /silent HTTP/1.1\r\n${host}Content-Length: 0\r\n\r\n`)
    const stream = dial(`GET /stream HTTP/1.1\r\n${host}\r\n`)
    expect((await stream.answer()).body).toBe('data: 1\n\ndata: 2\n\n')
    expect((await call.answer()).body).toBe('answered')
    await Promise.all([call.closed, stream.closed])
  }, 30_000)

  test.concurrent('hundreds that say nothing keep nobody out, and go', async () => {
    const idle = Array.from({ length: 300 }, (_, at) => dial(at % 2 === 0 ? '' : half('POST', '/read')))
    for (let turn = 0; turn < 20; turn++) {
      const wire = dial(`POST /read HTTP/1.1\r\n${host}Content-Length: 3\r\nConnection: close\r\n\r\nabc`)
      expect((await wire.answer()).body).toBe('3')
    }
    await Promise.all(idle.map((wire) => wire.closed))
  }, 30_000)
})
