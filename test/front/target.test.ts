import { describe, expect, test } from 'bun:test'
import { front, host } from './wire.ts'

const echo = (request: Request) => Response.json([request.method, request.url])

describe('a request target is a path, whatever its form', () => {
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
    test(`${target} is ${path} here`, async () => {
      await using served = await front(echo)
      const { status, body } = await served.ask(`GET ${target} HTTP/1.1\r\n${host}\r\n`)
      expect([status, JSON.parse(body)]).toEqual([200, ['GET', `http://localhost${path}`]])
    })
  }

  for (const target of ['*', 'ftp://elsewhere/a', 'a/b', 'http://', 'javascript:1']) {
    test(`${target} is refused`, async () => {
      let handled = 0
      await using served = await front(() => Response.json(++handled))
      const wire = served.dial()
      wire.write(`OPTIONS ${target} HTTP/1.1\r\n${host}\r\n`)
      expect(await wire.until('\r\n')).toStartWith('HTTP/1.1 400')
      expect(handled).toBe(0)
    })
  }
})

describe('one Host, neither none nor two', () => {
  for (const [what, hosts] of [
    ['none', ''],
    ['two', 'Host: a\r\nHost: b\r\n'],
    ['twice the same', 'Host: a\r\nhOST: a\r\n'],
  ] as const) {
    test(`${what}: 400, and nobody is asked`, async () => {
      let handled = 0
      await using served = await front(() => Response.json(++handled))
      const wire = served.dial()
      wire.write(`GET / HTTP/1.1\r\n${hosts}\r\n`)
      expect(await wire.until('\r\n')).toStartWith('HTTP/1.1 400')
      expect(handled).toBe(0)
    })
  }

  test('whatever it says, the path stays the path', async () => {
    await using served = await front(echo)
    for (const name of ['g', 'a/b', 'x@y', 'a?b', 'a#b', '[::1]', '', 'evil.example:99999']) {
      const { status, body } = await served.ask(`GET /zz/q HTTP/1.1\r\nHost: ${name}\r\n\r\n`)
      if (status === 200) expect(JSON.parse(body)).toEqual(['GET', 'http://localhost/zz/q'])
      else expect(status).toBe(400)
    }
  })
})
