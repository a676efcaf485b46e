import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  createCursors,
  cutPage,
  type ListRequest,
  Ordered,
  type Position,
} from '../../plugins/pagination-normalizer/index.ts'
import { read } from './read-request.ts'

const cursors = createCursors(['secret'])
const cut = <Item extends Position>(items: readonly Item[] | Ordered<Item>, request: ListRequest) =>
  cutPage(items, request, 'ann', cursors)

const position = fc.record({
  key: fc.constantFrom('', '100000000000', '100000000001', '100000000001.5'),
  id: fc.string({ minLength: 1, maxLength: 3, unit: fc.constantFrom('a', 'B', '-', 'é', '\uffee', '\u{1f600}') }),
})
const positions = fc.uniqueArray(position, { selector: ({ id }) => id, maxLength: 40 })
const order = fc.constantFrom('Asc', 'Desc')
const size = fc.integer({ min: 1, max: 12 })

/** The reference implementation: sort and slice. */
const sorted = (items: readonly Position[], sortOrder: string): readonly Position[] => {
  const ascending = [...items].sort((a, b) => (a.key !== b.key ? (a.key < b.key ? -1 : 1) : a.id < b.id ? -1 : 1))
  return sortOrder === 'Asc' ? ascending : ascending.reverse()
}

describe('a page is a slice of the sorted list', () => {
  test('by number, for any input order', () => {
    fc.assert(
      fc.property(positions, order, size, fc.integer({ min: 1, max: 10 }), (items, sortOrder, pageSize, pageNumber) => {
        const page = cut(items, read(`SortOrder=${sortOrder}&PageSize=${pageSize}&PageNumber=${pageNumber}`))
        const whole = sorted(items, sortOrder)
        const start = (pageNumber - 1) * pageSize
        expect<readonly Position[]>(page.items).toEqual(whole.slice(start, start + pageSize))
        expect(page.totalCount).toBe(items.length)
        expect(page.nextToken !== '').toBe(page.items.length > 0 && start + pageSize < items.length)
      }),
    )
  })

  test('the same for a list that is already sorted', () => {
    fc.assert(
      fc.property(positions, order, size, (items, sortOrder, pageSize) => {
        const ordered = new Ordered(items)
        for (const direction of [sortOrder, 'Asc', 'Desc']) {
          let token = ''
          do {
            const request = read(`SortOrder=${direction}&PageSize=${pageSize}&NextToken=${token}`)
            const page = cut(ordered, request)
            expect(page).toEqual(cut(items, request))
            token = page.nextToken
          } while (token !== '')
        }
      }),
    )
    const ordered = new Ordered([{ key: '', id: 'a' }])
    for (const direction of ['Asc', 'Desc'] as const) expect(ordered.in(direction)).toBe(ordered.in(direction))
  })

  test('the last page has no token, even when it is full', () => {
    const items = ['a', 'b', 'c', 'd'].map((id) => ({ key: '1', id }))
    for (const [query, more] of [
      ['PageSize=4', false],
      ['PageSize=2&PageNumber=2', false],
      ['PageSize=3', true],
      ['PageSize=2', true],
    ] as const) {
      expect([query, cut(items, read(query)).nextToken !== '']).toEqual([query, more])
    }
  })

  test('a page past the end is empty and has the TotalCount', () => {
    for (const number of [2, 1000, Number.MAX_SAFE_INTEGER]) {
      expect(cut([{ key: '', id: 'a' }], read(`PageNumber=${number}`))).toEqual({
        items: [],
        nextToken: '',
        totalCount: 1,
      })
    }
    expect(cut([], read(''))).toEqual({ items: [], nextToken: '', totalCount: 0 })
  })

  test('the input is not modified', () => {
    const items = Object.freeze([
      { key: '1', id: 'a' },
      { key: '2', id: 'b' },
    ])
    expect(cut(items, read('')).items.map(({ id }) => id)).toEqual(['b', 'a'])
  })
})

describe('a walk over all pages visits every item once', () => {
  test('by token as by number when nothing changes, also from the middle', () => {
    fc.assert(
      fc.property(positions, order, size, fc.integer({ min: 1, max: 4 }), (items, sortOrder, pageSize, from) => {
        const seen: Position[] = []
        let request = read(`SortOrder=${sortOrder}&PageSize=${pageSize}&PageNumber=${from}`)
        for (let pages = 0; pages <= items.length; pages++) {
          const page = cut(items, request)
          seen.push(...page.items)
          if (page.nextToken === '') break
          request = { ...request, nextToken: page.nextToken }
        }
        expect(seen).toEqual(sorted(items, sortOrder).slice((from - 1) * pageSize))
      }),
    )
  })

  test('while other items are added and removed, and the page size changes', () => {
    const change = fc.record({ added: positions, removed: fc.array(fc.nat(50), { maxLength: 4 }), pageSize: size })
    fc.assert(
      fc.property(positions, fc.array(change, { minLength: 1, maxLength: 8 }), order, (items, changes, sortOrder) => {
        const now = new Map(items.map((item) => [item.id, item]))
        const staying = new Set(now.keys())
        const seen: string[] = []
        let token: string | undefined
        for (let at = 0; token !== ''; at++) {
          const step = changes[at]
          // The changes end at some time, or the walk would never end.
          for (const item of step?.added ?? []) if (!staying.has(item.id)) now.set(item.id, item)
          for (const index of step?.removed ?? []) {
            const id = [...now.keys()][index]
            if (id !== undefined) {
              now.delete(id)
              staying.delete(id)
            }
          }
          const request = { ...read(`SortOrder=${sortOrder}&PageSize=${step?.pageSize ?? 5}`), nextToken: token }
          const page = cut([...now.values()], request)
          seen.push(...page.items.map(({ id }) => id))
          token = page.nextToken
        }
        const visits = seen.filter((id) => staying.has(id))
        expect(visits.toSorted()).toEqual([...staying].sort())
      }),
      { numRuns: 500 },
    )
  })

  test('also when the item of the token was deleted or was the last', () => {
    const items = ['a', 'b', 'c', 'd'].map((id) => ({ key: '1', id }))
    const first = cut(items, read('PageSize=2&SortOrder=Asc'))
    const left = items.filter(({ id }) => id !== 'b')
    expect(
      cut(left, { ...read('PageSize=2&SortOrder=Asc'), nextToken: first.nextToken }).items.map(({ id }) => id),
    ).toEqual(['c', 'd'])
    const gone = items.slice(0, 2)
    expect(cut(gone, { ...read('SortOrder=Asc'), nextToken: first.nextToken })).toEqual({
      items: [],
      nextToken: '',
      totalCount: 2,
    })
  })
})
