import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { faultFields } from '../../src/emulator/faults/check.ts'
import { settingsOf } from '../../src/emulator/options.ts'

const folder = new URL('../../src/emulator/', import.meta.url)
const page = readFileSync(new URL('README.md', folder), 'utf8')

/** The cells of all rows of the tables below a heading, without their backticks. */
const rowsOf = (heading: string): readonly (readonly string[])[] => {
  const [, section = ''] = page.split(`\n## ${heading}\n`)
  const rows = (section.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('| `'))
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.replaceAll('`', '').trim()),
  )
}

/** How the page writes the default of an option. */
const written = (value: unknown): string => {
  if (value === Number.POSITIVE_INFINITY) return 'no limit'
  return value === '' ? 'none' : String(value)
}

// the example of the page: test/examples/pages.test.ts
test('the page has each option with its default', () => {
  const { text, video, ...settings } = settingsOf({})
  const expected = [
    ...Object.entries(settings),
    ...Object.entries(text).map(([name, value]) => [`text.${name}`, value] as const),
    ...Object.entries(video).map(([name, value]) => [`video.${name}`, value] as const),
  ]
  const documented = new Map(
    rowsOf('Options').flatMap(([names = '', , defaults = '']) => {
      const all = defaults.split(', ')
      const list = names.replace(/\(.*?\)/g, '').split(', ')
      return list.map((name, at) => [name, all[at]] as const)
    }),
  )
  expect([...documented.keys()].sort()).toEqual(expected.map(([name]) => name).sort())
  for (const [name, value] of expected) {
    if (typeof value === 'object' || typeof value === 'function') expect(documented.get(name)).not.toBeEmpty()
    else expect([name, documented.get(name)]).toEqual([name, written(value)])
  }
})

test('the page has each kind of fault', () => {
  const kinds = rowsOf('Faults').flatMap(([names = '']) => names.split(', '))
  expect(kinds.sort()).toEqual(Object.keys(faultFields).sort())
})

test('the page has each control route', () => {
  const source = readFileSync(new URL('control.ts', folder), 'utf8')
  const routes = [...source.matchAll(/case '(GET|POST|DELETE) (\w+)'/g)].map(([, method, name]) => `${method} ${name}`)
  expect(routes.length).toBeGreaterThan(10)
  const documented = rowsOf('Control routes').flatMap(([cell = '']) =>
    [...cell.matchAll(/((?:[A-Z]+, )*[A-Z]+) (\w+)/g)].flatMap(([, methods = '', name]) =>
      methods.split(', ').map((method) => `${method} ${name}`),
    ),
  )
  expect([...new Set(documented)].sort()).toEqual(routes.sort())
})
