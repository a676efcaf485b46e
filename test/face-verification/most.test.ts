import { expect, test } from 'bun:test'
import type { AuditEvent } from '../../plugins/shared/audit.ts'
import { eachStore, scene } from './fixture.ts'

eachStore('one user’s open tasks', (stores) => {
  const open = async (maxOpen: number) => {
    const [one, other] = stores()
    const first = await scene({ store: one, maxOpen })
    const second = await scene({ store: other, vendor: first.vendor, clock: first.clock, maxOpen })
    const begun = () => first.vendor.asked('CreateVisualValidateSession').length
    return { begun, clock: first.clock, create: (nth: number) => (nth % 2 ? first : second).ann.create() }
  }

  test('are so many, however many are begun at once in two processes; the upstream hears of no others', async () => {
    const { begun, clock, create } = await open(3)
    const replies = await Promise.all(Array.from({ length: 12 }, (_, nth) => create(nth)))
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(3)
    expect(begun()).toBe(3)
    const refused = replies.filter(({ status }) => status !== 200)
    for (const { status, json, headers } of refused) {
      expect([status, json.error.message]).toEqual([429, 'too many face verifications are open'])
      expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    }
    const again = await create(0)
    expect([again.status, again.headers.get('retry-after')]).toEqual([429, '1800'])
    await clock.pass(1_800_000)
    expect((await create(0)).status).toBe(200)
  })

  test('that are too many are in the audit trail, as every limit that is reached', async () => {
    const [store] = stores()
    const told: AuditEvent[] = []
    const note = (event: AuditEvent) => told.push(event)
    const { as } = await scene({ store, maxOpen: 1, audit: { note, async record() {} } })
    const eve = as('eve')
    await eve.create()
    expect((await eve.create()).status).toBe(429)
    expect(told.slice(1)).toEqual([{ action: 'limit.reach', target: { kind: 'verification' }, status: 429 }])
  })
})
