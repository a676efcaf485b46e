import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = join(import.meta.dir, '../..')
const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...['examples', 'plugins', 'src', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
      .map((name) => join(folder, name)),
  ),
]

/** The anchors of the headings of a page, as GitHub makes them. */
const anchorsOf = (path: string): readonly string[] =>
  [...readFileSync(path, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\- _]/gu, '')
      .replaceAll(' ', '-'),
  )

const isBroken = (page: string, link: string): boolean => {
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? join(root, page) : join(root, dirname(page), path)
  if (!existsSync(target)) return true
  if (anchor === undefined) return false
  const file = statSync(target).isDirectory() ? join(target, 'README.md') : target
  return !anchorsOf(file).includes(anchor)
}

test('every relative link of a page leads to a file, and to a heading of it', () => {
  const links = pages.flatMap((page) =>
    [...readFileSync(join(root, page), 'utf8').matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, link = '']) => link)
      .filter((link) => !/^(?:https?|mailto):/.test(link))
      .map((link) => ({ page, link })),
  )
  expect(links.length).toBeGreaterThan(100)
  expect(links.filter(({ page, link }) => isBroken(page, link))).toEqual([])
})

test('each test that the page about the rows of many users names exists', () => {
  const rows = readFileSync(join(root, 'src/batches.md'), 'utf8').matchAll(/^\|.*\| ([^|]+) \|$/gm)
  const named = [...rows].flatMap(([, cell = '']) => [...cell.matchAll(/`([\w/-]+)`/g)].map(([, name = '']) => name))
  expect(named.length).toBeGreaterThan(25)
  expect(named.filter((name) => !existsSync(join(root, 'test', `${name}.test.ts`)))).toEqual([])
})
