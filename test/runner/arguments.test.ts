import { expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sources } from '../elegance/sources.ts'
import { root } from '../support/server.ts'
import { readArguments } from './arguments.ts'

const repeated = `
import { test } from 'bun:test'
import { repetitions } from '${root}test/support/repetitions.ts'
test.each(repetitions('first', 'second', 'third'))('%s', () => {})`

/** Runs the runner as the test command does, in a folder with a short, a repeated and a long file. Returns the names of the tests that ran. */
const testsOf = async (...given: readonly string[]): Promise<readonly string[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-arguments-'))
  try {
    mkdirSync(join(folder, 'one'))
    writeFileSync(join(folder, 'one/short.test.ts'), `import { test } from 'bun:test'\ntest('short', () => {})`)
    writeFileSync(join(folder, 'one/long.all.test.ts'), `import { test } from 'bun:test'\ntest('long', () => {})`)
    writeFileSync(join(folder, 'one/repeated.test.ts'), repeated)
    const report = ['--reporter=junit', '--reporter-outfile=report.xml']
    const { args, environment } = readArguments(given)
    const command = [process.execPath, 'test', '--parallel=2', '--no-isolate', ...report, ...args]
    const env = { ...process.env, ...environment }
    expect(await Bun.spawn(command, { cwd: folder, env, stdio: ['ignore', 'ignore', 'ignore'] }).exited).toBe(0)
    const xml = readFileSync(join(folder, 'report.xml'), 'utf8')
    return [...xml.matchAll(/<testcase name="(\w+)"/g)].map(([, name = '']) => name).sort()
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('the test command leaves out the long tests, and repetitions', async () => {
  expect(await testsOf()).toEqual(['first', 'short'])
  expect(await testsOf('one')).toEqual(['first', 'short'])
})

test('with --all it runs every test', async () => {
  expect(await testsOf('--all')).toEqual(['first', 'long', 'second', 'short', 'third'])
  expect(await testsOf('one', '--all')).toEqual(['first', 'long', 'second', 'short', 'third'])
})

test('every file that only --all runs says at its top why', () => {
  const long = sources('test').filter(({ path }) => path.endsWith('.all.test.ts'))
  expect(
    long.filter(({ text }) => !/^\/\*\* Runs with `--all`: [^*]{20,}\*\/\n/.test(text)).map(({ path }) => path),
  ).toEqual([])
})
