import { expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { ConsentFilter } from '../../plugins/admin/consents.ts'
import { openStore } from '../../src/store/index.ts'
import { eachEmptyDatabase } from '../support/database.ts'

eachEmptyDatabase('the list of consents', (tested) => {
  test('has each consent once on its pages, recorded or not, withdrawn or not, with and without a group', async () => {
    const store = openStore(tested.url, { deadlineMs: 60_000 })
    await store.migrate()
    try {
      const ann = (await store.addUser({ name: 'ann', createdAt: 1 })) ?? ''
      const add = async (type: string, group = randomUUID()) => {
        await store.adoptGroup({ id: group, user: ann, type, name: group, createdAt: 1 })
        return group
      }
      const [groups, withdrawn]: [string[], string[]] = [[], []]
      for (let nth = 0; nth < 12; nth++) {
        await add('AIGC')
        const group = await add('LivenessFace')
        groups.push(group)
        if (nth % 2 === 0) await store.recordConsentUse({ task: 't', user: ann, assets: [{ id: 'a', group }], at: 5 })
        if (nth % 3 !== 0) continue
        withdrawn.push(group)
        await store.withdrawConsent({ group, owner: ann }, { at: 9, actor: { by: 'admin' } })
        if (nth % 6 === 0) await store.removeGroup({ id: group, user: ann })
      }
      const hosted = randomUUID()
      groups.push(hosted)
      await store.adoptGroup({ id: hosted, user: 'a user of a host', type: 'LivenessFace', name: 'x', createdAt: 1 })
      const walk = async (filter: ConsentFilter, limit: number) => {
        const found = []
        for (
          let after: { readonly key: number | string; readonly id: string } | undefined, first = true;
          first || after;
          first = false
        ) {
          const page = await store.consentPage(filter, { limit, after })
          expect(page.items.length).toBeLessThanOrEqual(limit)
          found.push(...page.items)
          after = page.next
        }
        return found
      }
      for (const limit of [1, 2, 5, 13, 50]) {
        const all = await walk({}, limit)
        expect([limit, all.map(({ group }) => group)]).toEqual([limit, [...groups].sort()])
        for (const { ownerName, ...consent } of all) {
          expect(consent).toEqual((await store.consentOf(consent.group)) ?? { group: '', owner: '' })
          expect(ownerName).toBe(consent.group === hosted ? undefined : 'ann')
        }
        const ended = await walk({ state: 'withdrawn' }, limit)
        expect([limit, ended.map(({ group }) => group)]).toEqual([limit, [...withdrawn].sort()])
        expect(new Set(ended.map(({ withdrawal }) => JSON.stringify(withdrawal?.actor)))).toEqual(
          new Set(['{"by":"admin"}']),
        )
      }
    } finally {
      await store.close()
    }
  }, 60_000)
})
