import { expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sources } from '../elegance/sources.ts'
import { readArguments } from './arguments.ts'

/** Runs the runner as the test command does, in a folder with a short and a long file. Returns the names of the tests that ran. */
const testsOf = async (...given: readonly string[]): Promise<readonly string[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-arguments-'))
  try {
    mkdirSync(join(folder, 'one'))
    writeFileSync(join(folder, 'one/short.test.ts'), `import { test } from 'bun:test'\ntest('short', () => {})`)
    writeFileSync(join(folder, 'one/long.all.test.ts'), `import { test } from 'bun:test'\ntest('long', () => {})`)
    const report = ['--reporter=junit', '--reporter-outfile=report.xml']
    const command = [process.execPath, 'test', '--parallel=2', '--no-isolate', ...report, ...readArguments(given).args]
    expect(await Bun.spawn(command, { cwd: folder, stdio: ['ignore', 'ignore', 'ignore'] }).exited).toBe(0)
    const xml = readFileSync(join(folder, 'report.xml'), 'utf8')
    return [...xml.matchAll(/<testcase name="(\w+)"/g)].map(([, name = '']) => name).sort()
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('the test command leaves out the long tests', async () => {
  expect(await testsOf()).toEqual(['short'])
  expect(await testsOf('one')).toEqual(['short'])
})

test('with --all it runs every test', async () => {
  expect(await testsOf('--all')).toEqual(['long', 'short'])
  expect(await testsOf('one', '--all')).toEqual(['long', 'short'])
})

test('every file that only --all runs says at its top why', () => {
  const long = sources('test').filter(({ path }) => path.endsWith('.all.test.ts'))
  expect(
    long.filter(({ text }) => !/^\/\*\* Runs with `--all`: [^*]{20,}\*\/\n/.test(text)).map(({ path }) => path),
  ).toEqual([])
})
