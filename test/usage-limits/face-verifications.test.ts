import { describe, expect, test } from 'bun:test'
import { type Limit, type UsageLimits, usageLimits } from '../../plugins/usage-limits/index.ts'
import { hashPassword } from '../../plugins/web-session/index.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { migratedDatabase, repeatedDatabases } from '../support/database.ts'
import { openVideoFixture } from '../video-generation/fixture.ts'

const path = '/api/media/face-verifications'

/** A gateway where each user may have some groups, and the browser of one user. */
const open = async (database: (typeof repeatedDatabases)[number], groups: number) => {
  let limits: UsageLimits | undefined
  const limitsOf = (store: Store) => {
    limits = usageLimits({ store: store.limits, userLimits: [{ unit: 'groups', amount: groups }] })
    return limits
  }
  const fixture = await openVideoFixture({ database, more: { limitsOf } })
  const { gateway, ann, store, emulator } = fixture
  await store.changeUser(ann.id, { password: await hashPassword('correct horse') }, { now: 1 })
  const { name } = (await store.adminUser(ann.id)) ?? { name: '' }
  const send = async (method: string, at: string, body?: object, cookie = '') => {
    const headers = { origin: gateway.url, cookie, 'content-type': 'application/json' }
    return fetch(gateway.url + at, { method, headers, body: body && JSON.stringify(body) })
  }
  const login = await send('POST', '/api/session', { name, password: 'correct horse' })
  const cookie = login.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  return {
    ...fixture,
    /** Starts a verification. */
    verify: async () => {
      const response = await send('POST', path, {}, cookie)
      return { status: response.status, json: (await response.json()) as Record<string, unknown> }
    },
    statusOf: async (id: unknown) =>
      ((await (await send('GET', `${path}/${id}`, undefined, cookie)).json()) as Record<string, unknown>).status,
    /** Ends the session of the last verification at the upstream. */
    finish: async (decision: 'succeed' | 'fail') => {
      const token = emulator.face.sessions().at(-1)?.bytedToken ?? ''
      await fetch(emulator.face.finish(token, decision) ?? '')
    },
    sessions: () => emulator.calls.filter(({ action }) => action === 'CreateVisualValidateSession').length,
    used: async () => (await limits?.report({ user: ann.id }))?.map(({ used, reserved }) => [used, reserved]),
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  }
}

const refusal = {
  success: false,
  error: { message: 'the limit of 2 groups at once of the user is reached', type: 'media_proxy_error' },
}

describe.each(repeatedDatabases)('face verifications and the limit on groups (%s)', (database) => {
  test('of some at once, as many begin as there is room for; the upstream gets no request of the others', async () => {
    await using it = await open(database, 2)
    const replies = await Promise.all(Array.from({ length: 5 }, it.verify))
    let begun = replies.filter(({ status }) => status === 200).length
    // On a slow machine some are refused although there is room, because others are not settled in time.
    for (; begun < 2; begun++) expect((await it.verify()).status).toBe(200)
    expect([begun, it.sessions()]).toEqual([2, 2])
    expect(await it.verify()).toEqual({ status: 429, json: refusal })
    expect(await it.used()).toEqual([[2, 0]])
    expect((await it.ann.ask('POST', '/assets/groups', { Name: 'g' })).json).toEqual(refusal)
    expect(it.sessions()).toBe(2)
  }, 300_000)

  test('the group takes the place of its verification; one that fails leaves its place', async () => {
    await using it = await open(database, 2)
    expect((await it.ann.ask('POST', '/assets/groups', { Name: 'g' })).status).toBe(200)
    const failing = await it.verify()
    expect([failing.status, (await it.verify()).status, await it.used()]).toEqual([200, 429, [[2, 0]]])
    await it.finish('fail')
    expect([await it.statusOf(failing.json.verification_id), await it.used()]).toEqual(['failed', [[1, 0]]])
    const { json } = await it.verify()
    await it.finish('succeed')
    expect([await it.statusOf(json.verification_id), await it.used()]).toEqual(['verified', [[2, 0]]])
    expect((await it.verify()).status).toBe(429)
  }, 300_000)

  test('one that the upstream rejects leaves its place', async () => {
    await using it = await open(database, 1)
    it.emulator.faults.add({ kind: 'status', status: 400, body: '{}', action: 'CreateVisualValidateSession' })
    expect((await it.verify()).status).toBe(400)
    expect([await it.used(), (await it.verify()).status]).toEqual([[[0, 0]], 200])
  }, 300_000)

  test('one that is refused because too many are open holds no group', async () => {
    await using it = await open(database, 10)
    for (let begun = 0; begun < 5; begun++) expect((await it.verify()).status).toBe(200)
    const { status, json } = await it.verify()
    expect([status, json.error]).toMatchObject([429, { message: 'too many face verifications are open' }])
    expect(await it.used()).toEqual([[5, 0]])
  }, 300_000)

  test('counts for the user, the team and everybody, and for ten minutes after its end, when a result may be late', async () => {
    const { url, remove } = await migratedDatabase(database)
    const store = openStore(url, { deadlineMs: 60_000 })
    await store.migrate()
    const groups: Limit = { unit: 'groups', amount: 9 }
    const team = await store.addTeam({ name: 'red', limits: JSON.stringify([groups]), createdAt: 1 })
    if (typeof team === 'string') throw new Error(team)
    const user = await store.addAdminUser({ name: 'ann', team: team.id, createdAt: 1 })
    if (typeof user === 'string') throw new Error(user)
    const limits = usageLimits({ store: store.limits, accountLimits: [groups], userLimits: [groups] })
    const used = async () =>
      (await limits.report({ user: user.id })).map(({ subject, used }) => `${subject.type} ${used}`)
    const counts = (count: number) => [`account ${count}`, `team ${count}`, `user ${count}`]
    const minute = 60_000
    const now = Date.now()
    const times = (endedMs: number) => ({ createdAt: now - 40 * minute, expiresAt: now - endedMs, dueAt: now })
    const add = (id: string, endedMs: number) =>
      store.addVerification({ id, user: user.id, kind: 'ark', status: 'waiting_user', ...times(endedMs) })
    await add('open', -5 * minute)
    expect((await used()).sort()).toEqual(counts(1))
    await add('late', 9 * minute)
    expect((await used()).sort()).toEqual(counts(2))
    await add('over', 11 * minute)
    // Nobody knows a session of a reservation that was never replaced.
    await store.reserveVerification({ id: 'reserved-1', user: user.id, ...times(minute) }, 9)
    expect((await used()).sort()).toEqual(counts(2))
    await store.moveVerification('late', ['waiting_user', 'expired'])
    expect((await used()).sort()).toEqual(counts(1))
    await limits.stop()
    await store.close()
    await remove()
  }, 300_000)
})
