import { describe, expect, test } from 'bun:test'
import { World } from './world.ts'

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
