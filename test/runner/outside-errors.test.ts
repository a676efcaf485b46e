import { expect, test } from 'bun:test'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OutsideErrors } from './outside-errors.ts'

const sources = {
  'passes.test.ts': `test('passes', () => console.log('# Unhandled error between tests is no line of its own'))`,
  'throws.test.ts': `test('fails', () => { throw new Error('in a test') })`,
  'loads.test.ts': `throw new Error('before any test')`,
  // The second test fails the first one, which nothing else ends before its timeout, and lets the runner see it.
  'late.test.ts': `
    const first = Promise.withResolvers()
    test('is too slow', () => first.promise, 10)
    test('waits', async () => {
      first.reject(new Error('after its timeout'))
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setTimeout(resolve, 1))
    })`,
}

test('an error whose stack has no test file may be of any', () => {
  const errors = new OutsideErrors('/a')
  const frames = ['      at later (/a/test/fixture.ts:3:5)', '      at <anonymous> (/a/test/b.test.ts:1:1)']
  const border = '-'.repeat(31)
  for (const count of [1, 2])
    for (const line of ['# Unhandled error between tests', border, ...frames.slice(0, count), border, ...frames])
      errors.read(line)
  expect([...errors.files]).toEqual(['', 'test/b.test.ts'])
})

test.each([
  ['beside others', ['--parallel=2', '--no-isolate']],
  ['alone', []],
])(
  'an error outside of all tests is one of the file that ran %s',
  async (_how, options) => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-outside-')))
    try {
      for (const [name, source] of Object.entries(sources))
        writeFileSync(join(folder, name), `import { test } from 'bun:test'\n${source}`)
      const command = [process.execPath, 'test', ...options]
      const run = Bun.spawn(command, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
      const errors = new OutsideErrors(folder)
      for (const line of (await new Response(run.stderr).text()).split('\n')) errors.read(line)
      expect(await run.exited).not.toBe(0)
      expect([...errors.files].toSorted()).toEqual(['late.test.ts', 'loads.test.ts'])
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
  300_000,
)
