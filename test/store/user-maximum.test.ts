import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

const day = 86_400_000

eachDatabase('the maximum for one user', (database) => {
  let stores: readonly [Store, Store]
  beforeAll(async () => {
    stores = [await database.open(), await database.open()]
  })

  const newUser = async () => {
    const [name, password] = [randomUUID(), 'hash']
    return { name, password, id: (await stores[0].addUser({ name, password, createdAt: 1 })) ?? '' }
  }
  /** Alternates between the stores of two processes. */
  const many = <Result>(count: number, call: (store: Store, index: number) => Promise<Result>): Promise<Result[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => call(index % 2 ? stores[1] : stores[0], index)))
  const token = (user: string, createdAt: number, expiresAt?: number) => ({
    ...{ user, createdAt, expiresAt },
    hash: randomUUID(),
    start: 'sk-',
  })

  test('of tokens is exact with concurrent calls', async () => {
    const [ann, bob] = [await newUser(), await newUser()]
    const made = await many(20, (store) => store.addToken(token(ann.id, 5), 7))
    expect(made.filter((id) => id !== undefined)).toHaveLength(7)
    expect(await stores[0].addToken(token(bob.id, 5), 7)).toBeString()
  })

  test('of tokens counts active tokens only', async () => {
    const [store] = stores
    const { id: user } = await newUser()
    expect(await store.addToken(token(user, 5, 10), 2)).toBeString()
    const second = await store.addToken(token(user, 5), 2)
    expect(await store.addToken(token(user, 9), 2)).toBeUndefined()
    expect(await store.addToken(token(user, 10), 2)).toBeString()
    expect(await store.addToken(token(user, 10), 2)).toBeUndefined()
    await store.revokeToken(second ?? '', 11)
    expect(await store.addToken(token(user, 12), 2)).toBeString()
    // The maximum does not apply to an administrator.
    expect(await store.addToken(token(user, 12))).toBeString()
    expect(await store.listTokens(user, 12)).toHaveLength(3)
    expect(await store.listTokens(user)).toHaveLength(5)
  })

  test('of tokens created within a day is ten times as high, and includes revoked ones', async () => {
    const [store] = stores
    const { id: user } = await newUser()
    const now = 40 * day
    const addToken = async (createdAt: number) => {
      const id = await store.addToken(token(user, createdAt), 2)
      if (id !== undefined) await store.revokeToken(id, createdAt)
      return id !== undefined
    }
    const made: boolean[] = []
    for (let index = 0; index < 22; index++) made.push(await addToken(now + index))
    expect(made).toEqual([...Array(20).fill(true), false, false])
    expect(await addToken(now + day)).toBe(true)
    expect(await addToken(now + day)).toBe(false)
    expect(await store.addToken(token(user, now + day))).toBeString()
  })

  test('of sessions ends the oldest ones, and keeps the new one', async () => {
    const [store] = stores
    const { id: user, password } = await newUser()
    const session = (createdAt: number) => {
      const ends = { idleUntil: createdAt + day, endsAt: createdAt + day }
      return { hash: randomUUID(), id: randomUUID(), user, name: 'ann', password, createdAt, ...ends }
    }
    const begun = [session(1), session(2), session(3), session(4)]
    for (const each of begun) expect(await store.addSession(each, [], 3)).toBe(true)
    const held = await Promise.all(begun.map(async ({ hash }) => (await store.session(hash)) !== undefined))
    expect(held).toEqual([false, true, true, true])
    const crowd = Array.from({ length: 12 }, () => session(9))
    await many(12, (each, index) => each.addSession(crowd[index] ?? session(9), [], 3))
    const left = await Promise.all([...begun, ...crowd].map(({ hash }) => store.session(hash)))
    expect(left.filter((each) => each !== undefined)).toHaveLength(3)
    const last = session(10)
    expect(await store.addSession(last, [], 1)).toBe(true)
    expect(await store.session(last.hash)).toBeDefined()
    const gone = await Promise.all([...begun, ...crowd].map(({ hash }) => store.session(hash)))
    expect(gone.filter((each) => each !== undefined)).toEqual([])
  })

  test('of open face verifications is exact, and the store returns when the first one ends', async () => {
    const [store] = stores
    const [user, other] = [randomUUID(), randomUUID()]
    const reservation = (createdAt = 5, who = user) => ({
      id: randomUUID(),
      user: who,
      createdAt,
      expiresAt: createdAt + 100,
    })
    const reservations = Array.from({ length: 20 }, () => reservation())
    const results = await many(20, (each, index) => each.reserveVerification(reservations[index] ?? reservation(), 5))
    expect(results.filter((result) => result === undefined)).toHaveLength(5)
    expect(results.filter((result) => result === 105)).toHaveLength(15)
    expect(await store.reserveVerification(reservation(5, other), 5)).toBeUndefined()
    const reserved = reservations.filter((_, index) => results[index] === undefined)
    // A released reservation, and a verification that has ended, count no more.
    await store.releaseReservation(reserved[0]?.id ?? '')
    const id = randomUUID()
    const task = { id, user, kind: 'ark', status: 'waiting_user', createdAt: 6, expiresAt: 500, dueAt: 7 } as const
    expect(await store.addVerification(task, reserved[1]?.id)).toBe(true)
    expect(await store.reserveVerification(reservation(6), 5)).toBeUndefined()
    expect(await store.reserveVerification(reservation(6), 5)).toBe(105)
    expect(await store.moveVerification(id, ['waiting_user', 'expired'])).toBe(true)
    expect(await store.reserveVerification(reservation(7), 5)).toBeUndefined()
    expect(await store.reserveVerification(reservation(7), 5)).toBe(105)
    // The others count no more when they have expired.
    expect(await store.reserveVerification(reservation(1_000), 1)).toBeUndefined()
  })

  test('a reservation is not returned as a verification', async () => {
    const [store] = stores
    const reservation = { id: randomUUID(), user: randomUUID(), createdAt: 5, expiresAt: 105 }
    await store.reserveVerification(reservation, 1)
    expect(await store.dueVerifications('ark', 1_000, 1_000)).not.toContain(reservation.id)
    expect(await store.leaseVerification(reservation.id, 1_000, 2_000)).toBeUndefined()
    expect((await store.verification(reservation.id))?.kind).not.toBeOneOf(['ark', 'rest'])
  })

  test('ended tokens are listed for thirty days; later creations delete them in batches', async () => {
    const [store] = stores
    const { id: user } = await newUser()
    const now = 100 * day
    const revoked = await store.addToken(token(user, now))
    await store.addToken(token(user, now, now + 5))
    const working = await store.addToken(token(user, now))
    await store.revokeToken(revoked ?? '', now + 5)
    await store.addToken(token(user, now + 30 * day))
    expect(await store.listTokens(user)).toHaveLength(4)
    const last = await store.addToken(token(user, now + 30 * day + 6))
    const ids = (await store.listTokens(user)).map(({ id }) => id)
    expect(ids).toHaveLength(3)
    expect(ids).toContain(working ?? '')
    expect(ids).toContain(last ?? '')
  })
})
