import { expect, test } from 'bun:test'
import { ListFixture, seededRandom } from './fixture.ts'

const random = seededRandom(5)
/** By the number of the row: its key, and its source. */
const lists = {
  'mixed evenly': (nth: number) => [nth, nth % 10],
  'mixed at random': (nth: number) => [nth, Math.floor(random() * 10)],
  'one after the other': (nth: number, count: number) => [nth, Math.floor((nth * 10) / count)],
  'most in one source': (nth: number) => [nth, nth % 20 < 9 ? Math.floor(nth / 2_000) : 9],
  'with forty rows for each key': (nth: number) => [Math.floor(nth / 40), nth % 10],
} as const satisfies Record<string, (nth: number, count: number) => readonly [key: number, source: number]>

/** Calls for a page, from all ten sources; else 300. Without estimates, the last page takes 170 to 890. */
const maxCalls = { 'mixed evenly': 80, 'mixed at random': 120 } as const

for (const [title, place] of Object.entries(lists)) {
  test(`a far page of ten sources, ${title}, is exact, and takes few calls`, async () => {
    const count = 15_000
    for (const pageNumber of [1_500, 400, 1_111]) {
      const fixture = new ListFixture(10)
      for (let nth = 0; nth < count; nth++) {
        const [key, source] = place(nth, count)
        fixture.put(`row-${nth}`, String(key).padStart(9, '0'), source)
      }
      const page = await fixture.page({ pageNumber, pageSize: 10 })
      expect(page.items.map(({ id }) => id)).toEqual([
        ...fixture.expected({ pageNumber, pageSize: 10, sortOrder: 'Desc' }),
      ])
      expect(page.totalCount).toBe(count)
      expect({ pageNumber, few: fixture.calls <= (maxCalls[title as keyof typeof maxCalls] ?? 300) }).toEqual({
        pageNumber,
        few: true,
      })
    }
  })
}

test('a far page is exact where rows are inserted and removed during the search', async () => {
  const fixture = new ListFixture(4)
  for (let nth = 0; nth < 8_000; nth++) fixture.put(`row-${nth}`, String(nth).padStart(9, '0'), nth % 4)
  let changes = 0
  fixture.onCall = () => {
    if (changes++ >= 40 || changes % 8 !== 0) return
    fixture.put(`new-${changes}`, String(9_000 + changes).padStart(9, '0'), changes % 4)
  }
  const page = await fixture.page({ pageNumber: 500, pageSize: 10 })
  const all = fixture.all('Desc')
  const [first = ''] = page.items.map(({ id }) => id)
  const from = all.indexOf(first)
  expect(page.items.map(({ id }) => id)).toEqual(all.slice(from, from + 10))
  // Where the page was before the changes, or where it is after them.
  expect(from).toBeGreaterThanOrEqual(4_990)
  expect(from).toBeLessThanOrEqual(4_990 + 5)
  expect(page.totalCount).toBeGreaterThanOrEqual(8_000)
  expect(page.totalCount).toBeLessThanOrEqual(fixture.rows.size)
})

test('a page takes few calls where the rows before it are shortly behind the depth of page mode', async () => {
  // Those of the first source are estimated within it.
  const sourceOf = (rank: number) =>
    (rank < 9_300 && rank % 10 === 0) || (rank >= 9_300 && rank < 9_420) || rank >= 9_990 ? 0 : 1 + (rank % 9)
  for (const pageNumber of [985, 990, 992, 994]) {
    const fixture = new ListFixture(10, 1_000)
    for (let rank = 0; rank < 10_000; rank++)
      fixture.put(`row-${rank}`, String(10_000 - rank).padStart(9, '0'), sourceOf(rank))
    const page = await fixture.page({ pageNumber, pageSize: 10 })
    expect(page.items.map(({ id }) => id)).toEqual([
      ...fixture.expected({ pageNumber, pageSize: 10, sortOrder: 'Desc' }),
    ])
    expect({ pageNumber, few: fixture.calls <= 120 }).toEqual({ pageNumber, few: true })
  }
})
