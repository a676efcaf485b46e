import { expect, test } from 'bun:test'
import {
  createCursors,
  listPage,
  type Position,
  type Source,
  WalkCache,
} from '../../plugins/pagination-normalizer/index.ts'
import { read } from '../pagination-normalizer/read-request.ts'

/** A source with wrong pages, so that the list must be walked by cursor. */
const walking = (walk: Source<Position>['walk']): Source<Position> => ({
  id: 'one',
  maxPageSize: 100,
  maxPageDepth: 10_000,
  page: async () => ({ rows: [row('b', '1'), row('a', '1'), row('c', '9')], total: 3 }),
  walk,
  fingerprint: async () => ({ total: 3, text: '' }),
})

const row = (id: string, key: string): Position => ({ id, key })

const listOf = (source: Source<Position>) =>
  listPage({
    sources: [source],
    request: read(''),
    caller: 'ann',
    cursors: createCursors(['a secret']),
    walkCache: new WalkCache(),
    matches: () => true,
  })

test('a circular or endless list is rejected', async () => {
  let call = 0
  for (const walk of [
    async () => ({ rows: [row('a', '1')], cursor: 'again' }),
    async () => ({ rows: [], cursor: `new ${++call}` }),
    async () => ({ rows: [row('a', '1')], cursor: `new ${++call}` }),
  ]) {
    const rejected = await listOf(walking(walk)).catch((error: unknown) => error)
    expect(rejected).toMatchObject({ status: 502 })
  }
})

test('a list with empty pages in the middle is read to its end', async () => {
  const source = walking(async (cursor) => {
    const step = Number(cursor ?? 0)
    return step < 50 ? { rows: [], cursor: String(step + 1) } : { rows: [row('z', '5')], cursor: undefined }
  })
  expect((await listOf(source)).items.map(({ id }) => id)).toEqual(['z'])
})
