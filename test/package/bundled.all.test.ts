/** Runs with `--all`: builds the package, bundles a host with it, and compiles one to an executable. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createConsumer, requiredPeers, root, run } from './fixture.ts'

setDefaultTimeout(300_000)

const program = (importer: string) => `
  import { Elysia } from 'elysia'
  import { consolePages } from '${importer}'
  const app = new Elysia().use(consolePages())
  const send = async (path) => {
    const response = await app.handle(new Request('http://localhost/console' + path))
    const text = await response.text()
    console.log(path, response.status, response.headers.get('cache-control'), String(Bun.hash(text)))
    return text
  }
  const page = await send('')
  const [, style] = /console(\\/style-\\w+\\.css)/.exec(page)
  const [, script] = /console(\\/app-\\w+\\.js)/.exec(page)
  await send(style)
  const chunks = new Set([...(await send(script)).matchAll(/import\\("\\.(\\/[^"]+)"\\)/g)].map(([, path]) => path))
  for (const path of chunks) await send(path)`

const build = [process.execPath, 'build', 'host.ts', '--target=bun']

for (const [name, importer] of [
  ['the package', 'sluice/console'],
  ['the sources', join(root, 'plugins/console/index.ts')],
] as const) {
  test(`a host with the console of ${name} serves it also when it is bundled, or compiled to an executable`, async () => {
    const consumer = await createConsumer(...requiredPeers)
    const elsewhere = mkdtempSync(join(tmpdir(), 'sluice-bundled-'))
    try {
      consumer.write('host.ts', program(importer))
      const { output, status } = await run(consumer.folder, [process.execPath, 'host.ts'])
      expect([status, output.match(/^\S* 200 no-cache \d+$/gm)?.length]).toEqual([0, 1])
      expect(output.match(/^\S* 200 public, max-age=31536000, immutable \d+$/gm)?.length).toBeGreaterThan(6)
      for (const options of [['--outfile=host.js'], ['--compile', '--outfile=host']]) {
        expect((await run(consumer.folder, [...build, ...options])).status).toBe(0)
      }
      // Away from the packages.
      for (const file of ['host.js', 'host']) cpSync(join(consumer.folder, file), join(elsewhere, file))
      for (const command of [[process.execPath, 'host.js'], [join(elsewhere, 'host')]]) {
        const bundled = await run(elsewhere, command)
        // Bun (1.4.5) takes the last line of a library that the console has as a text for the bundle's own source map.
        const lines = bundled.output.replace(/^warn: Could not decode sourcemap in .*\n+/gm, '')
        expect([bundled.status, lines]).toEqual([0, output])
      }
    } finally {
      rmSync(elsewhere, { recursive: true })
    }
  })
}
