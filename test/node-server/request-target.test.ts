import { describe, expect, test } from 'bun:test'
import { host, startTestServer } from './raw-connection.ts'

const echo = (request: Request) => Response.json([request.method, request.url])

describe('every form of request target becomes a path', () => {
  for (const [target, path] of [
    ['/a/b?c=d', '/a/b?c=d'],
    ['http://elsewhere/a?b=c', '/a?b=c'],
    ['https://elsewhere:1/a', '/a'],
    ['http://user:secret@elsewhere', '/'],
    ['//elsewhere/a', '//elsewhere/a'],
    ['/@elsewhere', '/@elsewhere'],
    ['/a%2fb%00', '/a%2fb%00'],
    ['/?a=http://x/', '/?a=http://x/'],
  ] as const) {
    test(`${target} becomes ${path}`, async () => {
      await using served = await startTestServer(echo)
      const { status, body } = await served.ask(`GET ${target} HTTP/1.1\r\n${host}\r\n`)
      expect([status, JSON.parse(body)]).toEqual([200, ['GET', `http://localhost${path}`]])
    })
  }

  for (const target of ['*', 'ftp://elsewhere/a', 'a/b', 'http://', 'javascript:1']) {
    test(`${target} is rejected`, async () => {
      let handled = 0
      await using served = await startTestServer(() => Response.json(++handled))
      const connection = served.dial()
      connection.write(`OPTIONS ${target} HTTP/1.1\r\n${host}\r\n`)
      expect(await connection.until('\r\n')).toStartWith('HTTP/1.1 400')
      expect(handled).toBe(0)
    })
  }
})

describe('exactly one Host header is required', () => {
  for (const [what, hosts] of [
    ['none', ''],
    ['two', 'Host: a\r\nHost: b\r\n'],
    ['a duplicate', 'Host: a\r\nhOST: a\r\n'],
  ] as const) {
    test(`${what}: 400 before the app`, async () => {
      let handled = 0
      await using served = await startTestServer(() => Response.json(++handled))
      const connection = served.dial()
      connection.write(`GET / HTTP/1.1\r\n${hosts}\r\n`)
      expect(await connection.until('\r\n')).toStartWith('HTTP/1.1 400')
      expect(handled).toBe(0)
    })
  }

  test('Host does not change the path', async () => {
    await using served = await startTestServer(echo)
    for (const name of ['g', 'a/b', 'x@y', 'a?b', 'a#b', '[::1]', '', 'evil.example:99999']) {
      const { status, body } = await served.ask(`GET /zz/q HTTP/1.1\r\nHost: ${name}\r\n\r\n`)
      if (status === 200) expect(JSON.parse(body)).toEqual(['GET', 'http://localhost/zz/q'])
      else expect(status).toBe(400)
    }
  })
})
