import { beforeAll, expect, test } from 'bun:test'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'
import { VirtualClock } from '../support/virtual-clock.ts'
import { openThings, problemOf } from './fixture.ts'

eachDatabase('the lease of an Idempotency-Key', (database) => {
  const stores: Store[] = []
  beforeAll(async () => {
    stores.push(await database.open(), await database.open())
  })

  test('is in progress as long as it runs when its lease is renewed, and its process lives', async () => {
    const clock = new VirtualClock()
    const things = openThings(stores, { leaseMs: 9_000, clock })
    const long = Promise.withResolvers<Response>()
    const leases: (number | undefined)[] = []
    const first = things.create('k', {
      renewsLease: true,
      async handle(attempt) {
        const response = await long.promise
        leases.push(attempt?.leaseUntil)
        return response
      },
    })
    for (let renewals = 0; renewals < 4; renewals++) {
      while (clock.pending === 0) await Bun.sleep(1)
      await clock.pass(3_000)
    }
    while (clock.pending === 0) await Bun.sleep(1)
    expect(await problemOf(things.create('k', { by: 1 }))).toMatchObject({ code: 'idempotency_key_in_use' })
    long.resolve(Response.json({ thing: 'long' }))
    expect((await first).status).toBe(200)
    expect([leases, clock.pending]).toEqual([[clock.now() + 9_000], 0])
    expect(await (await things.create('k', { by: 1 })).json()).toEqual({ thing: 'long' })
  })
})
