import { expect, test } from 'bun:test'
import { within } from '../../plugins/shared/background/within.ts'

test('a promise is waited for: its value or its error comes', async () => {
  expect(await within(Promise.resolve('value'), 60_000)).toBe('value')
  await expect(within(Promise.reject(new Error('failed')), 60_000)).rejects.toThrow('failed')
})

test('a promise that takes longer is waited for no longer, and may fail later', async () => {
  const late = Promise.withResolvers<string>()
  expect(await within(late.promise, 1)).toBeUndefined()
  late.reject(new Error('failed later'))
  await new Promise(setImmediate)
})
