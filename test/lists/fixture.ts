import { createHash } from 'node:crypto'
import {
  comparePositions,
  createCursors,
  type ListRequest,
  listPage,
  type Page,
  type Position,
  type Source,
  Trails,
  Unsteady,
} from '../../plugins/pagination-normalizer/index.ts'

export interface Row extends Position {
  readonly source: number
  /** What changes whenever the row does. */
  readonly version: number
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export const dice = (seed: number) => {
  let state = seed
  return (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** Lists as an upstream keeps them, with its limits, and an order of its own among equal keys. Counts what it is asked. */
export class World {
  calls = 0
  /** Called before every answer: a chance to change something under the reader's hands. */
  onCall: () => void = () => {}
  readonly rows = new Map<string, Row>()
  readonly trails = new Trails()
  readonly cursors = createCursors(['the secret of these tests'])
  #version = 0
  #sorted = new Map<string, Row[]>()
  #places = new Map<string, Row>()
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

  /** What a page has to be, by the plainest of means. */
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
    const sources = Array.from({ length: this.sourceCount }, (_, nth) => this.#source(nth, whole.sortOrder))
    return listPage({ sources, request: whole, caller: 'ann', cursors: this.cursors, trails: this.trails })
  }

  /** Ties in the order of a hash, the same in both directions. */
  #list(source: number, sortOrder: 'Asc' | 'Desc'): Row[] {
    const name = `${source} ${sortOrder}`
    let list = this.#sorted.get(name)
    if (!list) {
      const direction = sortOrder === 'Asc' ? 1 : -1
      const own = [...this.rows.values()].filter((row) => row.source === source)
      list = own.sort((a, b) => (a.key === b.key ? compare(hash(a.id), hash(b.id)) : direction * compare(a.key, b.key)))
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
        const after = cursor === undefined ? undefined : this.#places.get(cursor)
        if (cursor !== undefined && !after) throw new Unsteady('unknown cursor')
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
        this.#places.set(next, last)
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

/** A world of random size and density. */
export const randomWorld = (roll: () => number, most: number): World => {
  const world = new World(1 + Math.floor(roll() ** 2 * 6), [10_000, 500, 300][Math.floor(roll() * 3)])
  const count = Math.floor(roll() ** 2 * most)
  const keys = Math.max(1, Math.floor([count * 4, count / 3, count / 50, 3][Math.floor(roll() * 4)] ?? 1))
  for (let nth = 0; nth < count; nth++) addRow(world, roll, keys)
  return world
}

let lastId = 0

export const addRow = (world: World, roll: () => number, keys = 1_000): string => {
  const id = `asset-${(++lastId).toString(36)}-${Math.floor(roll() * 1e6).toString(36)}`
  world.put(id, String(Math.floor(roll() * keys)).padStart(9, '0'), Math.floor(roll() * world.sourceCount))
  return id
}

export const pick = <Value>(roll: () => number, values: readonly Value[]): Value | undefined =>
  values[Math.floor(roll() * values.length)]
