/** Runs with `--all`: builds the package and inspects it with programs of others. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isSlow, testIf } from '../support/run-if.ts'
import { createConsumer, manifestOf, packed, requiredPeers, root, run } from './fixture.ts'

setDefaultTimeout(300_000)

test('the package has no dependencies, and every peer that is not optional is one that all plugins need', async () => {
  const { package: folder } = await createConsumer()
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  expect(manifest.dependencies ?? {}).toEqual({})
  const optional = Object.keys(manifest.peerDependenciesMeta)
  expect(
    Object.keys(manifest.peerDependencies)
      .filter((name) => !optional.includes(name))
      .sort(),
  ).toEqual([...requiredPeers].sort())
})

test('every export and every command is a file of the package', async () => {
  const { package: folder } = await createConsumer()
  const { exports, bin } = manifestOf(folder)
  const targets = Object.values(exports).flatMap((target) =>
    typeof target === 'string' ? [target] : Object.values(target),
  )
  expect([...targets, ...Object.values(bin)].filter((path) => !existsSync(join(folder, path)))).toEqual([])
  expect(targets.length).toBeGreaterThan(20)
})

test('the sources of all source maps and declaration maps are in the package', async () => {
  const { package: folder } = await createConsumer()
  const maps = globSync('dist/**/*.map', { cwd: folder })
  expect(maps.length).toBeGreaterThan(300)
  const missing = maps.filter((map) => {
    const { sources } = JSON.parse(readFileSync(join(folder, map), 'utf8')) as { sources: readonly string[] }
    return sources.some((source) => !existsSync(join(folder, dirname(map), source)))
  })
  expect(missing).toEqual([])
})

test('the package has the examples, its documents, the licenses of what it bundles, and no tests', async () => {
  const { package: folder } = await createConsumer()
  for (const file of ['README.md', 'CHANGELOG.md', 'LICENSE', 'SECURITY.md', 'plugins/sse-relay/README.md']) {
    expect([file, existsSync(join(folder, file))]).toEqual([file, true])
  }
  expect(globSync('examples/*.ts', { cwd: folder }).sort()).toEqual(globSync('examples/*.ts', { cwd: root }).sort())
  expect(globSync('**/*.test.*', { cwd: folder })).toEqual([])
  const licenses = readFileSync(join(folder, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8')
  for (const name of ['elysia', 'pino', 'postgres', 'preact', 'htm', 'uqr', '@noble/hashes']) {
    expect(licenses).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(.+\\)$`, 'm'))
  }
})

test('every relative link of a page of the package leads to a file of the package', async () => {
  const { package: folder } = await createConsumer()
  const pages = globSync('{*.md,{examples,plugins,src}/**/*.md}', { cwd: folder })
  expect(pages.length).toBeGreaterThan(15)
  const broken = pages.flatMap((page) => {
    const text = readFileSync(join(folder, page), 'utf8').replace(/^```.*?^```/gms, '')
    const links = [...text.matchAll(/\]\(([^)#\s]+)|\bsrc="([^"]+)"/g)].map(([, link, image]) => link ?? image ?? '')
    return links
      .filter((link) => !/^https?:/.test(link) && !existsSync(join(folder, dirname(page), link)))
      .map((link) => `${page}: ${link}`)
  })
  expect(broken).toEqual([])
})

test('nothing in the package depends on the folder in which it was built', async () => {
  const { package: folder } = await createConsumer()
  const command = readFileSync(join(folder, 'dist/sluice.js'), 'utf8')
  expect(command.match(/\bvar __\w+name = "/g)?.length).toBeGreaterThan(0)
  const built = dirname(dirname(await packed()))
  expect(command.split('\n').filter((line) => line.includes(root) || line.includes(built))).toEqual([])
  const { output } = await run('/', [
    process.execPath,
    '-e',
    `import { readPageTexts } from '${join(root, 'plugins/console/read-page-texts.ts')}'
     console.log(JSON.stringify(await readPageTexts()))`,
  ])
  const page = readFileSync(join(folder, 'dist/plugins/console/read-page-texts.js'), 'utf8')
  expect(page === `export const readPageTexts = async () => (${output})\n`).toBe(true)
})

test('the old cookie package, which @elysiajs/cookie brings, is not in the package', async () => {
  const { package: folder } = await createConsumer()
  const command = readFileSync(join(folder, 'dist/sluice.js'), 'utf8')
  expect(command).toContain('node_modules/pino/')
  expect(command).not.toContain('node_modules/@elysiajs/cookie/')
  const licenses = readFileSync(join(folder, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8')
  expect(licenses.match(/^cookie \d.*$/gm)).toEqual([expect.stringMatching(/^cookie [1-9]/)])
})

test('publint finds no mistake', async () => {
  const { status, output } = await run(root, [process.execPath, 'x', 'publint', 'run', await packed(), '--strict'])
  expect({ status, output }).toEqual({ status: 0, output: expect.stringContaining('All good!') })
})

test('arethetypeswrong finds no mistake for hosts with modules', async () => {
  const command = [process.execPath, 'x', 'attw', await packed(), '--profile', 'esm-only', '--format', 'json']
  const { status, output } = await run(root, command)
  expect({ status, output: status === 0 ? '' : output }).toEqual({ status: 0, output: '' })
  expect(Object.keys(JSON.parse(output).analysis.entrypoints).length).toBeGreaterThan(10)
  // It analyzes every entry point in three ways.
}, 300_000)

testIf(isSlow, 'asks the registry: SLUICE_SLOW is not set')(
  'bun add installs the package and Elysia, and nothing that only the server needs',
  async () => {
    const tarball = await packed()
    const [, oldest] = /^>=(\S+)/.exec(manifestOf(root).peerDependencies.elysia ?? '') ?? []
    const folder = mkdtempSync(join(tmpdir(), 'sluice-install-'))
    try {
      writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
      for (const elysia of [`elysia@${oldest}`, 'elysia']) {
        const { status, output } = await run(folder, [process.execPath, 'add', tarball, elysia])
        expect({ status, output }).toMatchObject({ status: 0 })
        const installed = globSync('node_modules/**/package.json', { cwd: folder })
        const copies = (name: string) => installed.filter((path) => path.endsWith(`node_modules/${name}/package.json`))
        expect([copies('sluice').length, copies('elysia').length, copies('@sinclair/typebox').length]).toEqual([
          1, 1, 1,
        ])
        for (const name of ['pino', 'postgres', 'prom-client', 'preact', '@elysiajs/cookie', '@elysiajs/openapi']) {
          expect([name, copies(name)]).toEqual([name, []])
        }
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
)
