import { describe, expect, test } from 'bun:test'
import { RevisionCache } from '../../plugins/shared/identity/revision-cache.ts'
import { RevisionClock } from '../../plugins/shared/identity/revision-clock.ts'

/** A store of one value whose calls wait until the test resolves them. */
const openFixture = () => {
  const state = { value: 'old', revision: 1, readings: 0 }
  const held: (() => void)[] = []
  const later = async <Value>(resolveAll: Value): Promise<Value> => {
    await new Promise<void>((resolve) => held.push(resolve))
    return resolveAll
  }
  const revisionClock = new RevisionClock(
    () => {
      state.readings++
      return later({ value: state.revision, changes: state.revision === 1 ? [] : [{ kind: 'thing', key: 'key' }] })
    },
    { clock: { now: () => 0 } },
  )
  const memory = new RevisionCache<string>(revisionClock, { kind: 'thing' })
  return {
    state,
    revisionClock,
    get: () => memory.get('key', () => later(state.value)),
    change: () => {
      state.value = 'new'
      state.revision = 2
      revisionClock.notifyRaised()
    },
    /** Resolves all store calls, also later ones, until `pending` is settled. */
    async resolveAll<Value>(pending: Value | Promise<Value>): Promise<Value> {
      const over = { yet: false }
      const settled = Promise.resolve(pending).finally(() => {
        over.yet = true
      })
      while (!over.yet) {
        for (const resolve of held.splice(0)) resolve()
        await new Promise<void>((resolve) => setImmediate(resolve))
      }
      return settled
    },
  }
}

describe('a change by this process is visible at once', () => {
  test('the next read waits for the new revision, and further ones do not', async () => {
    const { get, resolveAll, change, state } = openFixture()
    expect(await resolveAll(get())).toBe('old')
    expect(get()).toBe('old')
    change()
    expect(await resolveAll(get())).toBe('new')
    expect(get()).toBe('new')
    expect(state.readings).toBe(2)
  })

  test('to every read that starts after the change', async () => {
    const { get, resolveAll, change, state } = openFixture()
    const first = get()
    change()
    const second = get()
    expect(await resolveAll(second)).toBe('new')
    await resolveAll(first)
    expect(get()).toBe('new')
    expect(state.readings).toBe(2)
  })

  test('and a late result from before the change is not cached', async () => {
    const { get, resolveAll, change, revisionClock } = openFixture()
    await resolveAll(revisionClock.check())
    const before = get()
    change()
    expect(await resolveAll(before)).toBe('old')
    expect(await resolveAll(get())).toBe('new')
  })
})

describe('the cache is limited by the sizes of its entries', () => {
  const openFixture = async () => {
    const revisionClock = new RevisionClock(async () => 1)
    await revisionClock.check()
    const memory = new RevisionCache<string>(revisionClock, { maxSize: 10, sizeOf: ({ length }) => length })
    const pending: string[] = []
    const get = (key: string) =>
      memory.get(key, async () => {
        pending.push(key)
        return key
      })
    return { memory, get, pending }
  }

  test('the oldest entries are evicted first', async () => {
    const { get, pending } = await openFixture()
    for (const key of ['aaa', 'bbb', 'ccc', 'dddddd']) await get(key)
    pending.length = 0
    for (const key of ['dddddd', 'ccc']) await get(key)
    expect(pending).toEqual([])
    for (const key of ['aaa', 'bbb']) await get(key)
    expect(pending).toEqual(['aaa', 'bbb'])
  })

  test('an entry above the total limit is not cached and evicts nothing', async () => {
    const { get, pending } = await openFixture()
    await get('aaa')
    await get('eleven eeee')
    await get('eleven eeee')
    await get('aaa')
    expect(pending).toEqual(['aaa', 'eleven eeee', 'eleven eeee'])
  })

  test('replaced and removed entries do not count', async () => {
    const { memory, get, pending } = await openFixture()
    await get('aaa')
    for (let nth = 0; nth < 5; nth++) {
      memory.set('b', 'bbbbbb')
      memory.set('c', 'c')
      memory.delete('c')
    }
    await get('aaa')
    expect(pending).toEqual(['aaa'])
  })
})
