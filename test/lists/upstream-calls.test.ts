import { describe, expect, test } from 'bun:test'
import { repetitions } from '../support/repetitions.ts'
import { ListFixture, seededRandom } from './fixture.ts'

/** A list of rows with unique keys. */
const listOf = (count: number, sources = 1): ListFixture => {
  const fixture = new ListFixture(sources)
  for (let nth = 0; nth < count; nth++) fixture.put(`row-${nth}`, String(nth).padStart(9, '0'), nth % sources)
  return fixture
}

const callsOf = async (fixture: ListFixture, act: () => Promise<unknown>): Promise<number> => {
  const before = fixture.calls
  await act()
  return fixture.calls - before
}

describe('a page needs one upstream call', () => {
  for (const pageSize of [1, 10, 20, 48]) {
    test(`with ${pageSize} rows, by number and by token, within the upstream’s page depth`, async () => {
      const fixture = listOf(9_000)
      for (const pageNumber of [1, 2, 3, 50, Math.floor(8_000 / pageSize), Math.ceil(9_000 / pageSize)]) {
        let nextToken = ''
        expect(
          await callsOf(fixture, async () => {
            nextToken = (await fixture.page({ pageSize, pageNumber })).nextToken
          }),
        ).toBe(1)
        if (nextToken !== '') expect(await callsOf(fixture, () => fixture.page({ pageSize, nextToken }))).toBe(1)
      }
    })
  }

  test('with more rows, at most two', async () => {
    const fixture = listOf(9_000)
    for (const pageSize of [49, 60, 97, 100]) {
      for (const pageNumber of [1, 2, 3, 50, 80]) {
        let nextToken = ''
        const byNumber = await callsOf(fixture, async () => {
          nextToken = (await fixture.page({ pageSize, pageNumber })).nextToken
        })
        expect(byNumber).toBeLessThanOrEqual(2)
        expect(await callsOf(fixture, () => fixture.page({ pageSize, nextToken }))).toBeLessThanOrEqual(2)
      }
    }
  })

  test('from the end of the list, one more for the total', async () => {
    const fixture = listOf(18_000)
    expect(await callsOf(fixture, () => fixture.page({ pageNumber: 1_500 }))).toBe(2)
  })
})

/** A list in which up to `maxRun` consecutive rows have equal keys. */
const listWithEqualKeys = (count: number, maxRun: number, seed = 1): ListFixture => {
  const random = seededRandom(seed)
  const fixture = new ListFixture(1)
  let key = 0
  let left = 0
  for (let nth = 0; nth < count; nth++) {
    if (left-- <= 0) {
      key++
      left = Math.floor(random() * maxRun)
    }
    fixture.put(`row-${nth}`, String(key).padStart(9, '0'), 0)
  }
  return fixture
}

/** The number of calls for each page of a walk. */
const walk = async (fixture: ListFixture, pageSize: number, maxPages = Number.POSITIVE_INFINITY): Promise<number[]> => {
  const calls: number[] = []
  let nextToken: string | undefined
  do {
    calls.push(
      await callsOf(fixture, async () => {
        nextToken = (await fixture.page({ pageSize, nextToken })).nextToken || undefined
      }),
    )
  } while (nextToken !== undefined && calls.length < maxPages)
  return calls
}

const average = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0) / numbers.length

describe('a page that begins or ends within equal keys needs', () => {
  for (const pageSize of [1, 10, 20]) {
    test(`at most two calls with ${pageSize} rows and up to 40 equal keys, and at most three as the first page`, async () => {
      for (const maxRun of [2, 5, 10, 20, 30, 40]) {
        for (const seed of repetitions(1, 2, 3)) {
          const walked = listWithEqualKeys(4_000, maxRun, seed)
          expect(Math.max(...(await walk(walked, pageSize, 400)))).toBeLessThanOrEqual(2)

          const random = seededRandom(seed)
          const jumped = listWithEqualKeys(4_000, maxRun, seed)
          const pages = Array.from({ length: 100 }, () => 1 + Math.floor((random() * 4_000) / pageSize))
          const calls: number[] = []
          for (const pageNumber of pages) calls.push(await callsOf(jumped, () => jumped.page({ pageSize, pageNumber })))
          expect(calls[0]).toBeLessThanOrEqual(3)
          expect(Math.max(...calls.slice(1))).toBeLessThanOrEqual(2)
          expect(average(calls)).toBeLessThan(1.5)
        }
      }
    })
  }

  test('at most three calls with more rows', async () => {
    for (const pageSize of [48, 60, 100]) {
      const fixture = listWithEqualKeys(4_000, 40)
      expect(Math.max(...(await walk(fixture, pageSize)))).toBeLessThanOrEqual(3)
      for (const pageNumber of [2, 5, 11, 23, 39]) {
        expect(await callsOf(fixture, () => fixture.page({ pageSize, pageNumber }))).toBeLessThanOrEqual(3)
      }
    }
  })

  test('less than two calls on average with hundreds of equal keys, because several pages share them', async () => {
    for (const maxRun of [100, 300, 1_000, 8_000])
      expect(average(await walk(listWithEqualKeys(4_000, maxRun), 10))).toBeLessThan(2)
  })

  test('only a check for changes, once all rows are cached', async () => {
    const fixture = listWithEqualKeys(600, 1_000_000)
    await fixture.page({ pageNumber: 1 })
    await fixture.page({ pageNumber: 30 })
    for (const pageNumber of [2, 3, 17, 30, 60]) {
      expect(await callsOf(fixture, () => fixture.page({ pageNumber }))).toBe(1)
    }
  })
})

test('the cached rows are read again when the list has changed', async () => {
  const fixture = listWithEqualKeys(600, 1_000_000)
  for (let nth = 0; nth < 40; nth++) {
    const request = { pageSize: 10, pageNumber: 1 + ((nth * 7) % 55), sortOrder: 'Asc' } as const
    const [first, last] = [fixture.expected(request)[0] ?? '', fixture.expected(request)[9] ?? '']
    expect((await fixture.page(request)).items.map(({ id }) => id)).toEqual([...fixture.expected(request)])
    if (nth % 3 === 0) fixture.remove(first)
    if (nth % 3 === 1) fixture.put(`new ${nth}`, fixture.rows.get(last)?.key ?? '', 0)
    const page = await fixture.page(request)
    expect(page.items.map(({ id }) => id)).toEqual([...fixture.expected(request)])
    expect(page.totalCount).toBe(fixture.rows.size)
  }
})

test('rows with equal keys are read after the check for changes, also those of the first page', async () => {
  const fixture = listWithEqualKeys(600, 1_000_000)
  const rows = [...fixture.rows.values()]
  const request = { pageSize: 99, sortOrder: 'Asc' } as const
  let calls = 0
  fixture.onCall = () => {
    // The fourth is the first check: three calls have not found an end of the rows with equal keys.
    if (++calls === 4) for (const { id, key } of rows) fixture.put(id, key, 0)
  }
  for (let nth = 0; nth < 2; nth++) {
    const { items } = await fixture.page(request)
    expect(items.map(({ id }) => id)).toEqual([...fixture.expected({ ...request, pageNumber: 1 })])
    expect(items.filter(({ version }) => version <= 600)).toEqual([])
  }
})

test('a list that is not longer than its first page is exact after one call, however the upstream sorts it', async () => {
  const fixture = listOf(10)
  fixture.sorts = false
  for (const sortOrder of ['Asc', 'Desc'] as const) {
    const request = { pageSize: 10, pageNumber: 1, sortOrder }
    expect(
      await callsOf(fixture, async () => {
        const { items, nextToken, totalCount } = await fixture.page(request)
        expect(items.map(({ id }) => id)).toEqual([...fixture.expected(request)])
        expect([nextToken, totalCount]).toEqual(['', 10])
      }),
    ).toBe(1)
  }
})

test('a page needs one call per source', async () => {
  const fixture = listOf(5_000, 6)
  expect(await callsOf(fixture, () => fixture.page({}))).toBe(6)
  const { nextToken } = await fixture.page({ pageSize: 40 })
  expect(await callsOf(fixture, () => fixture.page({ pageSize: 40, nextToken }))).toBe(6)
})

test('a walk by token needs no more calls beyond the page depth than within it', async () => {
  const fixture = listOf(60_000)
  let nextToken: string | undefined
  let maxCalls = 0
  let calls = 0
  for (let page = 0; page < 600; page++) {
    calls += await callsOf(fixture, async () => {
      const before = fixture.calls
      nextToken = (await fixture.page({ pageSize: 60, nextToken })).nextToken
      maxCalls = Math.max(maxCalls, fixture.calls - before)
    })
  }
  expect(calls / 600).toBeLessThan(3)
  expect(maxCalls).toBeLessThanOrEqual(6)
})

test('a jump beyond the page depth needs few calls near visited pages', async () => {
  const fixture = listOf(50_000)
  await fixture.page({ pageNumber: 2_500 })
  for (const pageNumber of [2_500, 2_501, 2_499, 2_480]) {
    expect(await callsOf(fixture, () => fixture.page({ pageNumber }))).toBeLessThanOrEqual(4)
  }
})
