import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'
import { repeats } from '../support/repetitions.ts'

const pick = (max: number) => fc.integer({ min: 0, max: max - 1 })
/** What happens to one claim, or an adoption by an administrator. There are few users, names and groups, so that the sequences conflict. */
const sequence = fc.record({
  end: fc.constantFrom(
    'confirm',
    'confirm after markUnresolved',
    'adopt',
    'adopt and confirm',
    'markUnresolved',
    'release',
    'admin adopt',
  ),
  user: pick(3),
  name: pick(2),
  group: pick(4),
})

eachDatabase('races', (database) => {
  let stores: readonly Store[]
  beforeAll(async () => {
    stores = [await database.open(), await database.open()]
  })

  test('with any concurrent changes, no call rejects, no name and no group has two owners, and no group is lost', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(sequence, { minLength: 4, maxLength: 24 }), async (sequences) => {
        const run = randomUUID()
        const groupIds = new Set<string>()

        const perform = async ({ end, user, name, group }: (typeof sequences)[number], index: number) => {
          const store = stores[index % 2] as Store
          const wanted = { user: `${run} ${user}`, type: 'AIGC', name: `${run} ${name}`, createdAt: index }
          const id = `${run} ${group}`
          if (end === 'admin adopt') {
            if ((await store.adoptGroup({ ...wanted, id })) === undefined) groupIds.add(id)
            return
          }
          const claim = await store.claim({ ...wanted, dueAt: 0 })
          if (!claim) return
          if (end === 'markUnresolved' || end === 'confirm after markUnresolved') await store.markUnresolved(claim, 0)
          if (end === 'release') await store.release(claim)
          if (end.startsWith('adopt') && (await store.adopt(claim, { id, createdAt: 1 })) === 'adopted')
            groupIds.add(id)
          if (end.includes('confirm')) {
            groupIds.add(id)
            await store.confirm(claim, { id, createdAt: 1 })
          }
          if (index % 5 === 0) await store.lease(1, 2)
        }
        await Promise.all(sequences.map(perform))

        const [store] = stores as readonly [Store]
        const owned = (await Promise.all([0, 1, 2].map((user) => store.groupsOf(`${run} ${user}`)))).flat()
        expect(new Set(owned.map((group) => group.id)).size).toBe(owned.length)
        expect(new Set(owned.map((group) => `${group.user} ${group.name}`)).size).toBe(owned.length)
        const claimedIds = (await store.openClaims()).map((open) => open.group)
        for (const id of groupIds) expect([...owned.map((group) => group.id), ...claimedIds]).toContain(id)
      }),
      { numRuns: repeats(20, 60) },
    )
  }, 300_000)
})
