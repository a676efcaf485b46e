import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClientAddressOf, setPeerAddress } from '../../plugins/shared/http/client-address.ts'
import { describeIf } from '../support/run-if.ts'
import { openServerFixture } from '../support/server-fixture.ts'
import { findProgram, freePort, operatingFile, run } from './fixture.ts'

const read = (name: string) => readFileSync(operatingFile(name), 'utf8')

/** How a proxy is started with its example, on other addresses, and without TLS. */
interface Proxy {
  readonly program: string
  /** The example changed as its comment says, for a gateway below `/gateway`. */
  belowPath(example: string): string
  configure(site: { readonly folder: string; readonly port: number; readonly upstream: number }): string
  command(program: string, folder: string): readonly string[]
}

const proxies: readonly Proxy[] = [
  {
    program: 'nginx',
    belowPath: (example) =>
      example
        .replace('location / {', 'location /gateway/ {')
        .replace('proxy_pass http://sluice;', 'proxy_pass http://sluice/;')
        .replace('location = /metrics', 'location = /gateway/metrics'),
    configure: ({ folder, port, upstream }) => {
      const site = read('nginx.conf')
        .replace('server 127.0.0.1:3000;', `server 127.0.0.1:${upstream};`)
        .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
        .replace('listen [::]:443 ssl;', '')
        .replace(/ssl_certificate.*;/g, '')
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((name) => `${name}_temp_path ${folder}/${name};`)
        .join('\n')
      return `daemon off; master_process off; pid ${folder}/pid; error_log stderr; events {}
        http { access_log off; ${temporary}\n${site} }`
    },
    command: (program, folder) => [program, '-e', 'stderr', '-p', folder, '-c', join(folder, 'configuration')],
  },
  {
    program: 'caddy',
    belowPath: (example) => example.replace(/^(\S+ \{)\n([\s\S]*)^\}/m, '$1\nhandle_path /gateway/* {\n$2}\n}'),
    configure: ({ port, upstream }) =>
      `{\nadmin off\n}\n${read('Caddyfile')}`
        .replace('{$SITE:gateway.example}', `http://127.0.0.1:${port}`)
        .replace('{$UPSTREAM:127.0.0.1:3000}', `127.0.0.1:${upstream}`),
    command: (program, folder) => [program, 'run', '--adapter', 'caddyfile', '--config', join(folder, 'configuration')],
  },
]

const startProxy = async ({ program, configure, command }: Proxy, upstream: number, path = '') => {
  const folder = await mkdtemp(join(tmpdir(), `sluice-${program}-`))
  const port = await freePort()
  await writeFile(join(folder, 'configuration'), configure({ folder, port, upstream }))
  const child = Bun.spawn([...command(findProgram(program) ?? '', folder)], {
    env: { PATH: process.env.PATH ?? '', HOME: folder },
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  const url = `http://127.0.0.1:${port}${path}`
  // The proxy itself answers for /metrics.
  while (!(await fetch(`${url}/metrics`).catch(() => undefined))) {
    if (child.exitCode !== null) throw new Error(`${program} has ended with ${child.exitCode}`)
    await Bun.sleep(20)
  }
  return {
    url,
    async stop() {
      // On SIGTERM, Caddy waits for open streams.
      child.kill('SIGKILL')
      await child.exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}

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

for (const proxy of proxies) {
  const installed = findProgram(proxy.program) !== undefined
  describeIf(installed, `${proxy.program} is not installed`)(`${proxy.program}, with its example,`, () => {
    /** What a scripted upstream has received. */
    let received: { method?: string; url?: string; headers: IncomingHttpHeaders; body: string } | undefined
    const upstream = createServer((incoming, outgoing) => {
      let body = ''
      incoming.on('data', (chunk) => {
        body += chunk
      })
      incoming.on('end', () => {
        received = { method: incoming.method, url: incoming.url, headers: incoming.headers, body }
        outgoing.end('ok')
      })
    })
    let running: Awaited<ReturnType<typeof startProxy>>
    beforeAll(async () => {
      await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
      running = await startProxy(proxy, (upstream.address() as AddressInfo).port)
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
      const configure: Proxy['configure'] = (site) => proxy.belowPath(proxy.configure(site))
      const { port } = upstream.address() as AddressInfo
      const below = await startProxy({ ...proxy, configure }, port, '/gateway')
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

    test('passes each event of a stream at once, and the disconnection of the client', async () => {
      await using fixture = await openServerFixture()
      const server = await fixture.start({
        TEXT_UPSTREAM_URL: fixture.emulator.text.url,
        TEXT_UPSTREAM_KEY: fixture.emulator.text.key,
        TRUSTED_PROXIES: '127.0.0.1',
      })
      fixture.emulator.faults.add({ kind: 'silence', action: 'CreateChatCompletion', events: 1 })
      const { token } = await fixture.addUser('ann')
      const front = await startProxy(proxy, Number(new URL(server.url).port))
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
        if (proxy.program === 'nginx') {
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

test('both proxies wait longer than a call without a stream may take, and close idle connections before the gateway', () => {
  const textSeconds = 200
  const keepAliveSeconds = 75
  expect(secondsOf('nginx.conf', 'proxy_read_timeout')).toBeGreaterThan(textSeconds)
  expect(secondsOf('Caddyfile', 'response_header_timeout')).toBeGreaterThan(textSeconds)
  expect(secondsOf('nginx.conf', 'keepalive_timeout')).toBeLessThan(keepAliveSeconds)
  expect(secondsOf('Caddyfile', 'keepalive')).toBeLessThan(keepAliveSeconds)
})

const [nginx, openssl] = ['nginx', 'openssl'].map(findProgram)
describeIf(Boolean(nginx && openssl), 'nginx or openssl is not installed')('nginx -t', () => {
  test('accepts the example with TLS', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-nginx-'))
    try {
      const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
      const options = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=gateway.example']
      await run([openssl ?? '', 'req', ...options, '-keyout', key, '-out', certificate])
      const site = read('nginx.conf')
        .replace('/etc/ssl/gateway.example.pem', certificate)
        .replace('/etc/ssl/gateway.example.key', key)
      const path = join(folder, 'configuration')
      await writeFile(path, `pid ${folder}/pid; error_log stderr; events {} http { access_log off; ${site} }`)
      const { status, errors } = await run([nginx ?? '', '-t', '-e', 'stderr', '-c', path])
      expect({ status, errors }).toEqual({ status: 0, errors: expect.stringContaining('test is successful') })
      expect(errors).not.toContain('[warn]')
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
