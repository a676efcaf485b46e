/** Runs with `--all`: garbage collections of a large heap. revision-cache.test.ts bounds the number of entries. */
import { heapStats } from 'bun:jsc'
import { describe, expect, test } from 'bun:test'
import { type Position, positionOf } from '../../plugins/pagination-normalizer/order.ts'
import { orderOf, type Source } from '../../plugins/pagination-normalizer/source.ts'
import { scanRange } from '../../plugins/pagination-normalizer/walk/scan.ts'
import type { Anchor } from '../../plugins/pagination-normalizer/walk/walk-cache.ts'
import { RevisionCache } from '../../plugins/shared/identity/revision-cache.ts'
import { RevisionClock } from '../../plugins/shared/identity/revision-clock.ts'

const mebibyte = 2 ** 20
const texts = 100

/** A substring of a text of a mebibyte, like the strings from a parsed upstream response. */
const cutOut = (text: string): string =>
  Buffer.from(text + 'x'.repeat(mebibyte))
    .toString()
    .slice(0, text.length)

const held = (): number => {
  Bun.gc(true)
  const { heapSize, extraMemorySize } = heapStats()
  return heapSize + extraMemorySize
}

/** Mebibytes of memory that the result of `make` keeps alive. */
const heldBy = async <Kept extends object>(
  make: () => Promise<Kept> | Kept,
  look: (kept: Kept) => void,
): Promise<number> => {
  const before = held()
  const kept = await make()
  // Objects on the stack of an asynchronous function are freed after its turn.
  await Bun.sleep(1)
  const bytes = held() - before
  look(kept)
  return bytes / mebibyte
}

/** The minimum of several measurements, because other tests in this process also allocate memory. `make` must create a new result for each. */
const minHeldBy = async <Kept extends object>(
  make: () => Promise<Kept> | Kept,
  look: (kept: Kept) => void,
): Promise<number> => {
  let min = Number.POSITIVE_INFINITY
  for (let nth = 0; nth < 5 && min >= texts / 10; nth++) min = Math.min(min, await heldBy(make, look))
  return min
}

describe('a cached value does not keep a larger object alive', () => {
  test('the measurement detects such an object', async () => {
    const cut = () => Array.from({ length: texts }, (_, nth) => cutOut(`asset-${nth}-0123456789`))
    expect(await minHeldBy(cut, (kept) => expect(kept.length).toBe(texts))).toBeGreaterThan(texts / 2)
  })

  test('an id from a list', async () => {
    const learn = async () => {
      // On a busy machine the entries must not become stale before they are read.
      const revisionClock = new RevisionClock(async () => 0, { refreshAfterMs: 600_000, staleAfterMs: 600_000 })
      await revisionClock.check()
      const memory = new RevisionCache<string>(revisionClock)
      for (let nth = 0; nth < texts; nth++) memory.set(cutOut(`asset-${nth}-0123456789`), 'group')
      return memory
    }
    const known = (memory: RevisionCache<string>) =>
      expect(memory.get('asset-7-0123456789', () => Promise.reject(new Error('it is known')))).toBe('group')
    expect(await minHeldBy(learn, known)).toBeLessThan(texts / 10)
  })

  test('the position before a page', async () => {
    const rows = () =>
      Array.from({ length: texts }, (_, nth) =>
        positionOf({ id: cutOut(`asset-${nth}-0123456789`), key: cutOut(`2026-11-22T00:00:${nth}.000Z`) }),
      )
    expect(await minHeldBy(rows, (kept) => expect(kept.length).toBe(texts))).toBeLessThan(texts / 10)
  })

  test('the cursors of a long list', async () => {
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
      await scanRange(source, orderOf('Asc'), { offset: texts - 2 }, 1, anchors, true, { total: texts, text: '' })
      return anchors
    }
    const kept = (anchors: Anchor[]) => expect(anchors.length).toBeGreaterThan(texts / 2)
    expect(await minHeldBy(sweep, kept)).toBeLessThan(texts / 10)
  })
})
