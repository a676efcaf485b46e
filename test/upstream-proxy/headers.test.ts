import { describe, expect, test } from 'bun:test'
import { requestHeaders, responseHeaders } from '../../plugins/upstream-proxy/index.ts'
import { bodyOf, json, key, scripted } from './scripted.ts'

const callers = {
  authorization: 'Bearer sk-callers-own',
  cookie: 'session=1',
  forwarded: 'for=1.2.3.4',
  'x-forwarded-for': '1.2.3.4',
  'x-forwarded-host': 'evil',
  'x-real-ip': '1.2.3.4',
  'proxy-authorization': 'Basic eA==',
  'x-http-method-override': 'DELETE',
  'x-api-key': 'k',
  'content-encoding': 'gzip',
  'content-length': '999',
  te: 'trailers',
  expect: '100-continue',
  origin: 'http://evil',
  referer: 'http://evil',
  range: 'bytes=0-1',
  'if-none-match': '"x"',
}

describe('of a caller’s headers the upstream sees only what may pass', () => {
  test('none of the dangerous ones', () => {
    const seen = requestHeaders(new Headers(callers))
    for (const name of Object.keys(callers)) expect([name, seen.get(name)]).toEqual([name, null])
  })

  test('tracing, language and accept do, and what the host app adds', () => {
    const kept = { accept: 'a/b', 'accept-language': 'de', traceparent: 't', tracestate: 's', 'x-request-id': 'r' }
    const seen = requestHeaders(new Headers({ ...kept, 'x-tenant': 'one' }), ['x-tenant'])
    expect(Object.fromEntries(seen)).toMatchObject({ ...kept, 'x-tenant': 'one', via: '1.1 sluice' })
  })

  test('on the wire: the account’s credential, one host, a length, and no caller’s own', async () => {
    await using upstream = await scripted(json('{"Result":{"Id":"g"}}'))
    const body = bodyOf('{ "Name": "é" }')
    await upstream.upstream().send({ action: 'CreateAssetGroup', body }, { headers: new Headers(callers) })
    const [seen] = upstream.seen
    expect(seen?.headers).toMatchObject({
      authorization: `Bearer ${key}`,
      'accept-encoding': 'identity',
      'content-type': 'application/json',
      'content-length': String(body.bytes.length),
    })
    const names = (seen?.rawHeaders ?? []).filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase())
    expect(names.toSorted()).toEqual([...new Set(names)].sort())
    expect(names.filter((name) => name in callers && !['authorization', 'content-length'].includes(name))).toEqual([])
  })

  test('a host app that forwards authorization still sends the account’s own', async () => {
    await using upstream = await scripted(json('{"Result":{}}'))
    const headers = new Headers(callers)
    await upstream.upstream({ forwardHeaders: ['authorization'] }).send({ action: 'GetAsset', id: 'a' }, { headers })
    expect(upstream.seen[0]?.headers.authorization).toBe(`Bearer ${key}`)
  })
})

describe('of an upstream’s headers the caller sees what is meant for callers', () => {
  test('not what is hop by hop, of the account, or of another origin', () => {
    const withheld = {
      connection: 'close, X-Internal , retry-after',
      'x-internal': 'secret',
      'retry-after': '5',
      'keep-alive': 'timeout=1',
      'proxy-authenticate': 'Basic',
      trailer: 'x',
      'transfer-encoding': 'chunked',
      upgrade: 'h2c',
      'content-length': '3',
      'content-encoding': 'gzip',
      'set-cookie': 'a=b',
      'www-authenticate': 'Bearer',
      'access-control-allow-origin': '*',
      location: 'http://internal/',
      server: 'internal/1',
      'strict-transport-security': 'max-age=1',
      'alt-svc': 'h3',
    }
    const seen = responseHeaders(new Headers(withheld))
    expect([...seen.keys()]).toEqual([])
  })

  test('content type, Retry-After, request ids and unknown fields pass', () => {
    const passing = {
      'content-type': 'text/plain; charset=gbk',
      'retry-after': '7',
      'x-request-id': 'r-1',
      'x-tt-logid': 'l-1',
      'cache-control': 'no-store',
    }
    expect(Object.fromEntries(responseHeaders(new Headers(passing)))).toEqual(passing)
  })

  test('from the wire: repeated cookies are gone, repeated fields are joined', async () => {
    await using upstream = await scripted((response) => {
      response.setHeader('set-cookie', ['a=1', 'b=2'])
      response.setHeader('x-many', ['1', '2'])
      response.setHeader('connection', 'x-hop')
      response.setHeader('x-hop', 'gone')
      response.setHeader('content-type', 'application/json')
      response.end('{"Result":{}}')
    })
    const { headers } = await upstream.upstream().send({ action: 'GetAsset', id: 'a' })
    expect(headers.getSetCookie()).toEqual([])
    expect(headers.get('x-many')).toBe('1, 2')
    expect(headers.get('x-hop')).toBeNull()
  })
})
