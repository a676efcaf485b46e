import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'

const pageUrl = new URL('../../src/promises.md', import.meta.url)
const page = readFileSync(pageUrl, 'utf8')
const rows = [...page.matchAll(/^\| .+ \| `(.+)` in `(test\/\S+\.test\.ts)` \|$/gm)]

/** Whether a file has a test with this title, which is not skipped. */
const hasTest = (file: string, title: string): boolean => {
  const url = new URL(`../../${file}`, import.meta.url)
  const quoted = title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const call = new RegExp(`\\btest(?!\\.(?:skip|todo)\\b)[^\\n]*\\(\\s*(['"\`])${quoted}\\1,`)
  return existsSync(url) && call.test(readFileSync(url, 'utf8'))
}

test('each promise on its page names a test that exists', () => {
  expect(rows.length).toBe(page.split('\n| ').length - 2)
  expect(rows.filter(([, title = '', file = '']) => !hasTest(file, title)).map(([row]) => row)).toEqual([])
})
