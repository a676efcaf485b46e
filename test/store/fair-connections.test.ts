import { expect, test } from 'bun:test'
import { currentUser, noteCurrentUser, runWithRequestId } from '../../plugins/shared/http/current-request.ts'
import { requireIdentity } from '../../plugins/shared/identity/identify.ts'
import { openPostgres } from '../../src/store/database/postgres.ts'
import { sql } from '../../src/store/database/statement.ts'
import { migratedDatabase } from '../support/database.ts'

test('on PostgreSQL, the query of a user waits for no more than the running ones of another user', async () => {
  const database = await migratedDatabase('postgres')
  const opened = openPostgres(database.url, { deadlineMs: 60_000 })
  try {
    let ended = 0
    const queryOf = (user: string) =>
      runWithRequestId('x', async () => {
        await requireIdentity(() => ({ user }), new Request('http://localhost/'))
        await opened.query(sql`select pg_sleep(0.02)`)
        return ++ended
      })
    const anns = Array.from({ length: 100 }, () => queryOf('ann'))
    const bobs = await queryOf('bob')
    // Ten connections work for ann; bob's query is next, beside nine further ones of hers.
    expect(bobs).toBeLessThanOrEqual(40)
    await Promise.all(anns)
    expect(ended).toBe(101)
  } finally {
    await opened.close()
    await database.remove()
  }
})

test('a user is noted for the request that has identified it only', async () => {
  const users = await Promise.all(
    ['ann', 'bob'].map((user) =>
      runWithRequestId(user, async () => {
        noteCurrentUser(user)
        await Promise.resolve()
        return currentUser()
      }),
    ),
  )
  expect([...users, currentUser()]).toEqual(['ann', 'bob', undefined])
})
