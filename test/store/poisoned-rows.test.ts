import { expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { createAudit } from '../../src/audit/index.ts'
import { databaseKinds } from '../../src/store/database/kinds.ts'
import { sql } from '../../src/store/database/statement.ts'
import { eachDatabase, type TestDatabase } from '../support/database.ts'

const at = Date.UTC(2026, 8, 21, 12)

/** A value that both databases reject in these columns. */
const absent = undefined as unknown as string

eachDatabase('rows of several users in one transaction', (database) => {
  test('of stored objects: one that the database does not accept fails alone', async () => {
    const store = await database.open()
    const objectOf = (user: string) => ({
      ...{ kind: 'response' as const, id: randomUUID(), user, upstream: 'u', model: 'm' },
      ...{ createdAt: at, expiresAt: at + 1_000 },
    })
    const [ann, bob] = [objectOf('ann'), objectOf('bob')]
    const results = await Promise.allSettled([
      store.recordTextObjects([objectOf(absent)]),
      store.recordTextObjects([ann]),
      store.recordTextObjects([bob]),
    ])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
    expect(await store.findTextObject('ann', 'response', ann.id, at)).toMatchObject({ id: ann.id })
    expect(await store.findTextObject('bob', 'response', bob.id, at)).toMatchObject({ id: bob.id })
  })

  test('of watches of assets: one that the database does not accept fails alone', async () => {
    const store = await database.open()
    const change = { type: 'asset.processing', data: '{}', at } as const
    const watchOf = (group: string) => ({ asset: randomUUID(), group, user: 'ann', createdAt: at, dueAt: at })
    const watches = [watchOf(absent), watchOf('g'), watchOf('g')]
    const results = await Promise.allSettled(watches.map((watch) => store.watchAsset(watch, change)))
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
    const due = (await store.dueAssetWatches(at, 10)).map(({ asset }) => asset)
    expect(due.toSorted()).toEqual([...watches.slice(1).map(({ asset }) => asset)].toSorted())
  })

  test('of usage: a sum that no database stores is lost, and the others are written', async () => {
    const store = await database.open()
    const callOf = (user: string, cost: number) => ({ user, model: 'm', at, tokens: undefined, cost })
    for (const [user, cost] of [
      ['poisoned', 2 ** 60],
      ['carl', 3],
      ['dora', 4],
    ] as const)
      store.recordUsage(callOf(user, cost))
    await store.flushUsage()
    for (const [user, costs] of [
      ['poisoned', []],
      ['carl', [3]],
      ['dora', [4]],
    ] as const)
      expect((await store.listUsage({ user })).map(({ cost }) => cost)).toEqual(costs as unknown as number[])
  })

  test('of the audit trail: an entry that no database stores is lost, and counted, and the others are written', async () => {
    const store = await database.open()
    const trail = createAudit({ store, keepMs: 1e12, addressOf: () => undefined })
    const since = Date.now()
    const noted = (id: string, status: number) =>
      trail.note({ action: 'asset.create', user: 'u', target: { kind: 'asset', id }, status })
    noted('poisoned', 0.5)
    noted('a', 200)
    noted('b', 200)
    await trail.record({ action: 'asset.create', user: 'u', target: { kind: 'asset', id: 'c' } })
    await trail.close()
    const entries = await store.listAudit({ since })
    expect(entries.map(({ action, target }) => target ?? action).toSorted()).toEqual(['a', 'audit.lose', 'b', 'c'])
  })

  test('of old video tasks: one whose result is damaged is removed like the others', async () => {
    const store = await database.open()
    const end = async (id: string, result: string, endedAt: number) => {
      const times = { createdAt: at, expiresAt: at + 1_000 }
      const task = {
        id,
        user: 'ann',
        model: 'm',
        serviceTier: 'default',
        fields: '{}',
        request: '{}',
        ...times,
      } as const
      const added = await store.addVideoTask(task, undefined, at + 1_000)
      if (added.outcome !== 'claimed') throw new Error(`the task is ${added.outcome}`)
      await store.confirmVideoTask(added.task, `up-${id}`, at, at)
      await store.moveVideoTasks([{ id, status: 'succeeded', task: '{}', dueAt: at, copy: true }], at)
      await store.endVideoTask(id, endedAt, result)
    }
    await end('poisoned', '{', at)
    await end('good', '{"video":"results/good.mp4"}', at + 1)
    const swept = await store.sweepVideoTasks(at + 2, 10)
    expect(swept.map(({ id }) => id)).toEqual(['poisoned', 'good'])
  })

  test('of ended leases on limits: those that cannot be settled come after the others', async () => {
    const store = await database.open()
    const now = Date.now()
    const counter = { id: 'c', unit: 'tokens', subject: { type: 'user', id: 'ann' }, bucket: 0 } as const
    const change = { counter, amount: 1_000, held: 0, used: 0, keeps: 0, needs: 10, atLeast: 10, spare: 0, moves: [] }
    const hold = (holder: string, leaseUntil: number) =>
      store.limits.exchange({ holder, seq: 1, now: leaseUntil - 1, leaseUntil, changes: [change] })
    const used = async () => (await store.limits.limitUse([counter], now))[0]?.used
    for (let nth = 0; nth < 25; nth++) await hold(`poisoned ${nth}`, now - 100_000)
    await hold('process:1', now - 50_000)
    await rejectDeletion(database)
    await store.limits.sweepLimits(now)
    await store.limits.sweepLimits(now)
    expect(await used()).toBe(10)
  })
})

/** Makes the database reject the settlement of holders of limits whose name begins with `poisoned`. */
const rejectDeletion = async ({ kind, url }: TestDatabase): Promise<void> => {
  const connection = databaseKinds[kind].open(url, { deadlineMs: 60_000 })
  if (kind === 'sqlite')
    await connection.query(sql`
      create trigger reject_deletion before delete on limit_holders
      when old.holder like 'poisoned%'
      begin
        select raise(abort, 'not this one');
      end`)
  else {
    await connection.query(sql`
      create function reject_deletion() returns trigger language plpgsql as $$
      begin
        raise exception 'not this one' using errcode = '22003';
      end $$`)
    await connection.query(sql`
      create trigger reject_deletion before delete on limit_holders
      for each row when (old.holder like 'poisoned%') execute function reject_deletion()`)
  }
  await connection.close()
}
