import { afterEach, beforeEach, expect, test } from 'bun:test'
import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BundleOptions, buildBundle, findBundle } from '../../src/server/bundle.ts'

let root: string
let project: BundleOptions

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'sluice-bundle-'))
  project = { root, entry: 'entry.ts', otherInputs: ['package.json'] }
  await write(
    'entry.ts',
    `import { word } from './word.ts'\nimport page from './page.js' with { type: 'text' }\nexport { page, word }`,
  )
  await write('word.ts', `export const word: string = 'old'`)
  await write('page.js', 'export const old = 1')
  await write('package.json', '{}')
})

afterEach(() => rm(root, { recursive: true }))

const write = (path: string, content: string) => writeFile(join(root, path), content)

const folder = () => join(root, 'node_modules/.cache/sluice')

/** The output of a program that imports the bundle. Throws when there is no fresh bundle. */
const run = async (): Promise<{ word: string; page: string }> => {
  const bundle = findBundle(project)
  if (bundle === undefined) throw new Error('there is no fresh bundle')
  const program = `const { word, page } = await import(${JSON.stringify(bundle)}); console.log(JSON.stringify({ word, page }))`
  const { stdout } = Bun.spawnSync([process.execPath, '-e', program])
  return JSON.parse(stdout.toString())
}

test('a bundle behaves like its files, contains the texts that they import, and is stale when one has changed', async () => {
  expect(findBundle(project)).toBeUndefined()
  await buildBundle(project)
  expect(await run()).toEqual({ word: 'old', page: 'export const old = 1' })
  await write('page.js', 'export const new = 1')
  expect(findBundle(project)).toBeUndefined()
})

test('the bytecode is beside the bundle', async () => {
  await buildBundle(project)
  expect((await stat(`${findBundle(project)}.jsc`)).size).toBeGreaterThan(0)
})

test('a bundle is stale when a file has other contents, even with the same size and time', async () => {
  await buildBundle(project)
  const { atime, mtime } = await stat(join(root, 'word.ts'))
  await write('word.ts', `export const word: string = 'new'`)
  await utimes(join(root, 'word.ts'), atime, mtime)
  expect(findBundle(project)).toBeUndefined()
  await buildBundle(project)
  expect(await run()).toMatchObject({ word: 'new' })
})

test('a bundle is stale when a setting has changed, and when a file was removed', async () => {
  await buildBundle(project)
  await write('package.json', '{ "type": "module" }')
  expect(findBundle(project)).toBeUndefined()
  await buildBundle(project)
  await rm(join(root, 'word.ts'))
  expect(findBundle(project)).toBeUndefined()
})

test('a bundle is stale in another folder, because it refers to external modules by absolute path', async () => {
  await buildBundle(project)
  const moved = `${root}-moved`
  await rename(root, moved)
  root = moved
  expect(findBundle({ ...project, root })).toBeUndefined()
})

test('a file that changes while its bundle is built leaves no bundle that counts as fresh', async () => {
  const making = buildBundle(project)
  for (let changes = 0; changes < 200; changes++) {
    await write('word.ts', `export const word: string = '${changes}'`)
    await Promise.race([making, Bun.sleep(0)])
  }
  await making
  const bundle = findBundle(project)
  if (bundle !== undefined) expect(await run()).toMatchObject({ word: '199' })
})

test('several processes can build a bundle concurrently, and older bundles are removed', async () => {
  await buildBundle(project)
  await write('word.ts', `export const word: string = 'new'`)
  await Promise.all([buildBundle(project), buildBundle(project), buildBundle(project)])
  expect(await run()).toMatchObject({ word: 'new' })
  expect(await readdir(folder())).toHaveLength(2)
})

test('an unfinished bundle of a process that died is removed once it is old', async () => {
  for (const name of ['unfinished-old', 'unfinished-new']) await mkdir(join(folder(), name), { recursive: true })
  const hourAgo = Date.now() / 1000 - 3600
  await utimes(join(folder(), 'unfinished-old'), hourAgo, hourAgo)
  await buildBundle(project)
  expect((await readdir(folder())).filter((name) => name.startsWith('unfinished'))).toEqual(['unfinished-new'])
})

test('a bundle that cannot be built leaves no files behind', async () => {
  await write('word.ts', 'export const word = (')
  await expect(buildBundle(project)).rejects.toThrow()
  expect(findBundle(project)).toBeUndefined()
  expect(await readdir(folder())).toEqual([])
})

test('a bundle that cannot be stored does not count as fresh', async () => {
  await mkdir(join(root, 'node_modules'))
  await writeFile(join(root, 'node_modules/.cache'), 'not a folder')
  await chmod(join(root, 'node_modules/.cache'), 0o400)
  await expect(buildBundle(project)).rejects.toThrow()
  expect(findBundle(project)).toBeUndefined()
})
