import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'

const pageUrl = new URL('../../src/limits.md', import.meta.url)
const page = readFileSync(pageUrl, 'utf8')
const rows = [...page.matchAll(/^\| .+ \| ([\d,]+) ?([a-zA-Z]*) \| \[`(\w+)`\]\((\S+\.ts)\) \|$/gm)]

const units: Readonly<Record<string, number>> = {
  '': 1,
  ms: 1,
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
}

/** The value of the first declaration, option or field with that name in a source file. */
const declared = (file: string, name: string): number => {
  const source = readFileSync(new URL(file, pageUrl), 'utf8')
  const [, expression] = new RegExp(`\\b${name}(?: = |: )(?=\\d)([\\d_ *]+)`).exec(source) ?? []
  if (expression === undefined) throw new Error(`${file} does not declare ${name}`)
  return Function(`return ${expression}`)()
}

test('each limit on its page has the value that the code declares', () => {
  expect(rows.length).toBe(page.split('\n| ').length - 2)
  expect(
    rows.map(([, value = '', unit = '', name = '', file = '']) => {
      const limit = Number(value.replaceAll(',', '')) * (units[unit] ?? Number.NaN)
      return { file, name, limit }
    }),
  ).toEqual(rows.map(([, , , name = '', file = '']) => ({ file, name, limit: declared(file, name) })))
})
