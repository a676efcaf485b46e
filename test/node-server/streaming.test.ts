import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Program, runtimes, startProgram } from './program.ts'
import { host } from './raw-connection.ts'

describe.each(Object.entries(runtimes))('on %s, a body is sent as it comes', (_, command) => {
  let program: Program
  beforeAll(async () => {
    program = await startProgram(command, './streaming-app.ts')
  }, 300_000)
  afterAll(() => program[Symbol.asyncDispose]())

  const dial = (target: string, version = '1.1') => program.dial(`GET ${target} HTTP/${version}\r\n${host}\r\n`)
  const post = (path: string) => fetch(`http://127.0.0.1:${program.port}${path}`, { method: 'POST' })
  const counts = async () =>
    (await fetch(`http://127.0.0.1:${program.port}/counts`)).json() as Promise<
      Record<'producedBytes' | 'cancelled' | 'aborted' | 'memory', number>
    >

  for (const path of ['/lines', '/generator', '/events']) {
    test(`${path}: a line does not wait for the next one`, async () => {
      const connection = dial(path)
      const head = await connection.until('\r\n\r\n')
      expect(head.match(/^(?:transfer-encoding|content-length):.*/gim)?.map((line) => line.toLowerCase())).toEqual([
        'transfer-encoding: chunked',
      ])
      expect(await connection.until('{"line":1}')).not.toContain('2')
      await post('/next')
      expect(await connection.until('0\r\n\r\n')).toContain('{"line":2}')
    })
  }

  test('the headers do not wait for the first chunk', async () => {
    const connection = dial('/failing')
    await connection.until('\r\n\r\n')
    await post('/next')
    await connection.closed
  })

  test('a stream that fails does not look complete', async () => {
    const connection = dial('/failing')
    await connection.until('first\n')
    await post('/next')
    await expect(connection.until('0\r\n\r\n')).rejects.toThrow('the connection ended')
  })

  test('a body that is available at once has a length, also that of a generator', async () => {
    for (const [path, length] of [
      ['/quick-generator', '2'],
      ['/in-memory/10', '10'],
      ['/in-memory/1000000', '1000000'],
    ] as const) {
      const { headers } = await dial(path).readResponse()
      expect([path, headers.get('content-length'), headers.get('transfer-encoding')]).toEqual([path, length, null])
    }
  })

  for (const path of ['/zeros/400000000', '/fast-zeros']) {
    test(`${path}: a download of 400 MB waits for its reader`, async () => {
      const before = await counts()
      const connection = dial(path)
      await connection.until('\r\n\r\n')
      connection.socket.pause()
      let produced = -1
      let now = await counts()
      while (now.producedBytes !== produced) {
        produced = now.producedBytes
        await new Promise((resolve) => setTimeout(resolve, 200))
        now = await counts()
      }
      expect(produced - before.producedBytes).toBeLessThan(100_000_000)
      expect(now.memory - before.memory).toBeLessThan(100_000_000)
      // The caller reads nothing for longer than `responseStallMs`.
      while ((await counts()).cancelled === before.cancelled) await new Promise((resolve) => setTimeout(resolve, 50))
      connection.socket.resume()
      await connection.closed
    }, 300_000)
  }

  test('a caller that disconnects aborts the signal, before the response and during it, and cancels the stream', async () => {
    const before = await counts()
    const waiting = dial('/silent')
    const reading = dial('/lines')
    await reading.until('{"line":1}')
    for (const connection of [waiting, reading]) connection.socket.destroy()
    for (;;) {
      const { aborted, cancelled } = await counts()
      if (aborted === before.aborted + 2 && cancelled === before.cancelled + 1) break
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })

  test('a download reaches a reader completely', async () => {
    const { headers, body } = await dial('/zeros/30000000').readResponse()
    expect([headers.get('transfer-encoding'), body.length]).toEqual(['chunked', 30_000_000])
  }, 300_000)

  test('the length that the app announces is kept, and no response has another one', async () => {
    const { headers, body } = await dial('/announced/100000/100000').readResponse()
    expect([headers.get('content-length'), headers.get('transfer-encoding'), body.length]).toEqual([
      '100000',
      null,
      100_000,
    ])
    for (const actual of [99_999, 100_001]) {
      const connection = dial(`/announced/100000/${actual}`)
      await expect(connection.readResponse()).rejects.toThrow('the connection ended')
    }
  })

  test('HEAD cancels the stream, and keeps only an announced length', async () => {
    const before = await counts()
    for (const [path, length] of [
      ['/unknown-length', null],
      ['/known-length', '1000000'],
    ] as const) {
      const connection = program.dial(`HEAD ${path} HTTP/1.1\r\n${host}\r\nGET /in-memory/4 HTTP/1.1\r\n${host}\r\n`)
      const { status, headers } = await connection.readResponse(true)
      expect([path, status, headers.get('content-length')]).toEqual([path, 200, length])
      expect((await connection.readResponse()).body).toBe('xxxx')
    }
    expect((await counts()).cancelled).toBe(before.cancelled + 2)
  })

  test('204 has no length', async () => {
    const { status, headers } = await dial('/nothing').readResponse()
    expect([status, headers.get('content-length'), headers.get('transfer-encoding')]).toEqual([204, null, null])
  })

  test('HTTP/1.0 gets no chunks', async () => {
    const connection = dial('/lines', '1.0')
    expect((await connection.until('\r\n\r\n')).toLowerCase()).not.toContain('transfer-encoding')
    await connection.until('{"line":1}\n')
    await post('/next')
    expect(await connection.until('{"line":2}\n')).toBe('{"line":2}\n')
    await connection.closed
  })

  test('a request body and a response body stream at the same time, and trailers are ignored', async () => {
    const connection = program.dial(`POST /echo HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n`)
    for (const chunk of ['one', 'two']) {
      connection.write(`3\r\n${chunk}\r\n`)
      await connection.until(chunk)
    }
    connection.write(`0\r\nX-Trailer: 1\r\n\r\nGET /in-memory/4 HTTP/1.1\r\n${host}\r\n`)
    await connection.until('0\r\n\r\n')
    expect((await connection.readResponse()).body).toBe('xxxx')
  })
})
