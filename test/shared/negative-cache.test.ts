import { expect, test } from 'bun:test'
import { NegativeCache } from '../../plugins/shared/identity/negative-cache.ts'

test('a key expires between one and two lifetimes after it was added, however often it is read', () => {
  for (const every of [1, 99, 100, 101, 250, 1_000]) {
    for (let from = 0; from < 300; from += 7) {
      const absences = new NegativeCache(100, 10)
      absences.add('first', 0)
      absences.add('key', from)
      for (let now = from; now < from + 400; now += every) {
        const known = absences.has('key', now)
        if (now < from + 100) expect([now, known]).toEqual([now, true])
        if (now >= from + 200) expect([now, known]).toEqual([now, false])
      }
    }
  }
})

test('at most twice the limit of keys are kept, the newest', () => {
  const absences = new NegativeCache(100, 3)
  for (let nth = 0; nth < 100; nth++) absences.add(`${nth}`, 0)
  const kept = Array.from({ length: 100 }, (_, nth) => nth).filter((nth) => absences.has(`${nth}`, 0))
  expect(kept.length).toBeLessThanOrEqual(6)
  expect(kept.at(-1)).toBe(99)
  expect(kept).toEqual(Array.from({ length: kept.length }, (_, nth) => 100 - kept.length + nth))
})

test('delete removes a key, and clear removes all', () => {
  const absences = new NegativeCache(100, 2)
  for (const key of ['a', 'b', 'c']) absences.add(key, 0)
  absences.delete('a')
  absences.delete('c')
  expect(['a', 'b', 'c'].map((key) => absences.has(key, 1))).toEqual([false, true, false])
  absences.clear()
  expect(absences.has('b', 1)).toBe(false)
})
