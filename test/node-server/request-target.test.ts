import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { host, startTestServer } from './raw-connection.ts'

const echo = (request: Request) => Response.json([request.method, request.url])

describe('every form of request target becomes a URL with the host of the caller', () => {
  for (const [target, url] of [
    ['/a/b?c=d', 'http://gateway/a/b?c=d'],
    ['http://elsewhere/a?b=c', 'http://elsewhere/a?b=c'],
    ['https://elsewhere:1/a', 'http://elsewhere:1/a'],
    ['https://elsewhere:443/a', 'http://elsewhere/a'],
    ['http://user:secret@elsewhere', 'http://elsewhere/'],
    ['http://ELSEWHERE/a/../b', 'http://elsewhere/b'],
    ['//elsewhere/a', 'http://gateway//elsewhere/a'],
    ['/@elsewhere', 'http://gateway/@elsewhere'],
    ['/a%2fb%00', 'http://gateway/a%2fb%00'],
    ['/?a=http://x/', 'http://gateway/?a=http://x/'],
  ] as const) {
    test(`${target} becomes ${url}`, async () => {
      await using served = await startTestServer(echo)
      const { status, body } = await served.ask(`GET ${target} HTTP/1.1\r\n${host}\r\n`)
      expect([status, JSON.parse(body)]).toEqual([200, ['GET', url]])
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

  test('Host is the host of the URL, and nothing else of it', async () => {
    await using served = await startTestServer(echo)
    for (const [name, origin] of [
      ['g', 'http://g:80'],
      ['g:1', 'http://g:01'],
      ['G.example:80', 'http://g.example'],
      ['g.example:443', 'http://g.example:443'],
      ['g:', 'http://g:80'],
      ['a_b~c', 'http://a_b~c'],
      ['[::1]:3000', 'http://[::1]:3000'],
      ['127.1', 'http://127.0.0.1'],
      ['', 'http://localhost'],
    ] as const) {
      for (const path of ['/zz/q?r', '/zz/../a%20']) {
        const { status, body } = await served.ask(`GET ${path} HTTP/1.1\r\nHost: ${name}\r\n\r\n`)
        const { pathname, search } = new URL(path, origin)
        expect([name, status, JSON.parse(body)]).toEqual([name, 200, ['GET', origin + pathname + search]])
      }
    }
    for (const name of ['a/b', 'x@y', 'a?b', 'a#b', 'a\\b', 'evil.example:99999', '1.2.3.4.5', '256.1.1.1', 'xn--a']) {
      const { status, headers } = await served.ask(`GET /zz/q HTTP/1.1\r\nHost: ${name}\r\n\r\n`)
      expect([name, status, headers.get('connection')]).toEqual([name, 400, 'close'])
    }
  })

  test('an Elysia app finds the path behind a host of any length', async () => {
    const app = new Elysia().get('/admin', 'admin').get('/*', ({ path }) => path)
    await using served = await startTestServer((request) => app.fetch(request))
    for (const name of ['a', 'ab', 'a.b', 'a:', 'a:8', 'a:80', '1', 'abc', 'abcd', 'a.example:3000']) {
      for (const path of ['/abc/admin', '/ab/admin', '/a/admin', '/b/../abc/admin']) {
        const seen = new URL(path, 'http://localhost').pathname
        expect([name, (await served.ask(`GET ${path} HTTP/1.1\r\nHost: ${name}\r\n\r\n`)).body]).toEqual([name, seen])
        const absolute = `GET http://${name}${path} HTTP/1.1\r\n${host}\r\n`
        expect([name, (await served.ask(absolute)).body]).toEqual([name, seen])
      }
    }
  })

  test('HTTP/1.0 without Host has a URL with localhost', async () => {
    await using served = await startTestServer(echo)
    const { body } = await served.ask('GET /a HTTP/1.0\r\n\r\n')
    expect(JSON.parse(body)).toEqual(['GET', 'http://localhost/a'])
  })
})

test('the scheme of the URL is that of the option, whatever the target says', async () => {
  await using served = await startTestServer(echo, { scheme: 'https' })
  for (const [target, url] of [
    ['/a', 'https://gateway/a'],
    ['http://elsewhere:443/a', 'https://elsewhere/a'],
  ] as const) {
    const { body } = await served.ask(`GET ${target} HTTP/1.1\r\n${host}\r\n`)
    expect(JSON.parse(body)[1]).toBe(url)
  }
})
