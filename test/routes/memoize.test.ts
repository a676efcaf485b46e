import { expect, test } from 'bun:test'
import { memoize } from '../../plugins/asset-library/lists/memoize.ts'

test('a value is computed once per object identity', () => {
  let made = 0
  const sizeOf = memoize((list: readonly string[]) => ({ nth: ++made, size: list.length }))
  const [one, other] = [['a'], ['a']]
  expect(sizeOf(one)).toEqual({ nth: 1, size: 1 })
  expect(sizeOf(other)).toEqual({ nth: 2, size: 1 })
  expect(sizeOf(one)).toBe(sizeOf(one))
  expect(made).toBe(2)
})
