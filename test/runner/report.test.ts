import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
test.${'todo'}('is to be written')
`

test('the report of the runner is read: what passed, what failed in which file, what was skipped', async () => {
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
    expect(report.skipped).toEqual([
      'one.test.ts: outer <"&\'> group > inner group > is skipped',
      'one.test.ts: is to be written',
    ])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a report in which no test ran counts none', () => {
  expect(readReport('<testsuites name="bun test" tests="0"></testsuites>')).toMatchObject({ passed: 0, failed: 0 })
})
