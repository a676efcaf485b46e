import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { auditFile, flagsOfExample, startDeno, unusedGrants, writeImportMap } from '../deno/fixture.ts'

const root = join(import.meta.dir, '../..')
/** Inside the repository, so that the examples can import the package by its name: see `paths` in tsconfig.json. */
const folder = join(root, 'data/plugin-pages')
const importMap = join(folder, 'import-map.json')

/** `shared` is not a plugin. */
const pages = readdirSync(join(root, 'plugins'))
  .filter((plugin) => plugin !== 'shared')
  .map((plugin) => ({ plugin, text: readFileSync(join(root, 'plugins', plugin, 'README.md'), 'utf8') }))

const blockOf = (text: string, language: string): string =>
  new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(text)?.[1] ?? ''

const run = async (...command: readonly string[]) => {
  const child = Bun.spawn([process.execPath, ...command], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { status: await child.exited, output, errors }
}

describe('the README of each plugin', () => {
  beforeAll(() => {
    mkdirSync(folder, { recursive: true })
    for (const { plugin, text } of pages) writeFileSync(join(folder, `${plugin}.ts`), blockOf(text, 'ts'))
    const settings = {
      extends: join(root, 'tsconfig.json'),
      include: ['*.ts'],
      compilerOptions: { typeRoots: [join(root, 'node_modules/@types')] },
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings))
    writeImportMap(importMap)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  for (const { plugin, text } of pages) {
    test(`${plugin} has an example that prints the documented output`, async () => {
      expect(blockOf(text, 'ts')).toContain(`'sluice/${plugin}'`)
      expect(blockOf(text, 'text').trim()).not.toBe('')
      const { status, output, errors } = await run(join(folder, `${plugin}.ts`))
      expect({ status, errors }).toEqual({ status: 0, errors: '' })
      expect(output.trim()).toBe(blockOf(text, 'text').trim())
    })

    test(`${plugin} has an example that runs on Deno, with the permissions of the page about Deno`, async () => {
      const flags = flagsOfExample(plugin)
      using audit = auditFile()
      const example = startDeno([...flags, `--import-map=${importMap}`, join(folder, `${plugin}.ts`)], {
        DENO_AUDIT_PERMISSIONS: audit.path,
      })
      expect(await example.ended()).toEqual({ status: 0, output: blockOf(text, 'text').trim(), errors: '' })
      expect(unusedGrants(flags, audit.path)).toEqual([])
    })

    test(`${plugin} has all required sections`, () => {
      const sections = [...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title)
      expect(sections).toEqual(expect.arrayContaining(['Example', 'What it adds', 'Options', 'Errors', 'Decisions']))
      expect(text.startsWith(`# ${plugin}\n`)).toBe(true)
    })
  }

  test('examples compile', async () => {
    const { status, output } = await run('x', '--bun', 'tsc', '-p', join(folder, 'tsconfig.json'), '--noEmit')
    expect({ status, output }).toEqual({ status: 0, output: '' })
  }, 60_000)
})
