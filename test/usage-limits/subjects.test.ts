import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { Elysia } from 'elysia'
import { type Limit, type LimitList, limitRoutes, usageLimits } from 'sluice/usage-limits'
import type { Identity } from '../../plugins/shared/identity/identify.ts'
import { RevisionClock } from '../../plugins/shared/identity/revision-clock.ts'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'
import { StoreClock } from './fixture.ts'

const json = (...limits: readonly Limit[]): string => JSON.stringify(limits)
const requests = (amount: number, window?: Limit['window']): Limit => ({
  unit: 'requests',
  amount,
  ...(window && { window }),
})

eachDatabase('the limits of a user', (database) => {
  let store: Store
  beforeAll(async () => {
    store = await database.open()
  })

  const open = () => {
    const clock = new StoreClock()
    const time = { now: 0 }
    const revisionClock = new RevisionClock((since) => store.revision(since), { clock: { now: () => time.now } })
    const limits = usageLimits({
      ...{ store: clock.watched(store.limits), clock, revisionClock },
      ...{ accountLimits: [requests(1_000_000, 'month')], userLimits: [requests(10, 'day')] },
    })
    const listed = async (user: string, token?: string) =>
      (await limits.report({ user, token })).map(({ subject, amount, window }) => [
        subject.type,
        subject.name,
        amount,
        window,
      ])
    return { limits, listed, time }
  }

  test('are those of the account, the team, the user or all users, and the token; a change takes effect within a second', async () => {
    const { listed, time } = open()
    const createdAt = 1
    const teamName = `team-${randomUUID()}`
    const team = await store.addTeam({ name: teamName, limits: json(requests(50)), createdAt })
    if (typeof team === 'string') throw new Error(team)
    const name = randomUUID()
    const added = await store.addAdminUser({ name, createdAt })
    if (typeof added === 'string') throw new Error(added)
    const { id: user } = added
    const account = ['account', 'account', 1_000_000, 'month']
    expect(await listed(user)).toEqual([account, ['user', name, 10, 'day']])

    const token = await store.addToken({ user, hash: randomUUID(), start: 'sk-abc', label: 'laptop', createdAt })
    await store.changeToken(token, { limits: json(requests(3, 'hour')) })
    await store.changeUser(user, { team: team.id, limits: json(requests(20, 'week'), requests(9)) }, { now: 1 })
    time.now += 1_000
    const teamEntry = ['team', teamName, 50, null]
    const own = [
      ['user', name, 20, 'week'],
      ['user', name, 9, null],
    ]
    expect(await listed(user)).toEqual([account, teamEntry, ...own])
    expect(await listed(user, token)).toEqual([account, teamEntry, ...own, ['token', 'laptop', 3, 'hour']])
    // Of somebody else's token.
    expect(await listed(randomUUID(), token)).toHaveLength(2)

    await store.changeTeam(team.id, { limits: null })
    await store.changeUser(user, { limits: json() }, { now: 1 })
    time.now += 1_000
    expect(await listed(user)).toEqual([account])
    await store.changeUser(user, { limits: null, team: null }, { now: 1 })
    time.now += 1_000
    expect(await listed(user)).toEqual([account, ['user', name, 10, 'day']])
  })

  test('are listed by the route with those of the token of the call, or of an own token that a session names', async () => {
    const { limits } = open()
    const createdAt = 1
    const [ann, bob] = [randomUUID(), randomUUID()]
    const tokenOf = async (user: string, label: string) => {
      const token = await store.addToken({ user, hash: randomUUID(), start: 'sk-abc', label, createdAt })
      await store.changeToken(token, { limits: json(requests(3, 'hour')) })
      return token
    }
    const [one, two, other] = [await tokenOf(ann, 'one'), await tokenOf(ann, 'two'), await tokenOf(bob, 'other')]
    let identity: Identity | undefined
    const app = new Elysia().use(limitRoutes({ limits, identify: () => identity }))
    const tokensAt = async (query: string) => {
      const response = await app.handle(new Request(`http://localhost/api/limits${query}`))
      expect(response.status).toBe(200)
      const listed = ((await response.json()) as LimitList).limits
      return listed.filter(({ subject }) => subject.type === 'token').map(({ subject }) => subject.name)
    }
    identity = { user: ann }
    expect(await tokensAt('')).toEqual([])
    expect(await tokensAt(`?token=${one}`)).toEqual(['one'])
    for (const id of [other, 'none', '', 'a%00', 'a'.repeat(257)]) expect(await tokensAt(`?token=${id}`)).toEqual([])
    identity = { user: ann, token: two }
    expect(await tokensAt(`?token=${one}`)).toEqual(['two'])
    expect((await store.listTokens(ann)).map(({ hasLimits }) => hasLimits)).toEqual([true, true])
    await store.changeToken(one, { limits: json() })
    expect((await store.listTokens(ann, 5)).filter(({ hasLimits }) => hasLimits)).toHaveLength(1)
  })

  test('of a host app, whom the store does not know, are those of all users', async () => {
    const { listed } = open()
    const user = randomUUID()
    expect((await listed(user)).at(-1)).toEqual(['user', user, 10, 'day'])
  })

  test('with a lower amount than before let through nothing that was free before', async () => {
    const { limits, time } = open()
    const name = randomUUID()
    const added = await store.addAdminUser({ name, limits: json(requests(1_000_000)), createdAt: 1 })
    if (typeof added === 'string') throw new Error(added)
    const { id: user } = added
    for (let nth = 0; nth < 50; nth++) (await limits.reserve({ user, uses: { requests: 1 } }))?.settle({ requests: 1 })
    await store.changeUser(user, { limits: json(requests(50)) }, { now: 1 })
    time.now += 1_000
    await expect(Promise.resolve(limits.reserve({ user, uses: { requests: 1 } }))).rejects.toMatchObject({
      status: 429,
    })
  })
})
