import { expect, test } from 'bun:test'
import { openDatabase } from '../../src/store/database/kinds.ts'
import { sql } from '../../src/store/database/statement.ts'
import { createDeliveryStore } from '../../src/store/events/deliveries.ts'
import { eachDatabase } from '../support/database.ts'

/** More than one search reads. */
const ofAnn = 2_000
const others = 450
const now = 10_000

eachDatabase('due deliveries to addresses of tasks', (tested) => {
  test('behind those of a user with any number of them are sent soon', async () => {
    await tested.open()
    const database = openDatabase(tested.url, { deadlineMs: 60_000 })
    await database.query(sql`
      insert into callbacks (id, sequence, user_id, url, subject, body, created_at, due_at, lease_until, attempts)
      with recursive numbers (i) as (select 1 union all select i + 1 from numbers where i < ${ofAnn + others})
      select 'callback-' || i, i, case when i <= ${ofAnn} then 'ann' else 'user-' || i end, 'https://receiver.example/',
        'subject-' || i, '{}', 1, i, 0, 0
      from numbers`)
    const store = createDeliveryStore(database)
    const leased = new Map<string, number>()
    const lease = async () => {
      const found = await store.leaseDeliveries(now, now + 60_000, { max: 1_000, maxPerUser: 4 })
      for (const { user } of found) leased.set(user, (leased.get(user) ?? 0) + 1)
      // None twice: the oldest one of a user is among the oldest of all, too.
      expect(new Set(found.map(({ id }) => id)).size).toBe(found.length)
    }
    await lease()
    // The next users each time.
    expect([leased.get('ann'), leased.size]).toEqual([4, 200])
    await lease()
    expect([leased.get('ann'), leased.size]).toEqual([4, 400])
    await lease()
    expect([leased.get('ann'), leased.size]).toEqual([4, others + 1])
    expect([...leased.values()].filter((count) => count > 1)).toEqual([4])
    // Then from the first one on.
    await database.query(sql`
      insert into callbacks (id, sequence, user_id, url, subject, body, created_at, due_at, lease_until, attempts)
      values ('one more', 9999, 'aaa', 'https://receiver.example/', 'new', '{}', 1, ${now}, 0, 0)`)
    await lease()
    expect(leased.get('aaa')).toBe(1)
    await database.close()
  }, 120_000)

  test('are sent in turn: the first one of each user, before a second one of a user of whom one is being sent', async () => {
    await tested.open()
    const database = openDatabase(tested.url, { deadlineMs: 60_000 })
    await database.query(sql`delete from callbacks`)
    const add = (id: string, user: string, dueAt: number) =>
      database.query(sql`
        insert into callbacks (id, sequence, user_id, url, subject, body, created_at, due_at, lease_until, attempts)
        values (${id}, ${dueAt}, ${user}, 'https://receiver.example/', ${id}, '{}', 1, ${dueAt}, 0, 0)`)
    for (let nth = 1; nth <= 5; nth++) await add(`ann-${nth}`, 'ann', nth)
    await add('bob-1', 'bob', 6)
    await add('cid-1', 'cid', 7)
    const store = createDeliveryStore(database)
    const lease = async (max: number) =>
      (await store.leaseDeliveries(now, now + 60_000, { max, maxPerUser: 4 })).map(({ id }) => id)
    expect(await lease(3)).toEqual(['ann-1', 'bob-1', 'cid-1'])
    await add('dan-1', 'dan', 8)
    expect(await lease(2)).toEqual(['dan-1', 'ann-2'])
    await database.close()
  }, 120_000)
})
