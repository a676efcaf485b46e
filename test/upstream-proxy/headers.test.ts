import { describe, expect, test } from 'bun:test'
import { requestHeaders, responseHeaders } from '../../plugins/upstream-proxy/index.ts'
import { bodyOf, json, key, startScriptedUpstream } from './scripted-upstream.ts'

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

describe('request headers to the upstream', () => {
  test('exclude the dangerous ones', () => {
    const seen = requestHeaders(new Headers(callers))
    for (const name of Object.keys(callers)) expect([name, seen.get(name)]).toEqual([name, null])
  })

  test('include request id, language, accept and those that the host app adds', () => {
    const kept = { accept: 'a/b', 'accept-language': 'de', 'x-request-id': 'r' }
    const seen = requestHeaders(new Headers({ ...kept, 'x-tenant': 'one' }), ['x-tenant'])
    expect(Object.fromEntries(seen)).toMatchObject({ ...kept, 'x-tenant': 'one', via: '1.1 sluice' })
  })

  test('include the trace context only if the host app adds it: the upstream belongs to somebody else', () => {
    const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'vendor=value' }
    expect(Object.keys(Object.fromEntries(requestHeaders(new Headers(trace))))).not.toContain('traceparent')
    expect(Object.keys(Object.fromEntries(requestHeaders(new Headers(trace))))).not.toContain('tracestate')
    expect(Object.fromEntries(requestHeaders(new Headers(trace), Object.keys(trace)))).toMatchObject(trace)
  })

  test('on the wire: the account’s credential, one Host, Content-Length, and no credential of the caller', async () => {
    await using upstream = await startScriptedUpstream(json('{"Result":{"Id":"g"}}'))
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

  test('contain the account’s credential even if the host app forwards authorization', async () => {
    await using upstream = await startScriptedUpstream(json('{"Result":{}}'))
    const headers = new Headers(callers)
    await upstream.upstream({ forwardHeaders: ['authorization'] }).send({ action: 'GetAsset', id: 'a' }, { headers })
    expect(upstream.seen[0]?.headers.authorization).toBe(`Bearer ${key}`)
  })
})

const inert = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
}

const seen = (headers: Record<string, string>, status?: number) =>
  Object.fromEntries(responseHeaders(new Headers(headers), status))

describe('response headers to the caller', () => {
  test('exclude hop-by-hop headers and those for the account, the origin, proxies or browsers', () => {
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
      authorization: 'Bearer key',
      refresh: '0; url=http://evil.example/',
      link: '<http://evil.example/x.css>; rel=stylesheet',
      'x-accel-redirect': '/internal/secrets',
      'x-accel-buffering': 'no',
      'x-sendfile': '/etc/passwd',
      'x-lighttpd-send-file': '/etc/passwd',
      'x-account-id': 'account-1',
      'x-user': 'root',
      'cache-control': 'public, max-age=31536000',
      etag: '"1"',
      age: '1',
      vary: '*',
      'content-disposition': 'attachment; filename=run.exe',
      'content-location': 'http://internal/1',
      'content-security-policy': "default-src 'unsafe-inline'",
      'x-content-type-options': 'sniff',
      'service-worker-allowed': '/',
      sourcemap: 'http://evil.example/',
      'report-to': '{}',
      nel: '{}',
      'origin-agent-cluster': '?0',
      'x-debug': 'key',
    }
    expect(seen(withheld)).toEqual(inert)
  })

  test('include content type, language, Retry-After and request ids', () => {
    const passing = {
      'content-type': 'text/plain; charset=gbk',
      'content-language': 'zh',
      'retry-after': '7',
      'retry-after-ms': '7000',
      'x-should-retry': 'true',
      'x-request-id': 'r-1',
      'x-tt-logid': 'l-1',
    }
    expect(seen(passing)).toEqual({ ...passing, ...inert, 'x-upstream-request-id': 'r-1' })
  })

  test('include the rate limits of the account, but the remaining quota only with a 429', () => {
    const limits = { 'x-ratelimit-limit-requests': '10', 'x-ratelimit-limit-tokens': '100' }
    const left = { 'x-ratelimit-remaining-requests': '3', 'x-ratelimit-reset-requests': '1s' }
    for (const status of [200, 400, 500]) expect(seen({ ...limits, ...left }, status)).toEqual({ ...limits, ...inert })
    expect(seen({ ...limits, ...left }, 429)).toEqual({ ...limits, ...left, ...inert })
  })

  test('from the wire: repeated fields are joined, and fields named by Connection are removed', async () => {
    await using upstream = await startScriptedUpstream((response) => {
      response.setHeader('set-cookie', ['a=1', 'b=2'])
      response.setHeader('x-request-id', ['1', '2'])
      response.setHeader('connection', 'x-tt-logid')
      response.setHeader('x-tt-logid', 'gone')
      response.setHeader('content-type', 'application/json')
      response.end('{"Result":{}}')
    })
    const { headers } = await upstream.upstream().send({ action: 'GetAsset', id: 'a' })
    expect(headers.getSetCookie()).toEqual([])
    expect(headers.get('x-request-id')).toBe('1, 2')
    expect(headers.get('x-upstream-request-id')).toBe('1, 2')
    expect(headers.get('x-tt-logid')).toBeNull()
  })
})
