/** Runs with `--all`: builds the package and compiles programs against it. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSlow, testIf } from '../support/run-if.ts'
import { denoBinary } from '../support/server.ts'
import { type Consumer, createConsumer, packed, requiredPeers, root, run, sourcesOf } from './fixture.ts'

setDefaultTimeout(300_000)

const hosts = join(import.meta.dir, 'hosts')

/** The compilers: the current TypeScript, and the last one before the native compiler. */
const compilers = { 'TypeScript 7': 'typescript', 'TypeScript 5.9': 'typescript-5' } as const

interface Settings {
  readonly resolution: 'bundler' | 'node16'
  readonly skipLibCheck: boolean
}

/** Compiles the hosts with declarations and the strictest options, and returns the errors that are not those of other packages. */
const compile = async (consumer: Consumer, compiler: string, { resolution, skipLibCheck }: Settings) => {
  const compilerOptions = {
    target: 'esnext',
    module: resolution === 'bundler' ? 'preserve' : 'node16',
    moduleResolution: resolution,
    lib: ['esnext', 'dom', 'dom.iterable'],
    types: ['bun'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: true,
    declaration: true,
    outDir: 'out',
    rootDir: '.',
    skipLibCheck,
  }
  consumer.write('tsconfig.json', JSON.stringify({ compilerOptions, files: readdirSync(hosts) }))
  const { output } = await run(consumer.folder, [process.execPath, join(root, 'node_modules', compiler, 'bin/tsc')])
  return output.split('\n').filter((line) => /error TS/.test(line) && !/^\S*node_modules\/(?!sluice\/)/.test(line))
}

const createHosts = async () => {
  const consumer = await createConsumer(
    ...requiredPeers,
    'prom-client',
    'openid-client',
    '@opentelemetry/api',
    '@types/bun',
  )
  for (const file of readdirSync(hosts)) copyFileSync(join(hosts, file), join(consumer.folder, file))
  return consumer
}

for (const [name, compiler] of Object.entries(compilers)) {
  for (const resolution of ['bundler', 'node16'] as const) {
    const isLong = name !== 'TypeScript 7' && resolution === 'node16'
    testIf(!isLong || isSlow, 'repeats a slow compilation: SLUICE_SLOW is not set')(
      `hosts compile with ${name}, ${resolution} resolution, declarations and strict options`,
      async () => {
        const consumer = await createHosts()
        const skipLibCheck = name !== 'TypeScript 7' && !isSlow
        expect(await compile(consumer, compiler, { resolution, skipLibCheck })).toEqual([])
        for (const host of readdirSync(hosts)) {
          const declarations = readFileSync(join(consumer.folder, 'out', host.replace(/ts$/, 'd.ts')), 'utf8')
          expect(declarations).toContain('export declare const app: Elysia<')
          // No path of a file that the package does not export.
          expect(declarations).not.toMatch(/sluice\/(?:dist|plugins|src)/)
        }
      },
    )
  }
}

test('deno publish finds no slow types', async () => {
  const project = join(await packed(), '..')
  const exports = Object.fromEntries(sourcesOf(project))
  const configuration = { name: '@sluice/sluice', version: '0.1.0', license: 'MIT', exports }
  await Bun.write(join(project, 'deno.json'), JSON.stringify(configuration))
  const command = [join(root, denoBinary()), 'publish', '--dry-run', '--allow-dirty', '--no-check']
  const { status, output } = await run(project, command)
  expect({ status, output: output.match(/^error.*$/gm) }).toEqual({ status: 0, output: null })
  expect(Object.keys(exports)).toContain('./sse-relay')
})
