import { expect, test } from 'bun:test'
import type { AuditEvent } from '../../plugins/shared/audit.ts'
import { eachStore, openFixture } from './fixture.ts'

eachStore('the limit of open tasks of one user', (stores) => {
  /** Two processes on one database. */
  const twoProcesses = async (maxOpen: number) => {
    const [one, other] = stores()
    const first = await openFixture({ store: one, maxOpen })
    const second = await openFixture({ store: other, vendor: first.vendor, clock: first.clock, maxOpen })
    const sessions = () => first.vendor.callsTo('CreateVisualValidateSession').length
    return { sessions, clock: first.clock, create: (nth: number) => (nth % 2 ? first : second).ann.create() }
  }

  test('holds for concurrent creations in two processes; the upstream gets no request beyond it', async () => {
    const { sessions, clock, create } = await twoProcesses(3)
    const replies = await Promise.all(Array.from({ length: 12 }, (_, nth) => create(nth)))
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(3)
    expect(sessions()).toBe(3)
    const rejected = replies.filter(({ status }) => status !== 200)
    for (const { status, json, headers } of rejected) {
      expect([status, json.error.message]).toEqual([429, 'too many face verifications are open'])
      expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    }
    const again = await create(0)
    expect([again.status, again.headers.get('retry-after')]).toEqual([429, '1800'])
    await clock.pass(1_800_000)
    expect((await create(0)).status).toBe(200)
  })

  test('is in the audit trail when a user reaches it', async () => {
    const [store] = stores()
    const events: AuditEvent[] = []
    const note = (event: AuditEvent) => events.push(event)
    const { as } = await openFixture({ store, maxOpen: 1, audit: { note, async record() {} } })
    const eve = as('eve')
    await eve.create()
    expect((await eve.create()).status).toBe(429)
    expect(events.slice(1)).toEqual([{ action: 'limit.reach', target: { kind: 'verification' }, status: 429 }])
  })
})
