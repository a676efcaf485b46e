import { expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { type NewVerification, statusPathTo, verificationStatuses } from '../../plugins/face-verification/index.ts'
import { eachStore } from '../face-verification/fixture.ts'

const made = (more: Partial<NewVerification> = {}): NewVerification => ({
  id: randomUUID(),
  user: 'ann',
  kind: 'ark',
  status: 'waiting_user',
  token: 'the token',
  stateHash: randomUUID(),
  createdAt: 1_000,
  expiresAt: 9_000,
  dueAt: 2_000,
  ...more,
})

eachStore('verifications', (stores) => {
  const add = async (more?: Partial<NewVerification>) => {
    const wanted = made(more)
    expect(await stores()[0].addVerification(wanted)).toBeTrue()
    return wanted
  }

  test('a verification is found by its id and by its state, as it was added', async () => {
    const [store, other] = stores()
    const { stateHash = '', ...wanted } = await add()
    expect(await other.verification(wanted.id)).toEqual({ ...wanted, polls: 0 })
    expect(await store.verificationByState(stateHash)).toEqual({ ...wanted, polls: 0 })
    expect(await store.verification(stateHash)).toBeUndefined()
    expect(await store.verificationByState(wanted.id)).toBeUndefined()
  })

  test('of 20 users who add one id concurrently, one succeeds; adding it again changes nothing', async () => {
    const [store, other] = stores()
    const id = randomUUID()
    const added = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 ? store : other).addVerification(made({ id, user: String(index) })),
      ),
    )
    expect(added.filter(Boolean).length).toBe(1)
    const user = (await store.verification(id))?.user
    expect(await store.addVerification(made({ id, user, dueAt: 7 }))).toBeTrue()
    expect((await store.verification(id))?.dueAt).toBe(2_000)
  })

  for (const from of verificationStatuses) {
    test(`from ${from} it moves only to states that have a path from there`, async () => {
      const [store] = stores()
      for (const to of verificationStatuses) {
        for (const start of verificationStatuses) {
          const way = statusPathTo(start, to)
          if (!way) continue
          const { id } = await add({ status: from })
          const isOnWay = way.slice(0, -1).includes(from)
          expect([from, way, await store.moveVerification(id, way, { group: 'g' })]).toEqual([from, way, isOnWay])
          expect((await store.verification(id))?.status).toBe(isOnWay ? to : from)
        }
      }
    })
  }

  test('of 20 concurrent moves, one takes effect', async () => {
    const [store, other] = stores()
    const { id } = await add()
    const ends = ['failed', 'expired'] as const
    const moved = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 ? store : other).moveVerification(id, ['waiting_user', ends[index % 2 ? 0 : 1]]),
      ),
    )
    expect(moved.filter(Boolean).length).toBe(1)
  })

  test('a verification that has ended is never due again, and its token is deleted', async () => {
    const [store] = stores()
    for (const end of ['verified', 'failed', 'expired'] as const) {
      const { id } = await add({ status: 'resolving' })
      await store.moveVerification(id, ['resolving', end], { group: 'g', dueAt: 1 })
      const { token, dueAt, group } = (await store.verification(id)) ?? {}
      expect([token, dueAt, group]).toEqual([undefined, undefined, 'g'])
      expect(await store.leaseVerification(id, 5_000, 6_000)).toBeUndefined()
      expect(await store.dueVerifications('ark', 1e12, 1_000)).not.toContain(id)
    }
  })

  test('of 20 concurrent leases, one succeeds and holds until it expires or is released', async () => {
    const [store, other] = stores()
    const wanted = await add()
    const { id } = wanted
    const leases = await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 ? store : other).leaseVerification(id, 3_000, 4_000 + index)),
    )
    const [leased, ...others] = leases.filter((lease) => lease !== undefined)
    expect([leased?.id, others.length]).toEqual([id, 0])
    const until = 4_000 + leases.findIndex((lease) => lease !== undefined)
    expect(await store.leaseVerification(id, until - 1, 9_000)).toBeUndefined()
    await store.releaseVerification(wanted, until, { notBefore: 0, dueAt: 8_000, polls: 3 })
    expect(await store.verification(id)).toMatchObject({ dueAt: 8_000, polls: 3 })
    expect(await other.leaseVerification(id, 3_100, 5_000)).toBeDefined()
    expect(await other.leaseVerification(id, 5_000, 6_000)).toBeDefined()
  })

  test('a released verification cannot be leased before `notBefore`, unless it became due again meanwhile', async () => {
    const [store, other] = stores()
    for (const isAnew of [false, true]) {
      const { id } = await add()
      const leased = await store.leaseVerification(id, 3_000, 4_000)
      if (!leased) throw new Error('it can be leased')
      if (isAnew) await other.moveVerification(id, ['waiting_user', 'callback_received'], { dueAt: 3_100 })
      await store.releaseVerification(leased, 4_000, { notBefore: 3_500, dueAt: 7_000, polls: 1 })
      expect(await store.verification(id)).toMatchObject(
        isAnew ? { dueAt: 3_100, polls: 0 } : { dueAt: 7_000, polls: 1 },
      )
      expect((await store.leaseVerification(id, 3_200, 5_000)) !== undefined).toBe(isAnew)
    }
  })

  test('a verification can become due again in the millisecond in which it was due', async () => {
    const [store] = stores()
    const { id } = await add({ dueAt: 3_000 })
    const leased = await store.leaseVerification(id, 3_000, 4_000)
    if (!leased) throw new Error('it can be leased')
    await store.moveVerification(id, ['waiting_user', 'callback_received'], { dueAt: 3_000 })
    await store.releaseVerification(leased, 4_000, { notBefore: 3_500, dueAt: 7_000, polls: 1 })
    expect(await store.dueVerifications('ark', 3_000, 1_000)).toContain(id)
  })

  test('an expired lease cannot release the verification', async () => {
    const [store, other] = stores()
    const wanted = await add()
    await store.leaseVerification(wanted.id, 3_000, 4_000)
    await other.leaseVerification(wanted.id, 4_000, 5_000)
    await store.releaseVerification(wanted, 4_000, { notBefore: 0, dueAt: undefined, polls: 9 })
    expect(await store.leaseVerification(wanted.id, 4_500, 6_000)).toBeUndefined()
    expect(await store.verification(wanted.id)).toMatchObject({ dueAt: 2_000, polls: 0 })
  })

  test('due verifications of one kind are listed, those in progress first; one without a due time is never leased', async () => {
    const [store] = stores()
    await store.deleteVerifications(1e12, 1_000)
    const late = await add({ dueAt: 100 })
    const waiting = await add({ dueAt: 50 })
    const back = await add({ dueAt: 150, status: 'resolving' })
    const leased = await add({ dueAt: 40 })
    const never = await add({ dueAt: 60 })
    await add({ dueAt: 201 })
    await add({ dueAt: 10, kind: 'rest' })
    await store.leaseVerification(leased.id, 100, 300)
    await store.leaseVerification(never.id, 100, 150)
    await store.releaseVerification(never, 150, { notBefore: 0, dueAt: undefined, polls: 0 })
    expect(await store.dueVerifications('ark', 200, 10)).toEqual([back.id, waiting.id, late.id])
    expect(await store.dueVerifications('ark', 200, 2)).toEqual([back.id, waiting.id])
    expect(await store.dueVerifications('ark', 300, 10)).toContain(leased.id)
    expect(await store.leaseVerification(never.id, 400, 500)).toBeUndefined()
    expect([await store.nextVerificationDue('ark'), await store.nextVerificationDue('rest')]).toEqual([50, 10])
  })

  test('the next due time respects leases', async () => {
    const [store] = stores()
    await store.deleteVerifications(1e12, 1_000)
    expect(await store.nextVerificationDue('ark')).toBeUndefined()
    const { id } = await add({ dueAt: 50 })
    await store.leaseVerification(id, 60, 900)
    expect(await store.nextVerificationDue('ark')).toBe(900)
  })

  test('verifications created before the given time are deleted', async () => {
    const [store] = stores()
    const old = await add({ createdAt: 1 })
    const young = await add({ createdAt: 2 })
    await store.deleteVerifications(2, 1_000)
    expect([await store.verification(old.id), (await store.verification(young.id))?.id]).toEqual([undefined, young.id])
  })
})
