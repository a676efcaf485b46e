import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClientAddressOf, setPeerAddress } from '../../plugins/shared/http/client-address.ts'
import { freePort } from '../support/free-port.ts'
import { describeIf } from '../support/run-if.ts'
import { openServerFixture } from '../support/server-fixture.ts'
import { findProgram, run } from './fixture.ts'
import { proxies, type ReverseProxy, type RunningProxy, read, startProxy } from './proxies.ts'

/** Sends a request from another address than that of the proxy. */
const send = (
  url: string,
  { method = 'GET', headers = {}, body = '' }: { method?: string; headers?: Record<string, string>; body?: string },
) =>
  new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const length = { 'content-length': String(Buffer.byteLength(body)) }
    const outgoing = request(
      url,
      { method, headers: { ...headers, ...length }, localAddress: '127.0.0.9' },
      (incoming) => {
        let text = ''
        incoming.on('data', (chunk) => {
          text += chunk
        })
        incoming.on('end', () => resolve({ status: incoming.statusCode, text }))
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })

/** Sends a part of a body, and waits for the status that the gateway sends before it has the rest. */
const sendPartOfBody = (url: string, length = 1_000_000) =>
  new Promise<number | undefined>((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': String(length) }
    const outgoing = request(url, { method: 'POST', headers })
    outgoing.on('error', reject)
    outgoing.on('response', ({ statusCode }) => {
      resolve(statusCode)
      outgoing.on('error', () => {})
      outgoing.destroy()
    })
    outgoing.write('x'.repeat(500_000))
  })

/** Whether Caddy has written that a process did not respond to its check. */
const hasFailedCheck = (log: string, port: number): boolean =>
  log.split('\n').some((line) => line.includes('health_checker.active') && line.includes(`127.0.0.1:${port}`))

for (const proxy of proxies) {
  const installed = findProgram(proxy.program) !== undefined
  describeIf(installed, `${proxy.program} is not installed`)(`${proxy.program}, with its example,`, () => {
    /** What a scripted upstream has received. */
    let received: { method?: string; url?: string; headers: IncomingHttpHeaders; body: string } | undefined
    /** Number of requests that it has received, and how many of the next ones it breaks off. */
    let [times, breaks] = [0, 0]
    let [isReady, readinessChecks] = [true, 0]
    const upstream = createServer((incoming, outgoing) => {
      // The proxy's own questions.
      if (incoming.url === '/healthz') return void outgoing.end()
      if (incoming.url === '/readyz') {
        readinessChecks++
        outgoing.statusCode = isReady ? 200 : 503
        return void outgoing.end()
      }
      let body = ''
      incoming.on('data', (chunk) => {
        body += chunk
      })
      incoming.on('end', () => {
        received = { method: incoming.method, url: incoming.url, headers: incoming.headers, body }
        times++
        if (breaks-- > 0) incoming.socket.destroy()
        else outgoing.end('ok')
      })
    })
    let running: RunningProxy
    let port: number
    beforeAll(async () => {
      await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
      port = (upstream.address() as AddressInfo).port
      running = await startProxy(proxy, [port, port])
    }, 300_000)
    afterAll(async () => {
      await running?.stop()
      upstream.closeAllConnections()
      upstream.close()
    })

    test('tells the address of the client, and believes nothing that the client says about it', async () => {
      await send(running.url, { headers: { 'x-forwarded-for': '203.0.113.9, 10.0.0.1', forwarded: 'for=203.0.113.9' } })
      expect(received?.headers['x-forwarded-for']).toBe('127.0.0.9')
      const seen = new Request('http://gateway/', { headers: received?.headers as Record<string, string> })
      setPeerAddress(seen, '127.0.0.1')
      expect(createClientAddressOf(['127.0.0.1'])(seen)).toBe('127.0.0.9')
    })

    test('keeps Host, and removes the trace context of the client', async () => {
      const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'a=b' }
      await send(running.url, { headers: { ...trace, authorization: 'Bearer x' } })
      expect(received?.headers).toMatchObject({ host: new URL(running.url).host, authorization: 'Bearer x' })
      for (const name of Object.keys(trace)) expect(received?.headers).not.toHaveProperty(name)
    })

    test('passes the body of a GET', async () => {
      const body = '{"Filter":{"Name":"one"}}'
      await send(running.url, { headers: { 'content-type': 'application/json' }, body })
      expect([received?.method, received?.body]).toEqual(['GET', body])
    })

    test('passes a request below a path on without the path, changed as its comment says', async () => {
      const configure: ReverseProxy['configure'] = (site) => proxy.belowPath(proxy.configure(site))
      const below = await startProxy({ ...proxy, configure }, [port, port], '/gateway')
      try {
        for (const path of ['/api/uploads', '/v1/videos/a%20b?x=1&y=%2F', '/console']) {
          expect((await fetch(below.url + path)).status).toBe(200)
          expect(received?.url).toBe(path)
        }
        received = undefined
        await fetch(`${new URL(below.url).origin}/api/uploads`)
        await fetch(`${below.url}/metrics`)
        expect(received).toBe(undefined)
      } finally {
        await below.stop()
      }
    })

    test('does not make the metrics public', async () => {
      received = undefined
      expect((await fetch(`${running.url}/metrics`)).status).toBe(404)
      expect(received).toBe(undefined)
    })

    const tasks = '/api/v3/contents/generations/tasks'
    const groups = '/api/media/proxy/assets/groups'
    const key = { 'idempotency-key': 'one' }

    const repeated: readonly [string, string, Record<string, string>, string][] = [
      ['GET', '/v1/models', {}, ''],
      ['HEAD', '/v1/models', {}, ''],
      ['OPTIONS', '/v1/models', {}, ''],
    ]
    const repeatedWithBody: typeof repeated = [
      ['GET', groups, {}, '{"Filter":{"Name":"one"}}'],
      ['POST', groups, key, '{"Name":"one"}'],
      ['POST', '/v1/videos', key, '{"model":"one"}'],
      ['POST', tasks, key, '{"model":"one"}'],
    ]

    // Caddy cannot repeat a body.
    test.each([...repeated, ...(proxy.program === 'caddy' ? [] : repeatedWithBody)])(
      'sends a %s %s again whose connection broke, because that changes nothing',
      async (method, path, headers, body) => {
        ;[times, breaks] = [0, 1]
        const sent = await send(running.url + path, { method, headers, body })
        expect([sent.status, times, received?.method, received?.body]).toEqual([200, 2, method, body])
      },
    )

    test.each([
      ['POST', groups, {}, '{"Name":"one"}'],
      ['POST', '/v1/chat/completions', {}, '{"model":"one"}'],
      // A route that ignores the key.
      ['POST', '/v1/chat/completions', key, '{"model":"one"}'],
      ['POST', '/api/tokens', key, '{}'],
      ['PUT', '/api/media/proxy/assets/a', {}, '{"Name":"one"}'],
      ['PUT', '/api/media/proxy/assets/a', {}, 'x'.repeat(500_000)],
      ['PATCH', '/api/media/proxy/assets/a', {}, '{"Name":"one"}'],
      ['DELETE', `${tasks}/cgt-1`, {}, ''],
      ['DELETE', `${tasks}/cgt-1`, key, ''],
      ...(proxy.program === 'caddy' ? repeatedWithBody : []),
    ] satisfies typeof repeated)('never sends a %s %s a second time', async (method, path, headers, body) => {
      ;[times, breaks] = [0, 1]
      // HAProxy closes the connection, if it was in use before.
      const sent = await send(running.url + path, { method, headers, body }).catch(() => undefined)
      expect([sent?.status ?? 502, times]).toEqual([502, 1])
    })

    test('sends every request to the other process when one does not listen', async () => {
      for (const isFirst of [true, false]) {
        const silent = await freePort()
        const front = await startProxy(proxy, isFirst ? [silent, port] : [port, silent])
        try {
          // Caddy cannot send a body a second time, and learns from its first checks, a moment after its start, who does not listen.
          if (proxy.program === 'caddy') while (!hasFailedCheck(front.log(), silent)) await Bun.sleep(20)
          for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'GET', 'POST', 'DELETE', 'PUT', 'PATCH']) {
            const body = ['GET', 'DELETE'].includes(method) ? '' : 'x'.repeat(200_000)
            ;[times, breaks] = [0, 0]
            const sent = await send(`${front.url}/v1/files`, { method, body })
            expect([method, sent.text, times, received?.body]).toEqual([method, 'ok', 1, body])
          }
        } finally {
          await front.stop()
        }
      }
    })

    if (proxy.program !== 'nginx') {
      test.each(['both of which run', 'one of which does not listen'])(
        'asks processes that are not ready, %s, when none is',
        async (state) => {
          isReady = false
          const front = await startProxy(proxy, [state === 'both of which run' ? port : await freePort(), port])
          try {
            // The proxy learns that within seconds.
            const asked = readinessChecks
            while (readinessChecks < asked + 6) await Bun.sleep(20)
            for (const method of ['GET', 'POST', 'DELETE']) {
              const body = method === 'POST' ? 'x'.repeat(200_000) : ''
              ;[times, breaks] = [0, 0]
              const sent = await send(`${front.url}/v1/files`, { method, body })
              expect([sent.status, sent.text, times, received?.method]).toEqual([200, 'ok', 1, method])
              expect([received?.body, received?.headers['x-forwarded-for']]).toEqual([body, '127.0.0.9'])
            }
          } finally {
            isReady = true
            await front.stop()
          }
        },
        300_000,
      )
    }

    test('passes each event of a stream at once, and the disconnection of the client', async () => {
      await using fixture = await openServerFixture()
      const server = await fixture.start({
        TEXT_UPSTREAM_URL: fixture.emulator.text.url,
        TEXT_UPSTREAM_KEY: fixture.emulator.text.key,
        TRUSTED_PROXIES: '127.0.0.1',
      })
      fixture.emulator.faults.add({ kind: 'silence', action: 'CreateChatCompletion', events: 1 })
      const { token } = await fixture.addUser('ann')
      const gateway = Number(new URL(server.url).port)
      const front = await startProxy(proxy, [gateway, gateway])
      const client = new AbortController()
      try {
        const response = await fetch(`${front.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'accept-encoding': 'gzip' },
          signal: client.signal,
          body: '{"model":"doubao-seed-emulated","stream":true,"messages":[{"role":"user","content":"hi"}]}',
        })
        expect(response.headers.get('content-encoding')).toBe(null)
        const reader = response.body?.getReader()
        // The upstream is silent after its first event.
        expect(new TextDecoder().decode((await reader?.read())?.value)).toStartWith('data: {')
        client.abort()
        while (!fixture.emulator.calls.some(({ aborted }) => aborted)) await Bun.sleep(5)
        // Go's HTTP server, and so Caddy, sends no response while it waits for more of a body.
        if (proxy.program !== 'caddy') {
          expect(await sendPartOfBody(`${front.url}/v1/chat/completions`)).toBe(401)
          // The largest upload: nginx itself would respond 413.
          expect(await sendPartOfBody(`${front.url}/api/uploads`, 200 * 2 ** 20)).toBe(401)
        }
      } finally {
        await front.stop()
      }
    }, 300_000)
  })
}

/** The seconds of a setting. */
const secondsOf = (name: string, setting: string) => Number(new RegExp(`${setting} (\\d+)s`).exec(read(name))?.[1])

test('all proxies wait longer than a call without a stream may take, and close idle connections before the gateway', () => {
  const textSeconds = 200
  const keepAliveSeconds = 75
  const graceSeconds = 5
  expect(secondsOf('nginx.conf', 'proxy_read_timeout')).toBeGreaterThan(textSeconds)
  expect(secondsOf('Caddyfile', 'response_header_timeout')).toBeGreaterThan(textSeconds)
  expect(secondsOf('haproxy.cfg', 'timeout server')).toBeGreaterThan(textSeconds)
  // nginx does not learn from /readyz that a process stops.
  expect(secondsOf('nginx.conf', 'keepalive_timeout')).toBeLessThan(graceSeconds)
  expect(secondsOf('Caddyfile', 'keepalive')).toBeLessThan(keepAliveSeconds)
  expect(secondsOf('haproxy.cfg', 'pool-purge-delay')).toBeLessThan(keepAliveSeconds)
})

/** The examples with a certificate, as the program itself checks them. */
const checks = [
  {
    program: 'nginx',
    configurationOf: (folder: string) =>
      `pid ${folder}/pid; error_log stderr; events {} http { access_log off; ${read('nginx.conf')
        .replace('/etc/ssl/gateway.example.pem', join(folder, 'certificate.pem'))
        .replace('/etc/ssl/gateway.example.key', join(folder, 'key.pem'))} }`,
    options: ['-t', '-e', 'stderr', '-c'],
  },
  {
    program: 'haproxy',
    configurationOf: (folder: string) =>
      read('haproxy.cfg').replace('/etc/haproxy/gateway.example.pem', join(folder, 'both.pem')),
    options: ['-c', '-f'],
  },
]

for (const { program, configurationOf, options } of checks) {
  const [proxy, openssl] = [program, 'openssl'].map(findProgram)
  describeIf(Boolean(proxy && openssl), `${program} or openssl is not installed`)(`${program} itself`, () => {
    test('accepts the example with TLS, without a warning', async () => {
      const folder = await mkdtemp(join(tmpdir(), `sluice-${program}-`))
      try {
        const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
        const request = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=gateway.example']
        await run([openssl ?? '', 'req', ...request, '-keyout', key, '-out', certificate])
        await writeFile(join(folder, 'both.pem'), `${await Bun.file(certificate).text()}${await Bun.file(key).text()}`)
        const path = join(folder, 'configuration')
        await writeFile(path, configurationOf(folder))
        const { status, output, errors } = await run([proxy ?? '', ...options, path])
        expect({ status, text: output + errors }).toEqual({
          status: 0,
          text: expect.stringMatching(/test is successful|Configuration file is valid/),
        })
        expect(output + errors).not.toMatch(/warn/i)
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    })
  })
}
