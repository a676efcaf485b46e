import { describe, expect, test } from 'bun:test'
import { Problem } from '../../plugins/shared/problem.ts'
import { addRow, ListFixture, pick, randomFixture, seededRandom } from './fixture.ts'

const callsOf = async (fixture: ListFixture, act: () => Promise<unknown>): Promise<number> => {
  const before = fixture.calls
  await act()
  return fixture.calls - before
}

const listOf = (count: number, sources = 1): ListFixture => {
  const fixture = new ListFixture(sources)
  for (let nth = 0; nth < count; nth++) fixture.put(`row-${nth}`, String(nth % 500).padStart(9, '0'), nth % sources)
  return fixture
}

test('the pages of a search are those of all matching rows, sorted, whatever changes between them', async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = seededRandom(seed)
    const fixture = randomFixture(random, 1_500)
    for (let nth = 0; nth < 8; nth++) {
      if (random() < 0.3) addRow(fixture, random)
      const removed = random() < 0.3 && pick(random, [...fixture.rows.keys()])
      if (removed) fixture.remove(removed)
      const text = pick(random, ['1', 'a', '-1', 'asset', 'nothing at all']) ?? ''
      const sortOrder = random() < 0.5 ? 'Asc' : 'Desc'
      const pageSize = pick(random, [1, 10, 48, 100]) ?? 10
      const wanted = fixture.all(sortOrder).filter((id) => id.includes(text))
      const pageNumber = 1 + Math.floor((random() * wanted.length) / pageSize)
      const page = await fixture.search({ sortOrder, pageSize, pageNumber }, text)
      const start = (pageNumber - 1) * pageSize
      const context = { seed, nth, text, sortOrder, pageSize, pageNumber }
      expect({ ...context, total: page.totalCount, ids: page.items.map(({ id }) => id) }).toEqual({
        ...context,
        total: wanted.length,
        ids: wanted.slice(start, start + pageSize),
      })
      if (page.nextToken === '') continue
      const next = await fixture.search({ sortOrder, pageSize, nextToken: page.nextToken }, text)
      expect(next.items.map(({ id }) => id)).toEqual(wanted.slice(start + pageSize, start + 2 * pageSize))
    }
  }
})

describe('a search', () => {
  test('in at most a hundred rows takes one call for each source', async () => {
    expect(await callsOf(listOf(100), () => Promise.resolve())).toBe(0)
    for (const sources of [1, 3]) {
      const fixture = listOf(100 * sources, sources)
      for (const text of ['1', '2']) expect(await callsOf(fixture, () => fixture.search({}, text))).toBe(sources)
    }
  })

  test('reads a long list once: the next page and another text take one call', async () => {
    const fixture = listOf(2_500)
    expect(await callsOf(fixture, () => fixture.search({}, '1'))).toBe(25 + 3)
    expect(await callsOf(fixture, () => fixture.search({ pageNumber: 7 }, '1'))).toBe(1)
    expect(await callsOf(fixture, () => fixture.search({}, '12'))).toBe(1)
    fixture.put('row-new', '000000007', 0)
    expect((await fixture.search({}, 'new')).items.map(({ id }) => id)).toEqual(['row-new'])
    expect(await callsOf(fixture, () => fixture.search({}, '12'))).toBe(1)
  })

  test('misses no row when one is removed and another added during the read', async () => {
    const fixture = listOf(1_000)
    const [first] = fixture.all('Desc')
    let calls = 0
    fixture.onCall = () => {
      // After the fingerprint and the first pages: the total stays, and all rows after the removed one move up.
      if (++calls !== 6) return
      fixture.remove(first ?? '')
      fixture.put('row-late', '000000000', 0)
    }
    const { totalCount } = await fixture.search({}, 'row-')
    const all = new Set<string>()
    for (let pageNumber = 1; pageNumber <= 10; pageNumber++) {
      for (const { id } of (await fixture.search({ pageSize: 100, pageNumber }, 'row-')).items) all.add(id)
    }
    expect(totalCount).toBe(1_000)
    expect([...all].toSorted()).toEqual([...fixture.rows.keys()].toSorted())
  })

  test('is by cursor beyond the depth of page mode, and while the list does not stop changing', async () => {
    const deep = new ListFixture(1, 500)
    for (let nth = 0; nth < 900; nth++) deep.put(`row-${nth}`, String(nth).padStart(9, '0'), 0)
    expect((await deep.search({}, '77')).totalCount).toBe(deep.all('Asc').filter((id) => id.includes('77')).length)
    const restless = listOf(900)
    restless.onCall = () => restless.put(`new-${restless.rows.size}`, '000000900', 0)
    expect((await restless.search({}, 'row-')).totalCount).toBe(900)
  })

  test('in more rows than the maximum is rejected after one page, with the names of the filters', async () => {
    const fixture = listOf(3_000, 3)
    const found = fixture.search({}, '1', 2_999)
    expect(found).rejects.toThrow('IdContains: the list has more than 2999 items')
    expect(await found.catch((error) => error instanceof Problem && error.status)).toBe(400)
    expect(fixture.calls).toBe(3)
    expect((await fixture.search({}, 'row', 3_000)).totalCount).toBe(3_000)
  })

  test('is for one caller', async () => {
    const fixture = listOf(10)
    const token = (await fixture.search({ pageSize: 1 }, 'row')).nextToken
    const [second] = fixture.all('Desc').slice(1)
    expect((await fixture.search({ pageSize: 1, nextToken: token }, 'row')).items[0]?.id).toBe(second ?? '')
    // The token of another text is not valid for this one.
    expect((await fixture.search({ pageSize: 1, nextToken: token }, 'ow')).items[0]?.id).toBe(
      fixture.all('Desc')[0] ?? '',
    )
  })
})
