/** Runs with `--all`: builds the package and runs it on Deno. */

import { expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { auditFile, packageCommandsOf, startProgram, unusedGrants, withValues } from '../deno/fixture.ts'
import { freePort } from '../support/free-port.ts'
import { denoBinary } from '../support/server.ts'
import { consoleFilesOf, createConsumer, root } from './fixture.ts'

for (const workers of [1, 2]) {
  test(`the command \`sluice\` runs on Deno with the permissions of the page about Deno, with WORKERS=${workers}`, async () => {
    const consumer = await createConsumer()
    const deno = join(root, denoBinary())
    const port = await freePort()
    const values = {
      '127.0.0.1:3000': `127.0.0.1:${port}`,
      data: join(consumer.folder, 'data'),
      'node_modules/sluice/dist/plugins/console': join(consumer.package, 'dist/plugins/console'),
      deno,
    }
    mkdirSync(values.data)
    const command = packageCommandsOf('start').find((flags) => flags.includes('--allow-run=deno') === workers > 1) ?? []
    // There is no upstream.
    const flags = withValues(command, values).map((flag) => flag.replace(',upstream.example:443', ''))
    using audit = auditFile()
    await using server = startProgram(
      [deno, 'run', ...flags, join(consumer.package, 'dist/sluice.js'), 'start'],
      { PORT: String(port), WORKERS: String(workers), ...(workers === 1 && { DENO_AUDIT_PERMISSIONS: audit.path }) },
      consumer.folder,
    )
    await server.printed(/^sluice listening on http/m)
    const url = `http://127.0.0.1:${port}`
    for (const path of ['/readyz', '/console', ...(await consoleFilesOf(url)), '/openapi']) {
      const response = await fetch(url + path)
      await response.bytes()
      expect([path, response.status]).toEqual([path, 200])
    }
    if (workers === 1) expect(unusedGrants(flags, audit.path)).toEqual([])
    server.stop()
    expect(await server.ended()).toMatchObject({ status: 0, errors: '' })
  }, 300_000)
}

test('`sluice admin` runs on Deno with the permissions of the page about Deno', async () => {
  const consumer = await createConsumer()
  mkdirSync(join(consumer.folder, 'data'))
  const [flags = []] = packageCommandsOf('admin')
  const command = [join(root, denoBinary()), 'run', ...flags, 'node_modules/sluice/dist/sluice.js', 'admin']
  const admin = (...args: readonly string[]) => startProgram([...command, ...args], {}, consumer.folder).ended()
  expect(await admin('user', 'add', 'ann', '--password', 'a long password')).toMatchObject({ status: 0, errors: '' })
  const { output } = await admin('user', 'list')
  expect(output).toContain('ann')
}, 300_000)
