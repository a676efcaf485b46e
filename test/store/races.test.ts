import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

const pick = (most: number) => fc.integer({ min: 0, max: most - 1 })
/** A life of one claim, or an intervention by hand: of few users, with few names and groups, so that they meet. */
const life = fc.record({
  end: fc.constantFrom('confirm', 'confirm after doubt', 'adopt', 'adopt and confirm', 'doubt', 'release', 'by hand'),
  user: pick(3),
  name: pick(2),
  group: pick(4),
})

eachDatabase('races', (database) => {
  let stores: readonly Store[]
  beforeAll(async () => {
    stores = [await database.open(), await database.open()]
  })

  test('whatever meets whatever, nothing rejects, no name and no group is owned twice, and no group is lost', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(life, { minLength: 4, maxLength: 24 }), async (lives) => {
        const run = randomUUID()
        const made = new Set<string>()

        const live = async ({ end, user, name, group }: (typeof lives)[number], index: number) => {
          const store = stores[index % 2] as Store
          const wanted = { user: `${run} ${user}`, type: 'AIGC', name: `${run} ${name}`, createdAt: index }
          const id = `${run} ${group}`
          if (end === 'by hand') {
            if ((await store.adoptGroup({ ...wanted, id })) === undefined) made.add(id)
            return
          }
          const claim = await store.claim({ ...wanted, dueAt: 0 })
          if (!claim) return
          if (end === 'doubt' || end === 'confirm after doubt') await store.doubt(claim, 0)
          if (end === 'release') await store.release(claim)
          if (end.startsWith('adopt') && (await store.adopt(claim, { id, createdAt: 1 })) === 'adopted') made.add(id)
          if (end.includes('confirm')) {
            made.add(id)
            await store.confirm(claim, { id, createdAt: 1 })
          }
          if (index % 5 === 0) await store.lease(1, 2)
        }
        await Promise.all(lives.map(live))

        const [store] = stores as readonly [Store]
        const owned = (await Promise.all([0, 1, 2].map((user) => store.groupsOf(`${run} ${user}`)))).flat()
        expect(new Set(owned.map((group) => group.id)).size).toBe(owned.length)
        expect(new Set(owned.map((group) => `${group.user} ${group.name}`)).size).toBe(owned.length)
        const traced = (await store.openClaims()).map((open) => open.group)
        for (const id of made) expect([...owned.map((group) => group.id), ...traced]).toContain(id)
      }),
      { numRuns: 60 },
    )
  }, 60_000)
})
