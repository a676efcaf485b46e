import { describe, expect, test } from 'bun:test'
import type { AddressInfo } from 'node:net'
import { createServer, type Server } from 'node:net'
import { gzipSync } from 'node:zlib'
import {
  createUpstream,
  type Operation,
  rest,
  toResponse,
  UpstreamInvalidError,
  UpstreamRejectedError,
  UpstreamUnreachableError,
} from '../../plugins/upstream-proxy/index.ts'
import { bodyOf, failure, json, key, ownAsset, ownGroup, startScriptedUpstream } from './scripted-upstream.ts'

const read = { action: 'GetAsset', id: 'a' } as const
const unavailable = { status: 502, message: 'Seedance upstream unavailable' }
const invalid = { status: 502, message: 'upstream returned an invalid response' }

/** An upstream that responds to every request with these bytes and closes the connection. */
const raw = async (text: string): Promise<{ url: string; server: Server }> => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(text))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

describe('an upstream without a complete response is unavailable', () => {
  test('refused connection: certainly not sent', async () => {
    const { url, server } = await raw('')
    await new Promise((resolve) => server.close(resolve))
    const { send } = createUpstream({ kind: rest({ url, key }) })
    for (const operation of [read, { action: 'CreateAssetGroup', body: bodyOf('{}') }] as const) {
      const error = await failure(send(operation))
      expect(error).toBeInstanceOf(UpstreamUnreachableError)
      expect(error).toMatchObject({ ...unavailable, sent: false })
    }
  })

  test('unknown host: certainly not sent', async () => {
    const { send } = createUpstream({ kind: rest({ url: 'http://upstream.invalid', key }) })
    expect(await failure(send({ action: 'DeleteAsset', asset: ownAsset('a') }))).toMatchObject({
      ...unavailable,
      sent: false,
    })
  })

  test('timeout before or during the response: possibly sent', async () => {
    await using silent = await startScriptedUpstream(() => {})
    await using slow = await startScriptedUpstream((response) => response.writeHead(200).write('{"Result":'))
    for (const upstream of [silent, slow]) {
      const { send } = upstream.upstream({ timeoutMs: 50 })
      expect(await failure(send({ action: 'CreateAssetGroup', body: bodyOf('{}') }))).toMatchObject({
        ...unavailable,
        sent: true,
      })
      await upstream.closed
    }
  })

  test('truncated response', async () => {
    for (const text of [
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"Result":{}}',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nd\r\n{"Result":{}}\r\n',
      'HTTP/1.1 400 Bad\r\ncontent-length: 100\r\n\r\n{"error"',
    ]) {
      const { url, server } = await raw(text)
      expect(await failure(createUpstream({ kind: rest({ url, key }) }).send(read))).toMatchObject({ status: 502 })
      server.close()
    }
  })

  test('invalid HTTP, of which the caller sees no details', async () => {
    for (const text of [
      '',
      'SSH-2.0-internal\r\n',
      'HTTP/1.1 2x0 OK\r\n\r\n',
      'HTTP/1.1 200 OK\r\nbad header\r\n\r\n',
    ]) {
      const { url, server } = await raw(text)
      const error = await failure(createUpstream({ kind: rest({ url, key }) }).send(read))
      expect(error).toMatchObject({ status: 502 })
      expect(await (error as UpstreamUnreachableError).toResponse().text()).not.toMatch(
        /127\.0\.0\.1|SSH|socket|header/i,
      )
      server.close()
    }
  })
})

describe('a response that cannot be forwarded is invalid', () => {
  test('a redirect is not followed', async () => {
    await using elsewhere = await startScriptedUpstream(json('{"Result":{"Id":"stolen"}}'))
    for (const status of [301, 302, 303, 307, 308]) {
      await using upstream = await startScriptedUpstream((response) => {
        response.writeHead(status, { location: `${elsewhere.url}/base/assets/a` }).end()
      })
      expect(await failure(upstream.upstream().send(read))).toMatchObject(invalid)
    }
    expect(elsewhere.seen).toEqual([])
  })

  test('a redirect with a JSON body is no success', async () => {
    await using upstream = await startScriptedUpstream((response) => {
      response.writeHead(300, { 'content-type': 'application/json' }).end('{"Result":{"Id":"a"}}')
    })
    expect(await failure(upstream.upstream().send(read))).toMatchObject(invalid)
  })

  for (const [what, text] of [
    ['empty', ''],
    ['blank', ' '],
    ['not JSON', '<html>'],
    ['an array', '[]'],
    ['a string', '"{}"'],
    ['two objects', '{}{}'],
    ['an incomplete object', '{"Result":{}'],
    ['too deep', `{"a":${'['.repeat(100)}${']'.repeat(100)}}`],
  ] as const) {
    test(`a success whose body is ${what}`, async () => {
      await using upstream = await startScriptedUpstream(json(text))
      expect(await failure(upstream.upstream().send(read))).toBeInstanceOf(UpstreamInvalidError)
      expect(await failure(upstream.upstream().send({ action: 'CreateAssetGroup', body: bodyOf('{}') }))).toMatchObject(
        invalid,
      )
    })
  }

  test('a success whose body is not UTF-8', async () => {
    await using upstream = await startScriptedUpstream((response) =>
      response.end(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])),
    )
    expect(await failure(upstream.upstream().send(read))).toMatchObject(invalid)
  })

  test('a response above the size limit, with and without Content-Length, success and error', async () => {
    const text = JSON.stringify({ Result: { a: 'x'.repeat(2000) } })
    for (const status of [200, 400]) {
      await using announced = await startScriptedUpstream(json(text, status, { 'content-length': String(text.length) }))
      await using chunked = await startScriptedUpstream((response) => {
        response.writeHead(status).write(text.slice(0, 1000))
        response.end(text.slice(1000))
      })
      for (const upstream of [announced, chunked]) {
        expect(await failure(upstream.upstream({ maxResponseBytes: 1000 }).send(read))).toMatchObject(invalid)
        expect(
          (
            await upstream
              .upstream({ maxResponseBytes: text.length })
              .send(read)
              .catch((e: UpstreamRejectedError) => e)
          ).status,
        ).toBe(status)
      }
    }
  })

  test('an invalid status code', async () => {
    const { url, server } = await raw('HTTP/1.1 799 Odd\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}')
    expect(await failure(createUpstream({ kind: rest({ url, key }) }).send(read))).toMatchObject({ status: 502 })
    server.close()
  })
})

describe('a response is forwarded unchanged', () => {
  test('an empty success, for operations without a result', async () => {
    for (const status of [200, 204]) {
      await using upstream = await startScriptedUpstream((response) => response.writeHead(status).end())
      const changes: readonly Operation[] = [
        { action: 'DeleteAsset', asset: ownAsset('a') },
        { action: 'DeleteAssetGroup', group: ownGroup('g') },
        { action: 'UpdateAsset', asset: ownAsset('a'), method: 'PUT', body: bodyOf('{}') },
        { action: 'UpdateAssetGroup', group: ownGroup('g'), method: 'PUT', body: bodyOf('{}') },
      ]
      for (const operation of changes) {
        const response = await upstream.upstream().send(operation)
        expect([response.status, response.json, toResponse(response).status]).toEqual([status, undefined, status])
      }
    }
  })

  test('byte for byte, with numbers, key order, duplicate keys and white space', async () => {
    const text = '\t{ "Result" : {"b":1.0,"a":12345678901234567890, "a":1e400,"\\u0041":"\\/"} }\n'
    await using upstream = await startScriptedUpstream(json(text, 201))
    const response = await upstream.upstream().send(read)
    expect(response.status).toBe(201)
    expect(await toResponse(response).text()).toBe(text)
  })

  test('a compressed one is decompressed, without Content-Encoding', async () => {
    const text = JSON.stringify({ Result: { a: 'ä'.repeat(5000) } })
    await using upstream = await startScriptedUpstream((response) => {
      const bytes = gzipSync(text)
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-encoding': 'gzip',
        'content-length': bytes.length,
      })
      response.end(bytes)
    })
    const response = toResponse(await upstream.upstream().send(read))
    expect(await response.text()).toBe(text)
    expect([response.headers.get('content-encoding'), response.headers.get('content-length')]).toEqual([null, null])
  })

  test('a compressed response cannot exceed the size limit', async () => {
    await using upstream = await startScriptedUpstream((response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(`{"a":"${'x'.repeat(5_000_000)}"}`))
    })
    expect(await failure(upstream.upstream({ maxResponseBytes: 100_000 }).send(read))).toMatchObject(invalid)
  })
})

describe('an upstream error is forwarded', () => {
  for (const [status, type, body] of [
    [400, 'application/json', '{"a":1.0,  "b":12345678901234567890}'],
    [403, 'text/html; charset=gbk', '<h1>\u00e4</h1>'],
    [404, 'application/problem+json', '{}'],
    [418, 'text/plain', ''],
    [429, 'application/json', 'not json'],
    [500, 'application/octet-stream', '\0\u0001'],
    [503, 'application/json', '[]'],
    [599, 'application/json', '{}'],
  ] as const) {
    test(`${status} ${type} keeps status, content type and bytes`, async () => {
      const bytes = Buffer.from(body, 'latin1')
      await using upstream = await startScriptedUpstream((response) => {
        response.writeHead(status, { 'content-type': type, 'retry-after': '3', 'x-request-id': 'r' }).end(bytes)
      })
      const error = await failure(upstream.upstream().send(read))
      expect(error).toBeInstanceOf(UpstreamRejectedError)
      const response = (error as UpstreamRejectedError).toResponse()
      expect([response.status, response.headers.get('content-type')]).toEqual([status, type])
      expect([response.headers.get('retry-after'), response.headers.get('x-request-id')]).toEqual(['3', 'r'])
      expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes)
    })
  }

  test('unless its body or headers contain the account’s credential', async () => {
    for (const step of [
      json(`{"message":"bad key Bearer ${key}"}`, 401),
      json('{}', 403, { 'x-request-id': `authorization=${key}` }),
    ]) {
      await using upstream = await startScriptedUpstream(step)
      const error = await failure(upstream.upstream().send(read))
      expect(error).toMatchObject(invalid)
      const response = (error as UpstreamInvalidError).toResponse()
      expect(JSON.stringify([...response.headers]) + (await response.text())).not.toContain(key)
    }
  })
})
