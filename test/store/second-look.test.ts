import { expect, test } from 'bun:test'
import type { Claim } from '../../plugins/ownership/store.ts'
import { claims } from '../../src/store/claims.ts'
import type { Database } from '../../src/store/database.ts'
import { UniqueViolationError } from '../../src/store/error.ts'

const claim: Claim = { id: 'c', user: 'u', type: 'AIGC', name: 'cats', createdAt: 1, dueAt: 2, state: 'pending' }
const group = { id: 'g', createdAt: 1 }

/** A database whose index refuses the first so many statements, as it does to the slower of two that insert one record at once. */
const refusing = (times: number): Database => {
  let asked = 0
  const ask = () => {
    if (++asked <= times) throw new UniqueViolationError(new Error('duplicate key'))
    return [{ id: 'c' }]
  }
  return {
    query: async <Result>() => ask() as Result[],
    batch: async () => [ask()],
    exclusively: async () => {},
    close: async () => {},
  }
}

test('a refusal by an index is looked at twice before it counts', async () => {
  expect(await claims(refusing(1)).confirm(claim, group)).toBe(true)
  expect(await claims(refusing(1)).adopt(claim, group)).toBe('adopted')
  expect(await claims(refusing(2)).confirm(claim, group)).toBe(false)
  expect(await claims(refusing(2)).adopt(claim, group)).toBe('taken')
})
