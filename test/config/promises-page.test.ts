import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { hasTest } from '../support/has-test.ts'

const page = readFileSync(new URL('../../src/promises.md', import.meta.url), 'utf8')
const lines = page.split('\n').filter((line) => line.startsWith('| ') && line !== '| promise | test |')

test('each promise on its page names a test that exists', () => {
  const rows = lines.map((line) => /^\| .+ \| `(.+)` in `(test\/\S+\.test\.ts)` \|$/.exec(line) ?? [line])
  expect(rows.length).toBeGreaterThan(150)
  expect(rows.filter(([, title = '', file = '']) => !hasTest(file, title)).map(([row]) => row)).toEqual([])
})

test('each promise is on its page once', () => {
  const promises = lines.map((line) => line.split(' | ')[0] ?? '')
  expect(promises.filter((promise, nth) => promises.indexOf(promise) !== nth)).toEqual([])
})
