import { describe, expect, test } from 'bun:test'
import { dice, World } from './fixture.ts'

/** A list of rows with keys of their own. */
const listOf = (count: number, sources = 1): World => {
  const world = new World(sources)
  for (let nth = 0; nth < count; nth++) world.put(`row-${nth}`, String(nth).padStart(9, '0'), nth % sources)
  return world
}

const callsOf = async (world: World, act: () => Promise<unknown>): Promise<number> => {
  const before = world.calls
  await act()
  return world.calls - before
}

describe('a page costs one call', () => {
  for (const pageSize of [1, 10, 20, 48]) {
    test(`of ${pageSize}, by number and by token, wherever pages reach`, async () => {
      const world = listOf(9_000)
      for (const pageNumber of [1, 2, 3, 50, Math.floor(8_000 / pageSize), Math.ceil(9_000 / pageSize)]) {
        let nextToken = ''
        expect(
          await callsOf(world, async () => {
            nextToken = (await world.page({ pageSize, pageNumber })).nextToken
          }),
        ).toBe(1)
        if (nextToken !== '') expect(await callsOf(world, () => world.page({ pageSize, nextToken }))).toBe(1)
      }
    })
  }

  test('of more, at most two', async () => {
    const world = listOf(9_000)
    for (const pageSize of [49, 60, 97, 100]) {
      for (const pageNumber of [1, 2, 3, 50, 80]) {
        let nextToken = ''
        const byNumber = await callsOf(world, async () => {
          nextToken = (await world.page({ pageSize, pageNumber })).nextToken
        })
        expect(byNumber).toBeLessThanOrEqual(2)
        expect(await callsOf(world, () => world.page({ pageSize, nextToken }))).toBeLessThanOrEqual(2)
      }
    }
  })

  test('from the back, one more for the total', async () => {
    const world = listOf(18_000)
    expect(await callsOf(world, () => world.page({ pageNumber: 1_500 }))).toBe(2)
  })
})

/** A list in which up to so many rows share a key. */
const listOfRuns = (count: number, most: number, seed = 1): World => {
  const roll = dice(seed)
  const world = new World(1)
  let key = 0
  let left = 0
  for (let nth = 0; nth < count; nth++) {
    if (left-- <= 0) {
      key++
      left = Math.floor(roll() * most)
    }
    world.put(`row-${nth}`, String(key).padStart(9, '0'), 0)
  }
  return world
}

/** Calls of every page of a walk. */
const walk = async (world: World, pageSize: number, mostPages = Number.POSITIVE_INFINITY): Promise<number[]> => {
  const calls: number[] = []
  let nextToken: string | undefined
  do {
    calls.push(
      await callsOf(world, async () => {
        nextToken = (await world.page({ pageSize, nextToken })).nextToken || undefined
      }),
    )
  } while (nextToken !== undefined && calls.length < mostPages)
  return calls
}

const average = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0) / numbers.length

describe('a page whose edge falls among equal keys costs', () => {
  for (const pageSize of [1, 10, 20]) {
    test(`at most two calls, of ${pageSize} rows, where up to 40 are equal, and at most three as the first of a list`, async () => {
      for (const most of [2, 5, 10, 20, 30, 40]) {
        for (const seed of [1, 2, 3]) {
          const walked = listOfRuns(4_000, most, seed)
          expect(Math.max(...(await walk(walked, pageSize, 400)))).toBeLessThanOrEqual(2)

          const roll = dice(seed)
          const jumped = listOfRuns(4_000, most, seed)
          const pages = Array.from({ length: 100 }, () => 1 + Math.floor((roll() * 4_000) / pageSize))
          const calls: number[] = []
          for (const pageNumber of pages) calls.push(await callsOf(jumped, () => jumped.page({ pageSize, pageNumber })))
          expect(calls[0]).toBeLessThanOrEqual(3)
          expect(Math.max(...calls.slice(1))).toBeLessThanOrEqual(2)
          expect(average(calls)).toBeLessThan(1.5)
        }
      }
    })
  }

  test('at most three, of more rows', async () => {
    for (const pageSize of [48, 60, 100]) {
      const world = listOfRuns(4_000, 40)
      expect(Math.max(...(await walk(world, pageSize)))).toBeLessThanOrEqual(3)
      for (const pageNumber of [2, 5, 11, 23, 39]) {
        expect(await callsOf(world, () => world.page({ pageSize, pageNumber }))).toBeLessThanOrEqual(3)
      }
    }
  })

  test('less than two in the middle of a walk, where hundreds are equal: they are read once for several pages', async () => {
    for (const most of [100, 300, 1_000, 8_000])
      expect(average(await walk(listOfRuns(4_000, most), 10))).toBeLessThan(2)
  })

  test('nothing but a look whether the list has changed, once all were read', async () => {
    const world = listOfRuns(600, 1_000_000)
    await world.page({ pageNumber: 1 })
    await world.page({ pageNumber: 30 })
    for (const pageNumber of [2, 3, 17, 30, 60]) {
      expect(await callsOf(world, () => world.page({ pageNumber }))).toBe(1)
    }
  })
})

test('what was read for several pages is read anew when the list has changed', async () => {
  const world = listOfRuns(600, 1_000_000)
  for (let nth = 0; nth < 40; nth++) {
    const request = { pageSize: 10, pageNumber: 1 + ((nth * 7) % 55), sortOrder: 'Asc' } as const
    const [first, last] = [world.expected(request)[0] ?? '', world.expected(request)[9] ?? '']
    expect((await world.page(request)).items.map(({ id }) => id)).toEqual([...world.expected(request)])
    if (nth % 3 === 0) world.remove(first)
    if (nth % 3 === 1) world.put(`new ${nth}`, world.rows.get(last)?.key ?? '', 0)
    const page = await world.page(request)
    expect(page.items.map(({ id }) => id)).toEqual([...world.expected(request)])
    expect(page.totalCount).toBe(world.rows.size)
  }
})

test('a page costs a call a source', async () => {
  const world = listOf(5_000, 6)
  expect(await callsOf(world, () => world.page({}))).toBe(6)
  const { nextToken } = await world.page({ pageSize: 40 })
  expect(await callsOf(world, () => world.page({ pageSize: 40, nextToken }))).toBe(6)
})

test('a walk by token costs no more beyond the depth of pages than before it', async () => {
  const world = listOf(60_000)
  let nextToken: string | undefined
  let dearest = 0
  let calls = 0
  for (let page = 0; page < 600; page++) {
    calls += await callsOf(world, async () => {
      const before = world.calls
      nextToken = (await world.page({ pageSize: 60, nextToken })).nextToken
      dearest = Math.max(dearest, world.calls - before)
    })
  }
  expect(calls / 600).toBeLessThan(3)
  expect(dearest).toBeLessThanOrEqual(6)
})

test('a jump to where pages do not reach costs few calls once its neighbourhood was visited', async () => {
  const world = listOf(50_000)
  await world.page({ pageNumber: 2_500 })
  for (const pageNumber of [2_500, 2_501, 2_499, 2_480]) {
    expect(await callsOf(world, () => world.page({ pageNumber }))).toBeLessThanOrEqual(4)
  }
})
