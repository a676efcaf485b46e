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
const plugins = readdirSync(join(root, 'plugins'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'shared')
  .map(({ name }) => name)
const completePages = [...plugins.map((plugin) => pageOf(`plugins/${plugin}`)), pageOf('src/node-server')]
const pages = [...completePages, ...['src/emulator', 'src/store', 'plugins/shared'].map(pageOf)]
/** `sluice` itself exports the server. */
const subpathOf = (name: string): string => (name === 'node-server' ? 'sluice' : `sluice/${name}`)

/** The examples of a page: each is followed by its output. */
const examplesOf = ({ name, text }: { readonly name: string; readonly text: string }) =>
  [...text.matchAll(/```ts\n([\s\S]*?)```\n\nIt prints:\n\n```text\n([\s\S]*?)```/g)].map(
    ([, code = '', output = ''], nth) => ({ file: `${name}-${nth + 1}.ts`, name, code, output: output.trim() }),
  )

const run = async (...command: readonly string[]) => {
  const child = Bun.spawn([process.execPath, ...command], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { status: await child.exited, output, errors }
}

describe('the page of each plugin, and of the other exports', () => {
  beforeAll(() => {
    mkdirSync(folder, { recursive: true })
    for (const { file, code } of pages.flatMap(examplesOf)) writeFileSync(join(folder, file), code)
    const settings = {
      extends: join(root, 'tsconfig.json'),
      include: ['*.ts'],
      compilerOptions: { typeRoots: [join(root, 'node_modules/@types')] },
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings))
    writeImportMap(importMap)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  for (const page of pages) {
    test(`${page.name} has an example`, () => {
      expect(examplesOf(page)[0]?.code).toContain(`'${subpathOf(page.name)}'`)
      // A block of code without its output would not run here.
      expect(examplesOf(page)).toHaveLength(page.text.split('```ts\n').length - 1)
    })
  }

  for (const example of pages.flatMap(examplesOf)) {
    test(`${example.file} prints the documented output`, async () => {
      expect(example.output).not.toBe('')
      const { status, output, errors } = await run(join(folder, example.file))
      expect({ status, errors }).toEqual({ status: 0, errors: '' })
      expect(output.trim()).toBe(example.output)
    })
  }

  for (const { file, name, output } of completePages.flatMap(examplesOf)) {
    test(`${file} runs on Deno, with the permissions of the page about Deno`, async () => {
      const flags = flagsOfExample(name)
      using audit = auditFile()
      const example = startDeno([...flags, `--import-map=${importMap}`, join(folder, file)], {
        DENO_AUDIT_PERMISSIONS: audit.path,
      })
      expect(await example.ended()).toEqual({ status: 0, output, errors: '' })
      // A further example may need less.
      if (file.endsWith('-1.ts')) expect(unusedGrants(flags, audit.path)).toEqual([])
    })
  }

  for (const { name, text } of completePages) {
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
