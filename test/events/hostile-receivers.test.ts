import { expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { repetitions } from '../support/repetitions.ts'
import { denoBinary, type Runtime, root } from '../support/server.ts'

const runtimes: Readonly<Record<Runtime, () => readonly string[]>> = {
  bun: () => [process.execPath],
  deno: () => [denoBinary(), 'run', '-A'],
}

for (const [runtime, command] of repetitions(...Object.entries(runtimes))) {
  test(`a receiver gets no more than one request, to the checked address, for a bounded time (${runtime})`, async () => {
    // A proxy of the environment would resolve the name again.
    const proxy = createServer((_, response) => response.end('from the proxy'))
    let proxied = 0
    proxy.on('connection', () => proxied++)
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const [program = '', ...args] = command()
    const child = spawn(program, [...args, 'test/events/hostile-receivers.ts'], {
      cwd: root,
      env: {
        ...process.env,
        NO_COLOR: '1',
        HTTP_PROXY: address,
        HTTPS_PROXY: address,
        http_proxy: address,
        DENO_NO_UPDATE_CHECK: '1',
      },
    })
    let [output, errors] = ['', '']
    child.stdout.on('data', (chunk) => {
      output += chunk
    })
    child.stderr.on('data', (chunk) => {
      errors += chunk
    })
    await new Promise((resolve) => child.on('close', resolve))
    proxy.close()
    const late = 'no response in time'
    const notFound = 'the host cannot be reached at a public address'
    const invalid = 'the certificate of the host is not valid'
    expect([errors, JSON.parse(output || '{}')]).toEqual([
      '',
      {
        accepted: 204,
        request: { method: 'POST', url: '/hook?x=1', host: true, type: 'application/json', body: '{"a":"ä"}' },
        ...{ redirect: 307, redirected: 0 },
        ...{ rebinding: 204, reboundHost: true, rebound: [1, 0] },
        ...{ private: notFound, slowName: notFound, slowNameOrder: ['cancelled', 'ended'], otherFamily: 200 },
        ...{ silent: late, slowHeaders: late, interim: late },
        // Rejected by the parser or by the deadline.
        ...{ endlessHeaders: 'string', longHeader: 'string' },
        ...{ endlessBody: 200, endlessBodyClosed: true, memory: true },
        closed: 'the connection was interrupted',
        noHttp: 'string',
        refused: 'the host is not reachable',
        ...{ secure: 200, secureHost: true, secureAddress: 200, wrongName: invalid, untrusted: invalid },
        stopped: late,
      },
    ])
    expect(proxied).toBe(0)
  }, 300_000)
}
