import { describe, expect, test } from 'bun:test'
import { repetitions } from '../support/repetitions.ts'
import { type Fixture, newGroup, openFixture, repeatedKinds } from './fixture.ts'
import { ignoring } from './ignoring.ts'

const statuses = { a: 'Active', p: 'Processing', f: 'Failed' } as const

/** Ann's assets with these statuses, one minute apart, and the ids of those that a filter selects. */
const fill = async ({ ann, emulator }: Fixture, letters: string) => {
  const groupId = await newGroup(ann, 'a')
  const assets = [...letters].map((letter, nth) => {
    const createTime = Date.UTC(2026, 0, 1) + nth * 60_000
    const status = statuses[letter as keyof typeof statuses]
    const { id } = emulator.library.addAsset({ groupId, status, createTime, updateTime: createTime })
    return { id, status: status as string }
  })
  return (wanted: string) => assets.filter(({ status }) => wanted.split(',').includes(status)).map(({ id }) => id)
}

const page = async ({ ann }: Fixture, query: string) => {
  const { status, json } = await ann.ask('GET', `/assets?${query}`)
  expect(status).toBe(200)
  const { Items, TotalCount, NextToken } = json.Result
  return { ids: Items.map(({ Id }: { Id: string }) => Id), total: TotalCount, next: NextToken as string }
}

const libraries = {
  'the newest assets match': `${'p'.repeat(28)}aaa`,
  'the oldest assets match': `aaa${'p'.repeat(28)}`,
  'as many match as not': `${'p'.repeat(20)}${'a'.repeat(20)}`,
  'hundreds match on both sides of others': `${'a'.repeat(250)}${'f'.repeat(30)}${'a'.repeat(250)}`,
  'one matches': 'fffffffa',
}

describe.each(Object.entries(libraries))('when the upstream ignores Statuses only and %s', (_, letters) => {
  test.each([
    ...repetitions('PageSize=3', 'PageSize=1', 'PageSize=1&SortOrder=Asc', 'PageSize=100&SortBy=UpdateTime'),
    ...repetitions('PageSize=2&PageNumber=2', 'PageSize=20&PageNumber=1', 'PageNumber=1000'),
  ])('the page %s has the rows and the TotalCount of the assets that match', async (query) => {
    await using fixture = await openFixture({ kindOf: ignoring('Statuses'), emulator: { processingMs: 1e12 } })
    const matchingOf = await fill(fixture, letters)
    for (const wanted of ['Active', 'Active,Failed']) {
      const newestFirst = matchingOf(wanted).reverse()
      const matching = query.includes('Asc') ? newestFirst.toReversed() : newestFirst
      const [size, number] = [/Size=(\d+)/, /Number=(\d+)/].map((name) => Number(name.exec(query)?.[1] ?? 0))
      const from = Math.max(0, (number || 1) - 1) * (size || 20)
      // Twice: the first page may have cached the result of a check.
      for (let again = 0; again < 2; again++) {
        const { ids, total } = await page(fixture, `${query}&Statuses=${wanted}`)
        expect(total).toBe(matching.length)
        expect(ids).toEqual(matching.slice(from, from + (size || 20)))
      }
    }
  })
})

test('a walk before an upstream that ignores Statuses lists the assets that match, once each', async () => {
  await using fixture = await openFixture({ kindOf: ignoring('Statuses'), emulator: { processingMs: 1e12 } })
  const matching = (await fill(fixture, `${'pa'.repeat(30)}${'a'.repeat(10)}`))('Active')
  const walked: string[] = []
  let token = ''
  do {
    const { ids, total, next } = await page(fixture, `Statuses=Active&PageSize=7&NextToken=${token}`)
    expect(total).toBe(matching.length)
    walked.push(...ids)
    token = next
  } while (token)
  expect(walked).toEqual(matching.reverse())
})

describe.each(repeatedKinds)('with an upstream of kind $kind that applies Statuses', ({ kindOf }) => {
  const calls = async (letters: string, queries: readonly string[]) => {
    await using fixture = await openFixture({ kindOf, emulator: { processingMs: 1e12 } })
    const matching = await fill(fixture, letters)
    const counts: number[] = []
    for (const query of queries) {
      fixture.calls()
      expect((await page(fixture, query)).total).toBe(matching(/Statuses=([\w,]+)/.exec(query)?.[1] ?? '').length)
      counts.push(fixture.calls().length)
    }
    return counts
  }

  test('a page costs one call, and the first of a filter the calls that check the filter', async () => {
    const active = ['Statuses=Active', 'Statuses=Active&PageNumber=2', 'Statuses=Active&PageSize=7&PageNumber=3']
    expect(await calls('a'.repeat(30), active)).toEqual([3, 1, 1])
    expect(await calls(`${'a'.repeat(30)}pp`, active)).toEqual([4, 1, 1])
  })

  test('a page that shows every asset that matches costs one call, also the first', async () => {
    expect(await calls(`${'p'.repeat(30)}aaa`, ['Statuses=Active', 'Statuses=Active'])).toEqual([1, 1])
  })

  test('a filter that all assets match needs no check of its own', async () => {
    const all = 'Statuses=Active,Processing,Failed&PageSize=2'
    expect(await calls('apfapf', [all, all])).toEqual([2, 1])
  })
})
