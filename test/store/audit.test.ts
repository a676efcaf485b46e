import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { AuditEntry, NewAuditEntry, Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

eachDatabase('the audit trail', (database) => {
  let store: Store
  beforeAll(async () => {
    store = await database.open()
  })

  const entry = (more: Partial<NewAuditEntry> = {}): NewAuditEntry => ({
    ...{ id: randomUUID(), at: 1_800_000_000_000, action: 'asset.create', times: 1 },
    ...more,
  })
  /** An entry without its place in the chain. */
  const plain = ({ sequence, hmac, previous, ...rest }: AuditEntry): NewAuditEntry => rest
  /** A name that is unique to a test; no such user exists. */
  const unknownName = () => `unknownName-${randomUUID()}`

  test('stores all known fields of an entry, and omits the unknown ones', async () => {
    const user = unknownName()
    const whole = entry({
      ...{
        user,
        token: 't',
        kind: 'asset',
        target: 'a',
        address: '2001:db8::1',
        status: 403,
        reason: 'so',
        fields: ['role', 'limits'],
      },
      ...{ at: 1_900_000_000_123, times: 9_000_000_000 },
    })
    const bare = entry({ user })
    await store.recordAudit([whole, bare])
    expect((await store.listAudit({ user })).map(plain)).toEqual([bare, whole])
  })

  test('stores the name that belongs to a user id, and the id that belongs to a name if that user exists', async () => {
    const name = randomUUID()
    const user = (await store.addUser({ name, createdAt: 1 })) ?? ''
    await store.recordAudit([entry({ user }), entry({ name }), entry({ user, name: unknownName() })])
    for (const found of await store.listAudit({ user: name })) expect([found.user, found.name]).toEqual([user, name])
    expect(await store.listAudit({ user: name })).toHaveLength(3)
    const secret = unknownName()
    const unknown = entry({ name: secret })
    await store.recordAudit([unknown])
    const all = await store.listAudit({ since: unknown.at, until: unknown.at + 1 })
    const { name: _, ...nameless } = unknown
    expect(all.map(plain).find(({ id }) => id === unknown.id)).toEqual(nameless)
    expect(JSON.stringify(all)).not.toContain(secret)
  })

  test('is listed newest first in pages, by user, action and time', async () => {
    const user = unknownName()
    const entries = Array.from({ length: 23 }, (_, nth) =>
      entry({ user, at: 2_000_000_000_000 + Math.floor(nth / 3), action: nth % 2 ? 'group.create' : 'asset.create' }),
    )
    await store.recordAudit(entries)
    const walk = async (filter: Parameters<Store['auditPage']>[0], limit: number) => {
      const found: string[] = []
      for (let after: Parameters<Store['auditPage']>[1]['after']; ; ) {
        const { items, next } = await store.auditPage(filter, { limit, after })
        found.push(...items.map(({ id }) => id))
        if (!next) return found
        expect(items).toHaveLength(limit)
        after = next
      }
    }
    const newestFirst = entries.toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
    const idsOf = (filter: (entry: NewAuditEntry) => boolean) => newestFirst.filter(filter).map(({ id }) => id)
    for (const limit of [1, 4, 23, 200]) {
      expect(await walk({ user }, limit)).toEqual(idsOf(() => true))
      expect(await walk({ since: 2_000_000_000_000 }, limit)).toEqual(idsOf(() => true))
      expect(await walk({ user, action: 'group.create' }, limit)).toEqual(
        idsOf(({ action }) => action === 'group.create'),
      )
      expect(await walk({ user, since: 2_000_000_000_002, until: 2_000_000_000_005 }, limit)).toEqual(
        idsOf(({ at }) => at >= 2_000_000_000_002 && at < 2_000_000_000_005),
      )
    }
    expect(await walk({ user: unknownName() }, 5)).toEqual([])
  })

  test('stores an entry once, even when it is written several times', async () => {
    const user = unknownName()
    const one = entry({ user })
    await store.recordAudit([one, one])
    await store.recordAudit([one])
    expect((await store.listAudit({ user })).map(plain)).toEqual([one])
  })

  test('is listed by user, action and time, oldest first, page by page', async () => {
    const user = unknownName()
    const entries = [3, 1, 2, 2, 2, 5].map((at, nth) =>
      entry({ user, at, action: nth % 2 ? 'group.create' : 'asset.create' }),
    )
    await store.recordAudit(entries)
    const times = async (...given: Parameters<Store['listAudit']>) =>
      (await store.listAudit(...given)).map(({ at }) => at)
    expect(await times({ user })).toEqual([1, 2, 2, 2, 3, 5])
    expect(await times({ user, since: 2, until: 5 })).toEqual([2, 2, 2, 3])
    expect(await times({ user, action: 'group.create' })).toEqual([1, 2, 5])
    const seen: string[] = []
    let page = await store.listAudit({ user }, undefined, 2)
    for (let last = page.at(-1); last; last = page.at(-1)) {
      seen.push(...page.map(({ id }) => id))
      page = await store.listAudit({ user }, last, 2)
    }
    expect(seen.length).toBe(6)
    expect(new Set(seen)).toEqual(new Set(entries.map(({ id }) => id)))
  })
})
