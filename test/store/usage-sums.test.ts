import { beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import {
  type UsageDimension,
  type UsageSumFilter,
  type UsageSumKey,
  type UsageTotal,
  usageDimensions,
} from '../../plugins/admin/usage-sums.ts'
import { openDatabase } from '../../src/store/database/kinds.ts'
import { sql } from '../../src/store/database/statement.ts'
import type { Store } from '../../src/store/index.ts'
import { addUsage } from '../../src/store/usage/usage.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { repeats } from '../support/repetitions.ts'

interface Call {
  readonly user: string
  readonly token?: string
  readonly model: string
  readonly day: string
  readonly team?: string
  readonly seconds?: number
}

const sums = (calls: readonly Call[]) => ({
  ...(calls.some(({ seconds }) => seconds !== undefined) && {
    videoSeconds: calls.reduce((sum, { seconds = 0 }) => sum + seconds, 0),
  }),
  calls: calls.length,
  unreported: 0,
  inputTokens: 10 * calls.length,
  cachedTokens: 4 * calls.length,
  outputTokens: 5 * calls.length,
  reasoningTokens: 3 * calls.length,
  cost: 7 * calls.length,
})

const matches = (call: Call, { since = '', until = '9999', user, team, token, model, kind }: UsageSumFilter) =>
  call.day >= since &&
  call.day <= until &&
  (user === undefined || call.user === user) &&
  (team === undefined || call.team === team) &&
  (token === undefined || call.token === token) &&
  (model === undefined || call.model === model) &&
  (kind === undefined || (call.seconds !== undefined) === (kind === 'video'))

const keyText = (key: UsageSumKey) => JSON.stringify(usageDimensions.map((each) => key[each] ?? null))

/** What the store must return, by the key of each sum. */
const expectedSums = (calls: readonly Call[], filter: UsageSumFilter, dimensions: readonly UsageDimension[]) => {
  const by = dimensions.includes('token') ? [...dimensions, 'user' as const] : dimensions
  const groups = Map.groupBy(
    calls.filter((call) => matches(call, filter)),
    (call) => keyText(Object.fromEntries(by.map((each) => [each, call[each]]))),
  )
  return new Map([...groups].map(([key, group]) => [key, sums(group)] as const))
}

repeatOnDatabases('sums of usage of one user with more rows than one step reads', (database) => {
  test('are complete, whatever the size of a page', async () => {
    const store = await database.open()
    const rows = openDatabase(database.url, { deadlineMs: 60_000 })
    const user = (await store.addUser({ name: 'ann', createdAt: 1 })) ?? ''
    const models = ['a', 'b', 'c']
    // In the order in which they are read, each model has rows from the first to the last.
    const usage = Array.from({ length: 1_500 }, (_, nth) => ({
      ...{ user, token: `token-${1_000 + Math.floor(nth / 3)}`, model: models[nth % 3] ?? '', day: '2026-03-01' },
      ...{ calls: 1, unreported: 0, input: 1, cachedInput: 0, output: 2, reasoning: 0, cost: 3 },
    }))
    for (let from = 0; from < usage.length; from += 100) await rows.batch(usage.slice(from, from + 100).map(addUsage))
    for (const limit of [1, 2, 10]) {
      const found: UsageTotal[] = []
      for (let after: UsageSumKey | undefined, first = true; first || after; first = false) {
        const page = await store.sumUsage({ filter: {}, by: ['day', 'user', 'model'], limit, after })
        found.push(...page.rows)
        after = page.next
      }
      expect(found.map(({ model, calls, outputTokens }) => [limit, model, calls, outputTokens])).toEqual(
        models.map((model) => [limit, model, 500, 1_000]),
      )
    }
    await rows.close()
  })
})

repeatOnDatabases('sums of usage', (database) => {
  let store: Store
  const calls: Call[] = []
  const teams: string[] = []
  const users: string[] = []
  const tokens: string[] = []

  beforeAll(async () => {
    store = await database.open()
    const rows = openDatabase(database.url, { deadlineMs: 60_000 })
    for (const name of ['red', 'blue']) {
      const id = randomUUID()
      teams.push(id)
      await rows.query(sql`insert into teams (id, name, name_key, created_at) values (${id}, ${name}, ${name}, 1)`)
    }
    for (const [nth, name] of ['ann', 'bob', 'cleo', 'dora', 'Eve'].entries()) {
      const id = (await store.addUser({ name, createdAt: nth })) ?? ''
      users.push(id)
      if (nth < 4) await rows.query(sql`update users set team_id = ${teams[nth % 2]} where id = ${id}`)
    }
    for (let nth = 0; nth < 8; nth++) tokens.push(`token-${nth}-${randomUUID()}`)
    const day = Date.UTC(2026, 1, 26)
    for (let nth = 0; nth < 600; nth++) {
      const user = (nth * 7) % users.length
      const at = day + ((nth * 13) % 9) * 86_400_000
      const call = {
        user: users[user] ?? '',
        // Each user has tokens of his own, and calls without a token.
        token: nth % 5 === 0 ? undefined : tokens[(user * 2 + (nth % 2)) % 8],
        model: `model-${['b', 'A', 'ä', '-', 'Z'][nth % 5]}`,
        day: new Date(at).toISOString().slice(0, 10),
        team: user < 4 ? teams[user % 2] : undefined,
      }
      calls.push(call)
      const counted = { input: 10, cachedInput: 4, output: 5, reasoning: 3 }
      store.recordUsage({ user: call.user, token: call.token, model: call.model, at, tokens: counted, cost: 7 })
      if (nth % 200 === 0) await store.flushUsage()
      if (nth % 11 !== 0) continue
      const video = { ...call, token: call.token ?? tokens[0], model: `video-${nth % 3}`, seconds: nth % 7 }
      calls.push(video)
      await rows.batch([
        addUsage({
          ...{
            user: video.user,
            token: video.token ?? '',
            model: video.model,
            day: video.day,
            calls: 1,
            unreported: 0,
          },
          ...{ input: 10, cachedInput: 4, output: 5, reasoning: 3, cost: 7, videoSeconds: video.seconds },
        }),
      ])
    }
    await rows.close()
    await store.flushUsage()
  })

  const walk = async (filter: UsageSumFilter, by: readonly UsageDimension[], limit: number) => {
    const rows: UsageTotal[] = []
    let after: UsageSumKey | undefined
    for (let pages = 0; pages < 2_000; pages++) {
      const page = await store.sumUsage({ filter, by, limit, after })
      rows.push(...page.rows)
      if (page.rows.length > limit) throw new Error('the page is too long')
      if (!page.next) return rows
      after = page.next
    }
    throw new Error('the walk does not end')
  }

  const plain = ({ userName: _, teamName: __, tokenName: ___, tokenStart: ____, ...row }: UsageTotal) => row

  test('by any properties, with any filter and page size, are those of the calls, each once', async () => {
    // Most without a value: several filters at once leave few rows.
    const one = (values: readonly string[]) =>
      fc.oneof({ arbitrary: fc.constant(undefined), weight: 4 }, { arbitrary: fc.constantFrom(...values), weight: 1 })
    const days = ['2026-02-01', '2026-02-27', '2026-02-28', '2026-03-01', '2026-03-03', '2026-03-31', '2026-04-01']
    const filters = fc.record({
      since: one(days),
      until: one(days),
      user: one([...users, 'nobody']),
      team: one([...teams, 'none']),
      token: one([...tokens, 'none']),
      model: one(['model-A', 'model-ä', 'video-1', 'none']),
      kind: one(['text', 'video']) as fc.Arbitrary<'text' | 'video' | undefined>,
    })
    const property = fc.asyncProperty(
      filters,
      fc.uniqueArray(fc.constantFrom(...usageDimensions)),
      fc.integer({ min: 1, max: 40 }),
      async (filter, by, limit) => {
        const rows = await walk(filter, by, limit)
        const expected = expectedSums(calls, filter, by)
        const found = new Map(rows.map((row) => [keyText(row), plain(row)]))
        expect(found.size).toBe(rows.length)
        expect([...found.keys()].sort()).toEqual([...expected.keys()].sort())
        for (const [key, sum] of expected) expect(found.get(key)).toMatchObject(sum)
        for (const row of rows) expect(row.videoSeconds).toBe(expected.get(keyText(row))?.videoSeconds)
      },
    )
    await fc.assert(property, { numRuns: repeats(40, 150) })
  }, 300_000)

  test('by user, all rows of a user are found also when each step reads a part of them', async () => {
    const user = randomUUID()
    const model = `steps-${randomUUID()}`
    for (let nth = 0; nth < 2_500; nth++) {
      const at = Date.UTC(2020, 0, 1) + nth * 86_400_000
      store.recordUsage({ user, model, at, tokens: { input: 1, cachedInput: 0, output: 0, reasoning: 0 } })
    }
    for (const by of [['user'], ['model'], ['user', 'model'], []] as const) {
      const { rows } = await store.sumUsage({ filter: { model }, by, limit: 5 })
      expect(rows).toMatchObject([{ calls: 2_500, inputTokens: 2_500 }])
    }
    const { rows } = await store.sumUsage({ filter: { user }, by: ['day'], limit: 3 })
    expect(rows.map(({ day }) => day)).toEqual(['2020-01-01', '2020-01-02', '2020-01-03'])
  })

  describe('names', () => {
    test('stand beside the ids of users and teams', async () => {
      const { rows } = await store.sumUsage({ filter: { user: users[0] }, by: ['user', 'team'], limit: 5 })
      expect(rows).toMatchObject([{ user: users[0], userName: 'ann', team: teams[0], teamName: 'red' }])
    })

    test('of a deleted team and of deleted tokens stay', async () => {
      const dayMs = 86_400_000
      const team = await store.addTeam({ name: 'gone', createdAt: 1 })
      if (team === 'name-taken') throw new Error(team)
      const user = await store.addAdminUser({ name: 'Fay', team: team.id, createdAt: 1 })
      if (typeof user === 'string') throw new Error(user)
      const add = (label: string | undefined, createdAt: number, expiresAt?: number) =>
        store.addToken({ user: user.id, hash: randomUUID(), start: `sk-${label}`, label, createdAt, expiresAt })
      const ended = [await add('revoked', dayMs), await add('expired', dayMs, 2 * dayMs), await add(undefined, dayMs)]
      const unused = await add('unused', dayMs, 2 * dayMs)
      for (const token of ended)
        store.recordUsage({ user: user.id, token, model: 'm', at: dayMs, tokens: undefined, cost: undefined })
      await store.flushUsage()
      for (const token of [ended[0], ended[2]]) await store.revokeToken(String(token), 2 * dayMs)
      expect(await store.changeUser(user.id, { team: null }, { now: 1 })).toBe('changed')
      expect(await store.deleteTeam(team.id)).toBe('deleted')
      // It sweeps the tokens that ended long before.
      await add('new', 40 * dayMs)
      for (const token of [...ended, unused]) expect(await store.adminToken(String(token))).toBeUndefined()

      const { rows } = await store.sumUsage({ filter: { user: user.id }, by: ['team', 'token'], limit: 5 })
      const names = rows.map(({ teamName, tokenName, tokenStart }) => `${teamName} ${tokenName} ${tokenStart}`)
      expect(names.sort()).toEqual([
        'gone expired sk-expired',
        'gone revoked sk-revoked',
        'gone undefined sk-undefined',
      ])
      const own = await store.listUsage({ user: user.id })
      expect(own.map(({ tokenLabel, tokenStart }) => `${tokenLabel} ${tokenStart}`).sort()).toEqual([
        'expired sk-expired',
        'revoked sk-revoked',
        'undefined sk-undefined',
      ])
      const rowsOf = openDatabase(database.url, { deadlineMs: 60_000 })
      const kept = await rowsOf.query(sql`select id from deleted_names where id = ${unused}`)
      await rowsOf.close()
      expect(kept).toEqual([])
    })
  })
})
