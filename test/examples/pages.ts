import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { writeImportMap } from '../deno/fixture.ts'

const root = join(import.meta.dir, '../..')
const pageOf = (path: string) => ({ name: basename(path), text: readFileSync(join(root, path, 'README.md'), 'utf8') })

/** `shared` is not a plugin. */
const plugins = readdirSync(join(root, 'plugins'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'shared')
  .map(({ name }) => name)
export const completePages = [...plugins.map((plugin) => pageOf(`plugins/${plugin}`)), pageOf('src/node-server')]
export const pages = [...completePages, ...['src/emulator', 'src/store', 'plugins/shared'].map(pageOf)]
/** `sluice` itself exports the server. */
export const subpathOf = (name: string): string => (name === 'node-server' ? 'sluice' : `sluice/${name}`)

/** The examples of a page: each is followed by its output. */
export const examplesOf = ({ name, text }: { readonly name: string; readonly text: string }) =>
  [...text.matchAll(/```ts\n([\s\S]*?)```\n\nIt prints:\n\n```text\n([\s\S]*?)```/g)].map(
    ([, code = '', output = ''], nth) => ({ file: `${name}-${nth + 1}.ts`, name, code, output: output.trim() }),
  )

export const runBun = async (...command: readonly string[]) => {
  const child = Bun.spawn([process.execPath, ...command], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { status: await child.exited, output, errors }
}

/** Writes the examples of all pages into a folder, from which they can run and be compiled. */
export const writeExamples = (name: string) => {
  // Inside the repository, so that the examples can import the package by its name: see `paths` in tsconfig.json.
  const folder = join(root, 'data', name)
  const importMap = join(folder, 'import-map.json')
  mkdirSync(folder, { recursive: true })
  for (const { file, code } of pages.flatMap(examplesOf)) writeFileSync(join(folder, file), code)
  const settings = {
    extends: join(root, 'tsconfig.json'),
    include: ['*.ts'],
    compilerOptions: { typeRoots: [join(root, 'node_modules/@types')] },
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings))
  writeImportMap(importMap)
  return { folder, importMap, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
