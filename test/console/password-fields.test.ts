import { expect, test } from 'bun:test'
import { pageScripts } from '../elegance/sources.ts'

const scripts = pageScripts()
const field = /<\$\{(?:Field|Input)\}[^<]*?\sname="(?:password|current|repeated)"[^<]*?\/>/g

test('each field for a password hides it, and lets password managers and the clipboard fill it in', () => {
  const withFields = scripts.filter(({ text }) => text.match(field))
  const fields = withFields.flatMap(({ text }) => text.match(field) ?? [])
  expect(fields.length).toBeGreaterThan(5)
  expect(fields.filter((each) => !/\stype="password"\s+autocomplete="(?:current|new)-password"/.test(each))).toEqual([])
  expect(withFields.filter(({ text }) => /paste/i.test(text)).map(({ path }) => path)).toEqual([])
})
