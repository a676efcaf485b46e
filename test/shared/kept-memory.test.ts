import { heapStats } from 'bun:jsc'
import { describe, expect, test } from 'bun:test'
import type { Anchor } from '../../plugins/pagination-normalizer/memory.ts'
import { type Position, positionOf } from '../../plugins/pagination-normalizer/order.ts'
import { orderOf, type Source } from '../../plugins/pagination-normalizer/source.ts'
import { sweepPortion } from '../../plugins/pagination-normalizer/sweep.ts'
import { Freshness, Remembered } from '../../plugins/shared/remembered.ts'

const mebibyte = 2 ** 20
const texts = 100

/** A text as a part of a megabyte that came with it, as the reader of an upstream's answer hands it out. */
const cutOut = (text: string): string =>
  Buffer.from(text + 'x'.repeat(mebibyte))
    .toString()
    .slice(0, text.length)

const held = (): number => {
  Bun.gc(true)
  const { heapSize, extraMemorySize } = heapStats()
  return heapSize + extraMemorySize
}

/** Megabytes that are held for as long as what `make` gives is. */
const heldBy = async <Kept extends object>(
  make: () => Promise<Kept> | Kept,
  look: (kept: Kept) => void,
): Promise<number> => {
  const before = held()
  const kept = await make()
  // What an asynchronous function leaves on the stack goes with its turn.
  await Bun.sleep(1)
  const bytes = held() - before
  look(kept)
  return bytes / mebibyte
}

/**
 * The measure is of the whole process, in which other tests leave work behind: the least of a few tries counts, as what something holds it holds in each. `make` makes all of
 * it anew, and nothing of an earlier try may be held when the next one begins.
 */
const leastHeldBy = async <Kept extends object>(
  make: () => Promise<Kept> | Kept,
  look: (kept: Kept) => void,
): Promise<number> => {
  let least = Number.POSITIVE_INFINITY
  for (let nth = 0; nth < 5 && least >= texts / 10; nth++) least = Math.min(least, await heldBy(make, look))
  return least
}

describe('what is kept holds on to nothing but itself', () => {
  test('the measure sees what would be held', async () => {
    const cut = () => Array.from({ length: texts }, (_, nth) => cutOut(`asset-${nth}-0123456789`))
    expect(await leastHeldBy(cut, (kept) => expect(kept.length).toBe(texts))).toBeGreaterThan(texts / 2)
  })

  test('an id that was learned from a list', async () => {
    const learn = async () => {
      const freshness = new Freshness(async () => 0)
      await freshness.check()
      const memory = new Remembered<string>(freshness)
      for (let nth = 0; nth < texts; nth++) memory.learn(cutOut(`asset-${nth}-0123456789`), 'group')
      return memory
    }
    const known = (memory: Remembered<string>) =>
      expect(memory.get('asset-7-0123456789', () => Promise.reject(new Error('it is known')))).toBe('group')
    expect(await leastHeldBy(learn, known)).toBeLessThan(texts / 10)
  })

  test('what a page began after', async () => {
    const rows = () =>
      Array.from({ length: texts }, (_, nth) =>
        positionOf({ id: cutOut(`asset-${nth}-0123456789`), key: cutOut(`2026-11-22T00:00:${nth}.000Z`) }),
      )
    expect(await leastHeldBy(rows, (kept) => expect(kept.length).toBe(texts))).toBeLessThan(texts / 10)
  })

  test('where the cursors of a long list lead on', async () => {
    const source: Source<Position> = {
      ...{ id: 'one', maxPageSize: 100, maxPageDepth: 10_000 },
      page: () => Promise.reject(new Error('only walked')),
      fingerprint: async () => ({ total: texts, text: '' }),
      async walk(cursor = '0') {
        const nth = Number(cursor.split(' ')[0])
        const row = { id: cutOut(`asset-${nth}-0123456789`), key: cutOut(`key-${String(nth).padStart(9, '0')}`) }
        return { rows: [row], cursor: nth + 1 < texts ? cutOut(`${nth + 1} of a long cursor`) : undefined }
      },
    }
    const sweep = async () => {
      const anchors: Anchor[] = []
      await sweepPortion(source, orderOf('Asc'), { place: texts - 2 }, 1, anchors, true, { total: texts, text: '' })
      return anchors
    }
    const kept = (anchors: Anchor[]) => expect(anchors.length).toBeGreaterThan(texts / 2)
    expect(await leastHeldBy(sweep, kept)).toBeLessThan(texts / 10)
  })
})
