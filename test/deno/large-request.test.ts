import { expect, test } from 'bun:test'
import { fileURLToPath } from 'node:url'
import { denoBinary } from '../support/server.ts'

test('Deno sends a large request step by step, with its length and without a change', async () => {
  const seen: unknown[] = []
  const silence = Promise.withResolvers<Response>()
  await using upstream = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (request.url.endsWith('/silent')) return silence.promise
      const bytes = await request.bytes()
      const { headers } = request
      const same = bytes.every((byte, nth) => byte === nth % 251)
      seen.push([headers.get('content-length'), headers.get('transfer-encoding'), headers.get('content-type'), same])
      return new Response('ok')
    },
  })
  const program = fileURLToPath(new URL('./large-request-program.ts', import.meta.url))
  await using deno = Bun.spawn([denoBinary(), 'run', '--no-prompt', '--allow-net', program, upstream.url.href], {
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [output, errors] = await Promise.all([deno.stdout.text(), deno.stderr.text()])
  silence.resolve(new Response())
  expect([errors, await deno.exited]).toEqual(['', 0])
  expect(JSON.parse(output)).toEqual({
    kinds: ['blob', 'blob', 'blob'],
    statuses: [200, 200],
    aborted: 'TimeoutError',
  })
  const length = String(3 * 2 ** 19)
  expect(seen).toEqual(Array.from({ length: 2 }, () => [length, null, 'application/json', true]))
}, 300_000)
