import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sources } from '../elegance/sources.ts'
import { readReport } from './report.ts'

const source = `
import { describe, expect, test } from 'bun:test'
test('passes', () => {})
describe('outer <"&\\'> group', () => {
  describe('inner group', () => {
    test('fails', () => expect('<skipped />').toBe('</testcase>'))
    test.${'skip'}('is skipped', () => {})
  })
  test('throws', () => { throw new Error('a <failure> of two\\nlines') })
})
describe.${'skip'}('a group [no <browser>]', () => {
  test('one', () => {})
  describe('of two', () => test('two', () => {}))
})
test.${'todo'}('is to be written')
`

test('the report of the runner is read: what passed, what failed in which file, what was skipped and why', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-report-'))
  try {
    writeFileSync(join(folder, 'one.test.ts'), source)
    writeFileSync(join(folder, 'two.test.ts'), `import { test } from 'bun:test'\ntest('passes', () => {})`)
    const command = [process.execPath, 'test', '--reporter=junit', '--reporter-outfile=report.xml']
    const run = Bun.spawn(command, { cwd: folder, stdio: ['ignore', 'ignore', 'ignore'] })
    expect(await run.exited).not.toBe(0)
    const report = readReport(readFileSync(join(folder, 'report.xml'), 'utf8'))
    expect(report.passed).toBe(2)
    expect(report.failed).toBe(2)
    expect([...report.failuresByFile]).toEqual([['one.test.ts', 2]])
    expect(report.skipped).toBe(4)
    expect([...report.skippedByReason]).toEqual([
      ['no reason given: one.test.ts: outer <"&\'> group > inner group > is skipped', 1],
      ['no <browser>', 2],
      ['no reason given: one.test.ts: is to be written', 1],
    ])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a report in which no test ran counts none', () => {
  expect(readReport('<testsuites name="bun test" tests="0"></testsuites>')).toMatchObject({ passed: 0, failed: 0 })
})

test('every test that may be skipped says why', () => {
  const skips = sources('test').filter(({ text }) => /\.(?:skip|skipIf|todo|todoIf|if)\(/.test(text))
  expect(skips.map(({ path }) => path)).toEqual(['test/support/run-if.ts'])
})
