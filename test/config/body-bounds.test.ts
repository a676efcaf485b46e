import { expect, test } from 'bun:test'
import { readConfig } from '../../src/config.ts'

const boundsOf = (env: Record<string, string>) => {
  const config = readConfig(env)
  if ('problems' in config) return config.problems
  const { maxVideoBodyBytes, maxSmallBodyBytes } = config.http
  return { maxVideoBodyBytes, maxSmallBodyBytes }
}

test.each(['MAX_SMALL_BODY_BYTES', 'MAX_VIDEO_BODY_BYTES'])('%s is at most MAX_BODY_BYTES', (name) => {
  expect(boundsOf({ MAX_BODY_BYTES: '100', [name]: '101' })).toEqual([`${name} must not be above MAX_BODY_BYTES`])
})

test('a smaller MAX_BODY_BYTES lowers the defaults of the others', () => {
  expect(boundsOf({ MAX_BODY_BYTES: '100' })).toEqual({ maxVideoBodyBytes: 100, maxSmallBodyBytes: 100 })
  expect(boundsOf({})).toEqual({ maxVideoBodyBytes: 48 * 2 ** 20, maxSmallBodyBytes: 2 ** 20 })
})
