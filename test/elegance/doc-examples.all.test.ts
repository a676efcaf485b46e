/** Runs with `--all`: the compiler checks all sources once more, with the examples in the comments of all public functions. */
import { expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { doors, sources } from './sources.ts'

/** What examples take as given. */
const given = `
import type { Elysia } from 'elysia'
import type { Identify } from 'sluice/shared'
import type { Store } from 'sluice/store'
import type { MediaKind } from 'sluice/upstream-proxy'
declare global {
  const app: Elysia
  const store: Store
  const kind: MediaKind
  const identify: Identify
  const request: Request
  const upstream: { readonly url: string; readonly key: string }
  const publicUrl: string
  const secrets: readonly [string]
}`

const examples = sources('plugins', 'src').flatMap(({ path, text }) =>
  [
    ...text.matchAll(
      /\/\*\*(?:(?!\*\/)[\s\S])*? \* @example\n((?: \* .*\n)+) \*\/\nexport (?:const|class|function) (\w+)/g,
    ),
  ].map(([, code = '', name = '']) => ({ path, name, code: code.replace(/^ \* /gm, '') })),
)

/** Imports of all public names, as a host writes them. */
const imports = async (): Promise<string> => {
  const lines: string[] = [`import { Elysia } from 'elysia'`]
  const seen = new Set<string>()
  for (const [subpath, file] of doors()) {
    const names = Object.keys(await import(file)).filter((name) => !seen.has(name))
    for (const name of names) seen.add(name)
    if (names.length > 0) lines.push(`import { ${names.join(', ')} } from 'sluice${subpath.slice(1)}'`)
  }
  return lines.join('\n')
}

test('the example of each public function compiles', async () => {
  expect(examples.length).toBeGreaterThan(30)
  const root = new URL('../../', import.meta.url).pathname
  const folder = mkdtempSync(join(tmpdir(), 'sluice-examples-'))
  try {
    const header = await imports()
    for (const { name, code } of examples)
      writeFileSync(join(folder, `${name}.ts`), `${header}\nexport const example = async () => {\n${code}}\n`)
    writeFileSync(join(folder, 'given.ts'), given)
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    const compilerOptions = { noUnusedLocals: false }
    const config = { extends: join(root, 'tsconfig.json'), compilerOptions, include: ['*.ts'] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const { stdout } = spawnSync(process.execPath, [join(root, 'node_modules/.bin/tsc'), '-p', folder], {
      encoding: 'utf8',
    })
    expect(stdout.trim().split('\n')).toEqual([''])
  } finally {
    rmSync(folder, { recursive: true })
  }
}, 300_000)
