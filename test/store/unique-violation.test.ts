import { expect, test } from 'bun:test'
import type { Claim } from '../../plugins/ownership/store.ts'
import type { Database } from '../../src/store/database/database.ts'
import { UniqueViolationError } from '../../src/store/database/error.ts'
import { createClaimStore } from '../../src/store/library/claims.ts'

const claim: Claim = { id: 'c', user: 'u', type: 'AIGC', name: 'cats', createdAt: 1, dueAt: 2, state: 'pending' }
const group = { id: 'g', createdAt: 1 }

/** A database whose unique index rejects the first `times` statements, like the slower of two concurrent inserts of one record. */
const rejecting = (times: number): Database => {
  let attempts = 0
  const execute = () => {
    if (++attempts <= times) throw new UniqueViolationError(new Error('duplicate key'))
    return [{ id: 'c' }]
  }
  return {
    query: async <Result>() => execute() as Result[],
    batch: async () => [execute()],
    transaction: () => Promise.reject(new Error('no transaction is expected')),
    exclusively: async () => {},
    close: async () => {},
  }
}

test('a claim retries once after a unique violation', async () => {
  expect(await createClaimStore(rejecting(1)).confirm(claim, group)).toBe(true)
  expect(await createClaimStore(rejecting(1)).adopt(claim, group)).toBe('adopted')
  expect(await createClaimStore(rejecting(2)).confirm(claim, group)).toBe(false)
  expect(await createClaimStore(rejecting(2)).adopt(claim, group)).toBe('taken')
})
