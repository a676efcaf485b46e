import { expect, test } from 'bun:test'
import { fileURLToPath } from 'node:url'
import { denoBinary } from '../support/server.ts'

test('Deno, which computes passwords on the thread that handles requests, computes one at a time', async () => {
  const program = fileURLToPath(new URL('./passwords-program.ts', import.meta.url))
  await using deno = Bun.spawn([denoBinary(), 'run', '--no-prompt', program], { stdout: 'pipe', stderr: 'pipe' })
  const [output, errors] = await Promise.all([deno.stdout.text(), deno.stderr.text()])
  expect([errors, await deno.exited]).toEqual(['', 0])
  expect(JSON.parse(output)).toEqual([16_384, 16])
}, 300_000)
