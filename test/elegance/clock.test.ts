import { expect, test } from 'bun:test'
import { codeOf, sources } from './sources.ts'

/** The emulator stands for another product. Its option `clock` is a function. */
const product = sources('plugins', 'src').filter(({ path }) => !path.startsWith('src/emulator/'))

const matching = (pattern: RegExp) => product.filter((source) => pattern.test(codeOf(source))).map(({ path }) => path)

test('code that may run in a host app reads the time from a clock', () => {
  const systemTime = /\bDate\.now\b|\bnew Date\(\)/
  // The clock itself; the start of the demo; the log lines of the server; the age of a file.
  const allowed = ['plugins/shared/clock.ts', 'src/demo.ts', 'src/log.ts', 'src/server/bundle.ts']
  expect(matching(systemTime)).toEqual(allowed)
})

test('an option that gives the time is called clock', () => {
  expect(matching(/\bclock\??: (?:Clock|Pick<Clock, 'now'>)/).length).toBeGreaterThan(20)
  expect(matching(/\bnow\??: \(\) => number|\bclock\??: \(\) => number/)).toEqual([])
})
