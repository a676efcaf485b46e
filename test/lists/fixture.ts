import { createHash } from 'node:crypto'
import {
  comparePositions,
  createCursors,
  ListChangedError,
  type ListRequest,
  listPage,
  type Page,
  type Position,
  SearchCache,
  type Source,
  searchPage,
  WalkCache,
} from '../../plugins/pagination-normalizer/index.ts'

export interface Row extends Position {
  readonly source: number
  /** Changes with every change of the row. */
  readonly version: number
}

/** Pseudo-random numbers from 0 to 1 (mulberry32). */
export const seededRandom = (seed: number) => {
  let state = seed
  return (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** Emulated lists of an upstream, with its limits and its own order of equal keys. Counts the calls. */
export class ListFixture {
  calls = 0
  /** Runs before every response. A test can change rows during a walk. */
  onCall: () => void = () => {}
  /** An upstream that does not sort lists the rows in the order in which they were put. */
  sorts = true
  readonly rows = new Map<string, Row>()
  readonly walkCache = new WalkCache()
  readonly searchCache = new SearchCache()
  readonly cursors = createCursors(['the secret of these tests'])
  #version = 0
  #sorted = new Map<string, Row[]>()
  #cursorRows = new Map<string, Row>()
  readonly sourceCount: number
  readonly depth: number

  constructor(sourceCount: number, depth = 10_000) {
    this.sourceCount = sourceCount
    this.depth = depth
  }

  put(id: string, key: string, source: number): void {
    this.rows.set(id, { id, key, source, version: ++this.#version })
    this.#sorted.clear()
  }

  remove(id: string): void {
    this.rows.delete(id)
    this.#sorted.clear()
  }

  /** The expected page, by sorting and slicing. */
  expected(request: Pick<ListRequest, 'sortOrder' | 'pageSize' | 'pageNumber'>): readonly string[] {
    const start = (request.pageNumber - 1) * request.pageSize
    return this.all(request.sortOrder).slice(start, start + request.pageSize)
  }

  all(sortOrder: 'Asc' | 'Desc'): readonly string[] {
    const direction = sortOrder === 'Asc' ? 1 : -1
    return [...this.rows.values()].sort((a, b) => direction * comparePositions(a, b)).map((row) => row.id)
  }

  page(request: Partial<ListRequest>): Promise<Page<Row>> {
    const whole = { ...plain, ...request }
    const sources = this.#sources(whole)
    return listPage({ sources, request: whole, caller: 'ann', cursors: this.cursors, walkCache: this.walkCache })
  }

  /** The page of the rows whose id contains a text: the filter `IdContains`. */
  search(request: Partial<ListRequest>, text: string, maxRows = 20_000): Promise<Page<Row>> {
    const whole = { ...plain, ...request, filter: { IdContains: text } }
    const search = { filters: ['IdContains'], maxRows, matches: ({ id }: Row) => id.includes(text) }
    const { cursors, searchCache } = this
    return searchPage({ sources: this.#sources(whole), request: whole, caller: 'ann', cursors, searchCache, search })
  }

  #sources({ sortOrder }: ListRequest): readonly Source<Row>[] {
    return Array.from({ length: this.sourceCount }, (_, nth) => this.#source(nth, sortOrder))
  }

  /** Equal keys have the order of a hash, the same in both directions. */
  #list(source: number, sortOrder: 'Asc' | 'Desc'): Row[] {
    const name = `${source} ${sortOrder}`
    let list = this.#sorted.get(name)
    if (!list) {
      const direction = sortOrder === 'Asc' ? 1 : -1
      const own = [...this.rows.values()].filter((row) => row.source === source)
      list = !this.sorts
        ? own
        : own.sort((a, b) => (a.key === b.key ? compare(hash(a.id), hash(b.id)) : direction * compare(a.key, b.key)))
      this.#sorted.set(name, list)
    }
    return list
  }

  #source(source: number, sortOrder: 'Asc' | 'Desc'): Source<Row> {
    const count = () => {
      this.calls++
      this.onCall()
    }
    const opposite = sortOrder === 'Asc' ? 'Desc' : 'Asc'
    return {
      id: `${source} ${sortOrder}`,
      maxPageSize: 100,
      maxPageDepth: this.depth,
      page: async (number, size, backwards) => {
        count()
        if (size < 1 || size > 100 || number < 1 || number * size > this.depth) throw new Error('beyond the limits')
        const list = this.#list(source, backwards ? opposite : sortOrder)
        return { rows: list.slice((number - 1) * size, number * size), total: list.length }
      },
      walk: async (cursor, size) => {
        count()
        if (size < 1 || size > 100) throw new Error('beyond the limits')
        const after = cursor === undefined ? undefined : this.#cursorRows.get(cursor)
        if (cursor !== undefined && !after) throw new ListChangedError('unknown cursor')
        const list = this.#list(source, sortOrder)
        const direction = sortOrder === 'Asc' ? 1 : -1
        const isBehind = (row: Row) =>
          !after ||
          (row.key === after.key
            ? compare(hash(row.id), hash(after.id)) > 0
            : direction * compare(row.key, after.key) > 0)
        const start = list.findIndex(isBehind)
        const rows = start === -1 ? [] : list.slice(start, start + size)
        const last = rows.at(-1)
        if (start === -1 || start + size >= list.length || !last) return { rows, cursor: undefined }
        const next = `${sortOrder} ${last.id} ${last.version}`
        this.#cursorRows.set(next, last)
        return { rows, cursor: next }
      },
      fingerprint: async () => {
        count()
        const list = this.#list(source, 'Asc')
        return {
          total: list.length,
          text: `${list.length} ${list.reduce((newest, row) => Math.max(newest, row.version), 0)}`,
        }
      },
    }
  }
}

const plain: ListRequest = {
  endpoint: 'things',
  filter: {},
  sortBy: 'Key',
  sortOrder: 'Desc',
  pageSize: 10,
  pageNumber: 1,
  nextToken: undefined,
}

const hashes = new Map<string, string>()
const hash = (id: string): string => {
  let digest = hashes.get(id)
  if (digest === undefined) {
    digest = createHash('md5').update(id).digest('hex')
    hashes.set(id, digest)
  }
  return digest
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Lists of random size with a random number of distinct keys. */
export const randomFixture = (random: () => number, maxRows: number): ListFixture => {
  const fixture = new ListFixture(1 + Math.floor(random() ** 2 * 6), [10_000, 500, 300][Math.floor(random() * 3)])
  const count = Math.floor(random() ** 2 * maxRows)
  const keys = Math.max(1, Math.floor([count * 4, count / 3, count / 50, 3][Math.floor(random() * 4)] ?? 1))
  for (let nth = 0; nth < count; nth++) addRow(fixture, random, keys)
  return fixture
}

let lastId = 0

export const addRow = (fixture: ListFixture, random: () => number, keys = 1_000): string => {
  const id = `asset-${(++lastId).toString(36)}-${Math.floor(random() * 1e6).toString(36)}`
  fixture.put(id, String(Math.floor(random() * keys)).padStart(9, '0'), Math.floor(random() * fixture.sourceCount))
  return id
}

export const pick = <Value>(random: () => number, values: readonly Value[]): Value | undefined =>
  values[Math.floor(random() * values.length)]
