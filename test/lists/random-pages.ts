import { expect } from 'bun:test'
import { addRow, pick, randomFixture, seededRandom } from './fixture.ts'

/** Compares pages of the random lists with these seeds with the sorted and sliced rows. */
export const checkPages = async (from: number, to: number): Promise<void> => {
  for (let seed = from; seed <= to; seed++) {
    const random = seededRandom(seed)
    const fixture = randomFixture(random, seed % 50 === 0 ? 50_000 : 2_000)
    for (let nth = 0; nth < 12; nth++) {
      if (random() < 0.2) addRow(fixture, random)
      const removed = random() < 0.2 && pick(random, [...fixture.rows.keys()])
      if (removed) fixture.remove(removed)
      const pageSize = pick(random, [1, 3, 10, 10, 50, 97, 98, 99, 100]) ?? 10
      const pages = Math.ceil(fixture.rows.size / pageSize)
      const pageNumber =
        random() < 0.1 ? pages + 1 + Math.floor(random() * 3) : 1 + Math.floor(random() * Math.max(1, pages))
      const sortOrder = random() < 0.5 ? 'Asc' : 'Desc'
      const request = { pageSize, pageNumber, sortOrder } as const
      const page = await fixture.page(request)
      const context = { seed, nth, ...request }
      expect({ ...context, ids: page.items.map((row) => row.id) }).toEqual({
        ...context,
        ids: [...fixture.expected(request)],
      })
      expect(page.totalCount).toBe(fixture.rows.size)
      expect({ ...context, more: page.nextToken !== '' }).toEqual({
        ...context,
        more: page.items.length > 0 && pageNumber * pageSize < fixture.rows.size,
      })
      // A token continues from any page, with another page size.
      if (page.nextToken === '') continue
      const size = pick(random, [1, 10, 60, 100]) ?? 10
      const next = await fixture.page({ sortOrder, pageSize: size, pageNumber: 7, nextToken: page.nextToken })
      const from = pageNumber * pageSize
      expect({ ...context, size, ids: next.items.map((row) => row.id) }).toEqual({
        ...context,
        size,
        ids: [...fixture.all(sortOrder).slice(from, from + size)],
      })
    }
  }
}
