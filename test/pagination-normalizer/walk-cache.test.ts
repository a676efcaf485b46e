import { expect, test } from 'bun:test'
import { type Anchor, WalkCache } from '../../plugins/pagination-normalizer/walk/walk-cache.ts'

const anchor: Anchor = { cursor: 'c', last: { id: 'a', key: '' }, offset: 1, fingerprint: '' }

test('a list keeps the anchors of its sources, and not those of all that it ever had', () => {
  const cache = new WalkCache()
  const stays = { id: 'the first hundred groups' }
  for (let nth = 0; nth < 1_000; nth++) {
    const changes = { id: `the groups after the change ${nth}` }
    const { anchors } = cache.walkOf('list', [stays, changes])
    expect(anchors.get(stays.id)?.length ?? 0).toBe(Math.min(nth, 1))
    for (const { id } of [stays, changes]) anchors.set(id, [anchor])
    expect(anchors.size).toBeLessThanOrEqual(3)
  }
})
