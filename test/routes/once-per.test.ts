import { expect, test } from 'bun:test'
import { oncePer } from '../../src/routes/once-per.ts'

test('a value is computed once per object identity', () => {
  let made = 0
  const sizeOf = oncePer((list: readonly string[]) => ({ nth: ++made, size: list.length }))
  const [one, other] = [['a'], ['a']]
  expect(sizeOf(one)).toEqual({ nth: 1, size: 1 })
  expect(sizeOf(other)).toEqual({ nth: 2, size: 1 })
  expect(sizeOf(one)).toBe(sizeOf(one))
  expect(made).toBe(2)
})
