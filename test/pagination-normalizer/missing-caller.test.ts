import { expect, test } from 'bun:test'
import { createCursors, cutPage, listPage, type Source, WalkCache } from 'sluice/pagination-normalizer'
import { read } from './read-request.ts'

const cursors = createCursors(['sixteen bytes or more'])

test.each([[undefined], [null], [''], [5], [{}]])(
  'a list for the caller %p is an error before a call: users would share tokens and cached rows',
  async (caller) => {
    let calls = 0
    const source = new Proxy({} as Source<never>, {
      get() {
        calls++
        throw new Error('the source was used')
      },
    })
    const request = read('')
    expect(() => cutPage([], request, caller as never, cursors)).toThrow(TypeError)
    const options = { sources: [source], request, caller: caller as never, cursors, walkCache: new WalkCache() }
    expect(await listPage(options).catch((error: unknown) => error)).toBeInstanceOf(TypeError)
    expect(await listPage({ ...options, sources: [] }).catch((error: unknown) => error)).toBeInstanceOf(TypeError)
    expect(calls).toBe(0)
  },
)
