import { describe, expect, test } from 'bun:test'
import { createHmac, randomUUID } from 'node:crypto'
import { type Statement, sql } from '../../src/store/database/statement.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { type Chain, day, entryAt, now, openChain, placeOf } from './fixture.ts'

const key = 'a key that is not in the database'

repeatOnDatabases('the audit trail', (tested) => {
  /** The problems of a chain of 30 entries after someone without the key has run the statements. */
  const problemsAfter = async (tamper: (chain: Chain) => Promise<readonly Statement[]>) => {
    await using chain = await openChain(tested, { auditKeys: [key] })
    await chain.add(30)
    expect((await chain.store.verifyAudit()).problems).toEqual([])
    await chain.database.batch(await tamper(chain))
    return (await chain.store.verifyAudit()).problems
  }

  describe('its chain', () => {
    test('is intact, with a number and an HMAC for each entry', async () => {
      await using chain = await openChain(tested, { auditKeys: [key] })
      await chain.add(30)
      const entries = await chain.store.chainedAudit(0)
      expect(entries.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 30 }, (_, nth) => nth + 1))
      expect(entries.map(({ previous }) => previous)).toEqual([
        '',
        ...entries.slice(0, -1).map(({ hmac = '' }) => hmac),
      ])
      const { hmac = '' } = entries.at(-1) ?? {}
      expect(await chain.store.verifyAudit()).toEqual({
        ...{ problems: [], verified: 30, first: 1, removed: 0, head: { sequence: 30, hmac } },
        unchained: { entries: 0, newestAt: undefined },
        keys: [{ key: 'AUDIT_KEY 1', first: 1, last: 30 }],
      })
    })

    test('is intact with an entry that names no fields', async () => {
      await using chain = await openChain(tested, { auditKeys: [key] })
      const fields = [[], undefined, ['name']]
      await chain.store.recordAudit(fields.map((names, nth) => entryAt(now - 10 + nth, { fields: names })))
      expect((await chain.store.chainedAudit(0)).map((entry) => entry.fields)).toEqual(fields)
      expect(await chain.store.verifyAudit()).toMatchObject({ problems: [], verified: 3 })
    })

    // One statement for each column: a value that the column does not have in the entry.
    const changes: Readonly<Record<string, Statement>> = {
      at: sql`update audit_entries set at = at + 1 where sequence = 17`,
      action: sql`update audit_entries set action = 'asset.delete' where sequence = 17`,
      user_id: sql`update audit_entries set user_id = 'bob' where sequence = 17`,
      'user_id, removed': sql`update audit_entries set user_id = null where sequence = 17`,
      user_name: sql`update audit_entries set user_name = 'bob' where sequence = 17`,
      token_id: sql`update audit_entries set token_id = 't' where sequence = 17`,
      kind: sql`update audit_entries set kind = 'group' where sequence = 17`,
      target: sql`update audit_entries set target = 'other' where sequence = 17`,
      address: sql`update audit_entries set address = '192.0.2.1' where sequence = 17`,
      status: sql`update audit_entries set status = 200 where sequence = 17`,
      reason: sql`update audit_entries set reason = 'so' where sequence = 17`,
      fields: sql`update audit_entries set fields = 'role limits' where sequence = 17`,
      times: sql`update audit_entries set times = 2 where sequence = 17`,
      'target and kind, exchanged': sql`update audit_entries set kind = target, target = null where sequence = 17`,
    }
    for (const [column, statement] of Object.entries(changes)) {
      test(`shows a changed ${column}`, async () => {
        expect(await problemsAfter(async () => [statement])).toEqual([
          'entry 17 is changed or forged, or its key is not among the given ones',
        ])
      })
    }

    test('shows that entries were removed', async () => {
      expect(await problemsAfter(async () => [sql`delete from audit_entries where sequence = 17`])).toEqual([
        'entry 17 is missing',
      ])
      expect(await problemsAfter(async () => [sql`delete from audit_entries where sequence between 5 and 9`])).toEqual([
        'entries 5 to 9 are missing',
      ])
    })

    test('shows that entries were removed and the later ones numbered anew', async () => {
      const problems = await problemsAfter(async () => [
        sql`delete from audit_entries where sequence = 27`,
        sql`update audit_entries set sequence = sequence - 1 where sequence = 28`,
        sql`update audit_entries set sequence = sequence - 1 where sequence = 29`,
        sql`update audit_entries set sequence = sequence - 1 where sequence = 30`,
        sql`update audit_chain set sequence = 29 where name = 'head'`,
      ])
      expect(problems).toEqual(
        [27, 28, 29].map((entry) => `entry ${entry} is changed or forged, or its key is not among the given ones`),
      )
    })

    test('shows that two entries have changed places', async () => {
      const swapped = [
        sql`update audit_entries set sequence = 1000 where sequence = 17`,
        sql`update audit_entries set sequence = 17 where sequence = 18`,
        sql`update audit_entries set sequence = 18 where sequence = 1000`,
      ]
      const problems = await problemsAfter(async () => swapped)
      expect(problems.slice(0, 2)).toEqual(
        [17, 18].map((entry) => `entry ${entry} is changed or forged, or its key is not among the given ones`),
      )
      // With the HMACs at their old places, too.
      const again = await problemsAfter(async ({ database }) => {
        const [first, second] = [await placeOf(database, 17), await placeOf(database, 18)]
        return [
          ...swapped,
          sql`update audit_entries set hmac = ${first.hmac} where sequence = 17`,
          sql`update audit_entries set hmac = ${second.hmac} where sequence = 18`,
        ]
      })
      expect(again).toEqual(
        [17, 18].map((entry) => `entry ${entry} is changed or forged, or its key is not among the given ones`),
      )
    })

    test('shows an inserted entry, with or without a number, and with a forged HMAC', async () => {
      const insert = (sequence: number | undefined, hmac: string | undefined, at = now) => sql`
        insert into audit_entries (id, at, action, times, sequence, hmac)
        values (${randomUUID()}, ${at}, 'user.create', 1, ${sequence}, ${hmac})`
      expect(await problemsAfter(async () => [insert(undefined, undefined)])).toEqual([
        'an entry without an HMAC is newer than the chain: an earlier version, or someone without a key, wrote it',
      ])
      expect(await problemsAfter(async () => [insert(31, 'f'.repeat(64))])).toEqual([
        'entry 31 is changed or forged, or its key is not among the given ones',
        'the chain ends at entry 31, and says that it ends at entry 30',
      ])
      const forged = await problemsAfter(async ({ database }) => {
        const { hmac: previous } = await placeOf(database, 30)
        const message = [previous, 31, now, 'user.create', ...Array(9).fill(null), 1]
        const hmac = createHmac('sha256', 'another key of someone').update(JSON.stringify(message)).digest('hex')
        return [insert(31, hmac), sql`update audit_chain set sequence = 31, hmac = ${hmac} where name = 'head'`]
      })
      expect(forged).toEqual(['entry 31 is changed or forged, or its key is not among the given ones'])
    })

    test('accepts what someone with the key has forged: the message of the HMAC is documented', async () => {
      const forged = await problemsAfter(async ({ database }) => {
        const { hmac: previous } = await placeOf(database, 30)
        const message = [previous, 31, now, 'user.create', ...Array(9).fill(null), 1]
        const hmac = createHmac('sha256', key).update(JSON.stringify(message)).digest('hex')
        return [
          sql`
            insert into audit_entries (id, at, action, times, sequence, hmac)
            values (${randomUUID()}, ${now}, 'user.create', 1, 31, ${hmac})`,
          sql`update audit_chain set sequence = 31, hmac = ${hmac} where name = 'head'`,
        ]
      })
      expect(forged).toEqual([])
    })

    test('shows that its beginning was cut off, also with a changed anchor', async () => {
      const cut = sql`delete from audit_entries where sequence <= 10`
      expect(await problemsAfter(async () => [cut])).toEqual(['entries 1 to 10 are missing'])
      const moved = await problemsAfter(async ({ database }) => {
        const { hmac } = await placeOf(database, 10)
        return [cut, sql`update audit_chain set sequence = 10, hmac = ${hmac} where name = 'anchor'`]
      })
      expect(moved).toEqual(['the mark of the entries that were removed for their age is changed or forged'])
      expect(await problemsAfter(async () => [sql`delete from audit_chain where name = 'anchor'`])).toEqual([
        'the mark of the entries that were removed for their age is missing',
      ])
    })

    test('shows a cut end whose mark is left, and with an earlier head also one whose mark was set back', async () => {
      await using chain = await openChain(tested, { auditKeys: [key] })
      await chain.add(30)
      const { head } = await chain.store.verifyAudit()
      await chain.database.query(sql`delete from audit_entries where sequence > 20`)
      expect((await chain.store.verifyAudit()).problems).toEqual(['entries 21 to 30 are missing'])
      const { hmac } = await placeOf(chain.database, 20)
      await chain.database.query(sql`update audit_chain set sequence = 20, hmac = ${hmac} where name = 'head'`)
      // The chain alone cannot show this: see the page.
      expect((await chain.store.verifyAudit()).problems).toEqual([])
      expect((await chain.store.verifyAudit({ head })).problems).toEqual([
        'entry 30 of the given head is missing: the end of the chain was cut off',
      ])
      await chain.add(15)
      expect((await chain.store.verifyAudit()).problems).toEqual([])
      expect((await chain.store.verifyAudit({ head })).problems).toEqual(['entry 30 is not the one of the given head'])
    })

    test('shows that it was written anew with the secret of the database, if an entry with the key is left', async () => {
      await using chain = await openChain(tested, { auditKeys: [key] })
      await chain.add(10)
      await chain.open({ auditKeys: [] }).recordAudit([entryAt(now)])
      const report = await chain.store.verifyAudit()
      expect(report.problems).toEqual(['entry 11 is signed with an older key than entries before it'])
      expect(report.keys).toEqual([
        { key: 'AUDIT_KEY 1', first: 1, last: 10 },
        { key: 'database', first: 11, last: 11 },
      ])
    })

    test('goes on with a new key, and is verified with all', async () => {
      await using chain = await openChain(tested, { auditKeys: [] })
      await chain.add(5)
      const next = chain.open({ auditKeys: [key] })
      await next.recordAudit([entryAt(now)])
      const last = chain.open({ auditKeys: ['a second key, newer than the other', key] })
      await last.recordAudit([entryAt(now)])
      expect(await last.verifyAudit()).toMatchObject({
        problems: [],
        keys: [
          { key: 'AUDIT_KEY 1', first: 7, last: 7 },
          { key: 'AUDIT_KEY 2', first: 6, last: 6 },
          { key: 'database', first: 1, last: 5 },
        ],
      })
      expect((await next.verifyAudit()).problems).toEqual([
        'entry 7 is changed or forged, or its key is not among the given ones',
      ])
    })

    test('names the first twenty problems', async () => {
      const problems = await problemsAfter(async () => [sql`update audit_entries set times = 5`])
      expect(problems).toHaveLength(21)
      expect(problems.at(-1)).toBe('there are further problems')
    })
  })

  describe('its chain after old entries were removed', () => {
    test('is intact, goes on, and knows how many were removed', async () => {
      await using chain = await openChain(tested, { auditKeys: [key] })
      await chain.add(30)
      const cutoff = now - day + 12_000
      expect(await chain.store.sweepAudit(cutoff, 5)).toBe(5)
      expect(await chain.store.sweepAudit(cutoff, 100)).toBe(7)
      expect(await chain.store.sweepAudit(cutoff, 100)).toBe(0)
      expect((await chain.store.chainedAudit(0, 1))[0]?.previous).toMatch(/^[\da-f]{64}$/)
      await chain.add(3)
      expect(await chain.store.verifyAudit()).toMatchObject({ problems: [], verified: 21, first: 13, removed: 12 })
      expect(await chain.store.sweepAudit(now, 100)).toBe(21)
      expect(await chain.store.verifyAudit()).toMatchObject({
        problems: [],
        verified: 0,
        first: undefined,
        removed: 33,
      })
      await chain.add(1)
      expect(await chain.store.verifyAudit()).toMatchObject({ problems: [], first: 34, head: { sequence: 34 } })
    })

    test('shows a beginning that was cut off behind the removed entries', async () => {
      await using chain = await openChain(tested, { auditKeys: [key] })
      await chain.add(30)
      await chain.store.sweepAudit(now - day + 12_000, 100)
      const { hmac } = await placeOf(chain.database, 20)
      await chain.database.query(sql`delete from audit_entries where sequence <= 20`)
      expect((await chain.store.verifyAudit()).problems).toEqual(['entries 13 to 20 are missing'])
      await chain.database.query(sql`update audit_chain set sequence = 20, hmac = ${hmac} where name = 'anchor'`)
      expect((await chain.store.verifyAudit()).problems).toEqual([
        'the mark of the entries that were removed for their age is changed or forged',
      ])
    })

    test('shows that entries were changed before they were removed: a changed time does not hide it', async () => {
      await using chain = await openChain(tested, { auditKeys: [key] })
      await chain.add(30)
      await chain.database.query(sql`update audit_entries set at = 0 where sequence <= 10`)
      expect(await chain.store.sweepAudit(now - 2 * day, 100)).toBe(10)
      expect((await chain.store.verifyAudit()).problems).toEqual([
        'of the entries that were removed for their age, 10 were changed, forged or missing',
      ])
      await chain.database.query(sql`update audit_chain set damaged = 0 where name = 'anchor'`)
      expect((await chain.store.verifyAudit()).problems).toEqual([
        'the mark of the entries that were removed for their age is changed or forged',
      ])
      // The next removal signs a new anchor, and keeps the trace.
      await chain.store.sweepAudit(now, 5)
      expect((await chain.store.verifyAudit()).problems).toEqual([
        'of the entries that were removed for their age, 1 were changed, forged or missing',
      ])
    })

    test('keeps an old entry behind a younger one, and is not held up by a time far in the future', async () => {
      await using chain = await openChain(tested, { auditKeys: [key] })
      const times = [now - 9 * day, now - day, now - 9 * day, now + 900 * day, now - 8 * day]
      await chain.store.recordAudit(times.map((at) => entryAt(at)))
      expect(await chain.store.sweepAudit(now - 5 * day, 100)).toBe(1)
      expect(await chain.store.sweepAudit(now - 5 * day, 100)).toBe(0)
      expect(await chain.store.sweepAudit(now, 100)).toBe(4)
      expect((await chain.store.verifyAudit()).problems).toEqual([])
    })

    test('removes entries of earlier versions by their time', async () => {
      await using chain = await openChain(tested, { auditKeys: [key] })
      for (const at of [now - 9 * day, now - 8 * day, now - 3 * day]) {
        await chain.database.query(sql`
          insert into audit_entries (id, at, action, times)
          values (${randomUUID()}, ${at}, 'user.create', 1)`)
      }
      await chain.add(3)
      expect(await chain.store.verifyAudit()).toMatchObject({
        ...{ problems: [], verified: 3, first: 1 },
        unchained: { entries: 3, newestAt: now - 3 * day },
      })
      expect(await chain.store.sweepAudit(now - 5 * day, 1)).toBe(1)
      expect(await chain.store.sweepAudit(now - 5 * day, 100)).toBe(1)
      expect((await chain.store.unchainedAudit()).map(({ at }) => at)).toEqual([now - 3 * day])
      expect((await chain.store.verifyAudit()).unchained.entries).toBe(1)
    })
  })
})
