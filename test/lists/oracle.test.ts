import { expect, test } from 'bun:test'
import { addRow, dice, pick, randomWorld } from './fixture.ts'

const worlds = Number(process.env.SLUICE_WORLDS ?? 200)

test(`any page of ${worlds} random lists is what sorting and slicing gives`, async () => {
  for (let seed = 1; seed <= worlds; seed++) {
    const roll = dice(seed)
    const world = randomWorld(roll, seed % 50 === 0 ? 50_000 : 2_000)
    for (let nth = 0; nth < 12; nth++) {
      if (roll() < 0.2) addRow(world, roll)
      const removed = roll() < 0.2 && pick(roll, [...world.rows.keys()])
      if (removed) world.remove(removed)
      const pageSize = pick(roll, [1, 3, 10, 10, 50, 97, 98, 99, 100]) ?? 10
      const pages = Math.ceil(world.rows.size / pageSize)
      const pageNumber = roll() < 0.1 ? pages + 1 + Math.floor(roll() * 3) : 1 + Math.floor(roll() * Math.max(1, pages))
      const sortOrder = roll() < 0.5 ? 'Asc' : 'Desc'
      const request = { pageSize, pageNumber, sortOrder } as const
      const page = await world.page(request)
      const told = { seed, nth, ...request }
      expect({ ...told, ids: page.items.map((row) => row.id) }).toEqual({ ...told, ids: [...world.expected(request)] })
      expect(page.totalCount).toBe(world.rows.size)
      expect({ ...told, more: page.nextToken !== '' }).toEqual({
        ...told,
        more: page.items.length > 0 && pageNumber * pageSize < world.rows.size,
      })
      // A token leads on from any page, at another size.
      if (page.nextToken === '') continue
      const size = pick(roll, [1, 10, 60, 100]) ?? 10
      const next = await world.page({ sortOrder, pageSize: size, pageNumber: 7, nextToken: page.nextToken })
      const from = pageNumber * pageSize
      expect({ ...told, size, ids: next.items.map((row) => row.id) }).toEqual({
        ...told,
        size,
        ids: [...world.all(sortOrder).slice(from, from + size)],
      })
    }
  }
}, 300_000)
