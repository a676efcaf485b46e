import { describe, expect, test } from 'bun:test'
import { renderRejection } from '../../src/app/request/rejection.ts'
import { host, startTestServer } from './raw-connection.ts'

const renderError = renderRejection('media')
const five = 'Content-Length: 5\r\n'
const chunked = 'Transfer-Encoding: chunked\r\n'

/** The status of a request and whether its connection closes. */
const fate = async (request: string) => {
  let handled = 0
  await using served = await startTestServer(
    async (request) => new Response(`${++handled} ${(await request.text()).length}`),
    {
      renderRejection: renderError,
    },
  )
  const connection = served.dial()
  connection.write(request)
  const status = Number((await connection.until('\r\n')).split(' ')[1])
  if (status !== 200) await connection.closed
  return { status, handled }
}

describe('a request with ambiguous framing is rejected before the app, and its connection is closed', () => {
  for (const [what, head, status] of [
    ['a duplicate Content-Length', `${host}${five}${five}\r\nhello`, 400],
    ['a duplicate Content-Length in other case', `${host}${five}cOnTeNt-LeNgTh: 5\r\n\r\nhello`, 400],
    ['two different lengths', `${host}${five}Content-Length: 6\r\n\r\nhello!`, 400],
    ['a list of lengths', `${host}Content-Length: 5, 5\r\n\r\nhello`, 400],
    ['a signed length', `${host}Content-Length: +5\r\n\r\nhello`, 400],
    ['an empty length', `${host}Content-Length: \r\n\r\n`, 400],
    ['a length and chunks', `${host}${five}${chunked}\r\n5\r\nhello\r\n0\r\n\r\n`, 400],
    ['chunks and a length', `${host}${chunked}${five}\r\n5\r\nhello\r\n0\r\n\r\n`, 400],
    ['chunks twice', `${host}${chunked}${chunked}\r\n5\r\nhello\r\n0\r\n\r\n`, 400],
    ['chunks in a list', `${host}Transfer-Encoding: chunked, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`, 400],
    [
      'chunked that is not the last coding',
      `${host}Transfer-Encoding: chunked, gzip\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
      400,
    ],
    ['an unknown coding', `${host}Transfer-Encoding: xchunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`, 501],
    ['gzip', `${host}Transfer-Encoding: gzip\r\n\r\nhello`, 501],
    ['gzip in chunks', `${host}Transfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`, 501],
    ['identity', `${host}Transfer-Encoding: identity\r\n\r\n`, 501],
    ['no coding', `${host}Transfer-Encoding: \r\n\r\n`, 501],
    ['chunks with a parameter', `${host}Transfer-Encoding: chunked;a=b\r\n\r\n5\r\nhello\r\n0\r\n\r\n`, 501],
  ] as const) {
    for (const method of ['GET', 'POST']) {
      test(`${method} with ${what}: ${status}`, async () => {
        const found = await fate(`${method} / HTTP/1.1\r\n${head}`)
        expect([found.status, found.handled]).toEqual([status, 0])
      })
    }
  }

  test('chunks in HTTP/1.0', async () => {
    const found = await fate(`POST / HTTP/1.0\r\n${host}${chunked}\r\n5\r\nhello\r\n0\r\n\r\n`)
    expect([found.status, found.handled]).toEqual([400, 0])
  })

  for (const name of [
    ...['a/b', 'a,b', 'x@y', 'a?b', 'a#b', 'a b', 'a\\b', 'a\tb', 'a"b', 'a<b', "a'b", 'a%41', '\u00e4'],
    ...[
      ':80',
      'a:b',
      'a:-1',
      'a:99999',
      'a:65536',
      'a:000080',
      'a:80:80',
      'a:80/',
      '::1',
      '[::1',
      '::1]',
      '[zz]',
      '[]',
      '[::1]x',
    ],
    ...['http://a', 'a;b', 'a=b', 'a&b', '*', '{a}', 'a|b', 'a^b', 'a`b'],
  ]) {
    test(`a Host of ${JSON.stringify(name)}: 400`, async () => {
      const found = await fate(`GET / HTTP/1.1\r\nHost: ${name}\r\n\r\n`)
      expect([found.status, found.handled]).toEqual([400, 0])
    })
  }
})

describe('a valid request is accepted', () => {
  for (const name of [
    'a',
    'a:80',
    'a:',
    'A.example',
    'a_b.c-d',
    '127.0.0.1:65535',
    '[::1]',
    '[2001:db8::1]:8080',
    '[::ffff:192.0.2.1]',
    '',
    'a.',
  ]) {
    test(`a Host of ${JSON.stringify(name)}`, async () => {
      const found = await fate(`GET / HTTP/1.1\r\nHost: ${name}\r\n\r\n`)
      expect([found.status, found.handled]).toEqual([200, 1])
    })
  }

  for (const head of [
    `${five}\r\nhello`,
    `${chunked}\r\n5\r\nhello\r\n0\r\n\r\n`,
    `Transfer-Encoding: CHUNKED\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  ]) {
    test(JSON.stringify(head), async () => {
      const found = await fate(`POST / HTTP/1.1\r\n${host}${head}`)
      expect([found.status, found.handled]).toEqual([200, 1])
    })
  }
})

test('the error has the format of the requested part of the server', async () => {
  await using served = await startTestServer(() => new Response('handled'), { renderRejection: renderError })
  for (const [path, shape] of [
    [
      '/v1/models',
      { error: { message: 'request is not valid', type: 'invalid_request_error', param: null, code: null } },
    ],
    [
      '/api/media/proxy/assets',
      { success: false, error: { message: 'request is not valid', type: 'media_proxy_error' } },
    ],
  ] as const) {
    const { status, body, headers } = await served.ask(`GET ${path} HTTP/1.1\r\nHost: a/b\r\n\r\n`)
    expect([status, JSON.parse(body), headers.get('connection')]).toEqual([400, shape, 'close'])
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  }
})

test('bytes after such a request are not parsed as another request', async () => {
  let handled = 0
  await using served = await startTestServer(() => new Response(String(++handled)), { renderRejection: renderError })
  for (const head of [`Host: a/b\r\n`, `${host}${five}${five}`, `${host}Transfer-Encoding: gzip, chunked\r\n`]) {
    const connection = served.dial()
    connection.write(
      `POST / HTTP/1.1\r\n${head}\r\nGET /smuggled HTTP/1.1\r\n${host}\r\nGET /smuggled HTTP/1.1\r\n${host}\r\n`,
    )
    await connection.closed
  }
  expect(handled).toBe(0)
})
