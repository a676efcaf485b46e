import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'

const root = new URL('../../plugins/text-generation/', import.meta.url)

test('the page says of each folder what is in it, and of no other', () => {
  const [, table = ''] = readFileSync(new URL('README.md', root), 'utf8').split('| folder |')
  const named = [...table.matchAll(/^\|((?: `\w+`,?)+) \|/gm)].flatMap(([, cell = '']) => cell.match(/\w+/g) ?? [])
  const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  expect(named.toSorted()).toEqual(folders.map(({ name }) => name).toSorted())
})
