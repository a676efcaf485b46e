import { expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { auditFile, commandsOf, freePort, startProgram, unusedGrants, withValues } from '../deno/fixture.ts'
import { denoBinary } from '../support/server.ts'
import { createConsumer, root } from './fixture.ts'

for (const workers of [1, 2]) {
  test(`the command \`sluice\` runs on Deno with the permissions of the page about Deno, with WORKERS=${workers}`, async () => {
    const consumer = await createConsumer()
    const deno = join(root, denoBinary())
    const port = await freePort()
    const values = {
      '127.0.0.1:3000': `127.0.0.1:${port}`,
      data: join(consumer.folder, 'data'),
      'plugins/console': join(consumer.package, 'dist'),
      deno,
    }
    mkdirSync(values.data)
    const command =
      commandsOf('src/server.ts').find((flags) => flags.includes('--allow-run=deno') === workers > 1) ?? []
    // The package contains the console's libraries, and there is no upstream.
    const flags = withValues(command, values).map((flag) =>
      flag.replace(/,(?:node_modules|upstream.example:443)\b/, ''),
    )
    using audit = auditFile()
    await using server = startProgram(
      [deno, 'run', ...flags, join(consumer.package, 'dist/sluice.js'), 'start'],
      { PORT: String(port), WORKERS: String(workers), ...(workers === 1 && { DENO_AUDIT_PERMISSIONS: audit.path }) },
      consumer.folder,
    )
    await server.printed(/^sluice listening on http/m)
    for (const path of ['/readyz', '/console', '/console/uqr.js', '/openapi']) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`)
      await response.bytes()
      expect([path, response.status]).toEqual([path, 200])
    }
    if (workers === 1) expect(unusedGrants(flags, audit.path)).toEqual([])
    server.stop()
    expect(await server.ended()).toMatchObject({ status: 0, errors: '' })
  }, 60_000)
}
