import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { auditFile, flagsOfExample, startDeno, unusedGrants, writeImportMap } from '../deno/fixture.ts'

const root = join(import.meta.dir, '../..')
/** Inside the repository, so that the examples can import the package by its name: see `paths` in tsconfig.json. */
const folder = join(root, 'data/plugin-pages')
const importMap = join(folder, 'import-map.json')

const pageOf = (path: string) => ({ name: basename(path), text: readFileSync(join(root, path, 'README.md'), 'utf8') })

/** `shared` is not a plugin. */
const plugins = readdirSync(join(root, 'plugins')).filter((plugin) => plugin !== 'shared')
const completePages = [...plugins.map((plugin) => pageOf(`plugins/${plugin}`)), pageOf('src/node-server')]
const pages = [...completePages, pageOf('src/emulator')]
/** `sluice` itself exports the server. */
const subpathOf = (name: string): string => (name === 'node-server' ? 'sluice' : `sluice/${name}`)

const blockOf = (text: string, language: string): string =>
  new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(text)?.[1] ?? ''

const run = async (...command: readonly string[]) => {
  const child = Bun.spawn([process.execPath, ...command], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { status: await child.exited, output, errors }
}

describe('the README of each plugin, of the emulator and of the server', () => {
  beforeAll(() => {
    mkdirSync(folder, { recursive: true })
    for (const { name, text } of pages) writeFileSync(join(folder, `${name}.ts`), blockOf(text, 'ts'))
    const settings = {
      extends: join(root, 'tsconfig.json'),
      include: ['*.ts'],
      compilerOptions: { typeRoots: [join(root, 'node_modules/@types')] },
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings))
    writeImportMap(importMap)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  for (const { name, text } of pages) {
    test(`${name} has an example that prints the documented output`, async () => {
      expect(blockOf(text, 'ts')).toContain(`'${subpathOf(name)}'`)
      expect(blockOf(text, 'text').trim()).not.toBe('')
      const { status, output, errors } = await run(join(folder, `${name}.ts`))
      expect({ status, errors }).toEqual({ status: 0, errors: '' })
      expect(output.trim()).toBe(blockOf(text, 'text').trim())
    })
  }

  for (const { name, text } of completePages) {
    test(`${name} has an example that runs on Deno, with the permissions of the page about Deno`, async () => {
      const flags = flagsOfExample(name)
      using audit = auditFile()
      const example = startDeno([...flags, `--import-map=${importMap}`, join(folder, `${name}.ts`)], {
        DENO_AUDIT_PERMISSIONS: audit.path,
      })
      expect(await example.ended()).toEqual({ status: 0, output: blockOf(text, 'text').trim(), errors: '' })
      expect(unusedGrants(flags, audit.path)).toEqual([])
    })

    test(`${name} has all required sections`, () => {
      const sections = [...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title)
      expect(sections).toEqual(expect.arrayContaining(['Example', 'What it adds', 'Options', 'Errors', 'Decisions']))
      expect(text.startsWith(`# ${name}\n`)).toBe(true)
    })
  }

  test('examples compile', async () => {
    const { status, output } = await run('x', '--bun', 'tsc', '-p', join(folder, 'tsconfig.json'), '--noEmit')
    expect({ status, output }).toEqual({ status: 0, output: '' })
  }, 60_000)
})
