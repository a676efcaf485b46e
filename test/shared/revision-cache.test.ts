import { describe, expect, test } from 'bun:test'
import { RevisionCache } from '../../plugins/shared/identity/revision-cache.ts'
import { RevisionClock } from '../../plugins/shared/identity/revision-clock.ts'

/** A store whose value can be revoked, a manual clock, and the number of store calls. */
const openFixture = (limit?: number) => {
  let now = 0
  let revision = 0
  const counts = { revision: 0, loads: 0 }
  const values = new Map<string, string>([['key', 'value']])
  let read = async () => revision
  const revisionClock = new RevisionClock(
    () => {
      counts.revision++
      return read()
    },
    { clock: { now: () => now } },
  )
  const memory = new RevisionCache<string>(revisionClock, { maxSize: limit })
  return {
    counts,
    values,
    revisionClock,
    memory,
    pass: (ms: number) => {
      now += ms
    },
    revoke: (key = 'key') => {
      values.delete(key)
      revision++
    },
    reading: (next: () => Promise<number>) => {
      read = next
    },
    revision: () => revision,
    get: (key = 'key') =>
      memory.get(key, async () => {
        counts.loads++
        return values.get(key)
      }),
  }
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('a cached value', () => {
  test('needs one load and one revision check', async () => {
    const { get, counts } = openFixture()
    for (let use = 0; use < 100; use++) expect(await get()).toBe('value')
    expect(counts).toEqual({ revision: 1, loads: 1 })
  })

  test('is returned synchronously, not as a promise', async () => {
    const { get, pass } = openFixture()
    await get()
    expect(get()).toBe('value')
    pass(899)
    expect(get()).toBe('value')
    pass(1000)
    expect(get()).toBeInstanceOf(Promise)
  })

  test('causes at most two revision checks per second', async () => {
    const { get, counts, pass } = openFixture()
    for (let ms = 0; ms < 10_000; ms += 10) {
      await get()
      await settled()
      pass(10)
    }
    expect(counts.loads).toBe(1)
    expect(counts.revision).toBeGreaterThan(10)
    expect(counts.revision).toBeLessThanOrEqual(23)
  })

  test('shares one revision check between concurrent reads', async () => {
    const { get, counts } = openFixture()
    await Promise.all(Array.from({ length: 50 }, () => get()))
    expect(counts.revision).toBe(1)
  })

  test('causes no revision checks without reads', async () => {
    const { get, counts, pass } = openFixture()
    await get()
    pass(3_600_000)
    await settled()
    expect(counts.revision).toBe(1)
  })
})

describe('a revocation takes effect within a second', () => {
  test('with any timing of reads and revocation', async () => {
    for (let revokedAt = 0; revokedAt < 2000; revokedAt += 37) {
      for (const every of [1, 100, 449, 450, 451, 899, 900, 901]) {
        const { get, pass, revoke } = openFixture()
        let time = 0
        let revoked = false
        while (time < revokedAt + 1000 + every) {
          if (!revoked && time >= revokedAt) {
            revoke()
            revoked = true
          }
          const found = await get()
          await settled()
          if (time >= revokedAt + 1000) expect(found).toBeUndefined()
          pass(every)
          time += every
        }
      }
    }
  })

  test('at the first read after a long pause', async () => {
    const { get, pass, revoke } = openFixture()
    await get()
    pass(3_600_000)
    revoke()
    expect(await get()).toBeUndefined()
  })

  test('also when a pending revision check started long before', async () => {
    const { get, pass, revoke, reading, revision } = openFixture()
    await get()
    pass(500)
    const slow = Promise.withResolvers<number>()
    reading(() => slow.promise)
    expect(await get()).toBe('value')
    const before = revision()
    pass(5000)
    revoke()
    reading(async () => revision())
    const use = get()
    slow.resolve(before)
    expect(await use).toBeUndefined()
  })
})

describe('a load that started before a change is not cached', () => {
  test('when the change is detected during the load', async () => {
    const { memory, get, pass, revoke } = openFixture()
    await get('other')
    const load = Promise.withResolvers<string>()
    const late = memory.get('key', () => load.promise)
    await settled()
    revoke()
    pass(1000)
    await get('other')
    load.resolve('value')
    expect(await late).toBe('value')
    expect(await get()).toBeUndefined()
  })

  test('when the change is detected after the load', async () => {
    const { memory, get, pass, revoke } = openFixture()
    await get('other')
    const load = Promise.withResolvers<string>()
    const late = memory.get('key', () => load.promise)
    await settled()
    revoke()
    load.resolve('value')
    await late
    pass(1000)
    expect(await get()).toBeUndefined()
  })

  test('nor are values that were set before the change', async () => {
    const { memory, get, pass, revoke } = openFixture()
    await get()
    memory.set('learned', 'yes')
    expect(await memory.get('learned', async () => undefined)).toBe('yes')
    revoke()
    pass(1000)
    expect(await memory.get('learned', async () => undefined)).toBeUndefined()
  })

  test('values are not set before the revision is known', async () => {
    const { memory, get } = openFixture()
    memory.set('key', 'too early')
    expect(await get()).toBe('value')
  })
})

describe('a missing value', () => {
  test('is never cached', async () => {
    const { get, counts, values } = openFixture()
    expect(await get('new')).toBeUndefined()
    values.set('new', 'here')
    expect(await get('new')).toBe('here')
    expect(counts.loads).toBe(2)
  })

  test('or a removed one is loaded again', async () => {
    const { memory, get, counts } = openFixture()
    await get()
    memory.delete('key')
    await get()
    expect(counts.loads).toBe(2)
  })
})

describe('a store error', () => {
  const failing = () => Promise.reject(new Error('down'))

  test('is thrown only when the last revision check is too old', async () => {
    const { get, pass, reading, revision, counts } = openFixture()
    await get()
    reading(failing)
    pass(500)
    expect(await get()).toBe('value')
    await settled()
    pass(500)
    await expect(get()).rejects.toThrow('down')
    await settled()
    reading(async () => revision())
    expect(await get()).toBe('value')
    expect(counts.loads).toBe(1)
  })

  test('at the first read is thrown', async () => {
    const { get, reading, counts } = openFixture()
    reading(failing)
    await expect(get()).rejects.toThrow('down')
    expect(counts.loads).toBe(0)
  })

  test('during a load leaves nothing in the cache', async () => {
    const { memory, get } = openFixture()
    await expect(memory.get('key', failing)).rejects.toThrow('down')
    await settled()
    expect(await get()).toBe('value')
  })
})

describe('the size of the cache is limited', () => {
  test('the oldest entries are evicted first', async () => {
    const { memory, counts } = openFixture(3)
    const load = (key: string) =>
      memory.get(key, async () => {
        counts.loads++
        return key
      })
    for (const key of ['a', 'b', 'c', 'd']) await load(key)
    expect(counts.loads).toBe(4)
    for (const key of ['b', 'c', 'd']) await load(key)
    expect(counts.loads).toBe(4)
    await load('a')
    expect(counts.loads).toBe(5)
  })

  test('a full cache evicts a thousandth at a time', async () => {
    const { memory, get } = openFixture(3_000)
    await get()
    for (let key = 1; key <= 3_000; key++) memory.set(String(key), 'learned')
    const kept = Array.from({ length: 3_000 }, (_, key) => String(key + 1)).filter(
      (key) => memory.get(key, async () => undefined) === 'learned',
    )
    // Evicted together with the oldest entry, which `get` did not refresh.
    expect(kept).toHaveLength(2_998)
    expect(kept[0]).toBe('3')
  })
})

describe('a store that reports the changed keys', () => {
  /** Two caches, and a store that reports the keys of its changes, unless `silent` is set. */
  const openReportingStore = () => {
    let now = 0
    let value = 0
    let silent = false
    const changes: { at: number; kind: string; key: string }[] = []
    const revisionClock = new RevisionClock(
      async (since = 0) => (silent ? value : { value, changes: changes.filter(({ at }) => at > since) }),
      { clock: { now: () => now } },
    )
    const loads: string[] = []
    const tokens = new RevisionCache<string>(revisionClock, { kind: 'token', negativeTtlMs: 100_000 })
    const assets = new RevisionCache<string>(revisionClock, { kind: 'group', namedBy: (group) => group })
    const load = (name: string) => async () => {
      loads.push(name)
      return name
    }
    return {
      loads,
      tokens,
      pass: (ms: number) => {
        now += ms
      },
      change: (kind: string, key: string) => changes.push({ at: ++value, kind, key }),
      stopReporting: () => {
        silent = true
      },
      async all() {
        loads.length = 0
        for (const key of ['a', 'b', 'c']) await tokens.get(key, load(key))
        for (const [asset, group] of [
          ['1', 'x'],
          ['2', 'x'],
          ['3', 'y'],
        ])
          await assets.get(asset ?? '', load(group ?? ''))
        return [...loads]
      },
    }
  }

  test('invalidates only these keys', async () => {
    const { all, change, pass } = openReportingStore()
    expect(await all()).toEqual(['a', 'b', 'c', 'x', 'x', 'y'])
    change('token', 'b')
    pass(1000)
    expect(await all()).toEqual(['b'])
    change('group', 'x')
    change('token', 'x')
    pass(1000)
    expect(await all()).toEqual(['x', 'x'])
    pass(1000)
    expect(await all()).toEqual([])
  })

  test('ends the negative caching of these keys only', async () => {
    const { tokens, change, pass } = openReportingStore()
    const asked: string[] = []
    const ask = (key: string) =>
      tokens.get(key, async () => {
        asked.push(key)
        return undefined
      })
    for (const key of ['x', 'y', 'x', 'y']) expect(await ask(key)).toBeUndefined()
    expect(asked).toEqual(['x', 'y'])
    change('token', 'x')
    pass(1000)
    for (const key of ['x', 'y', 'x', 'y']) expect(await ask(key)).toBeUndefined()
    expect(asked).toEqual(['x', 'y', 'x'])
    tokens.delete('y')
    tokens.set('x', 'here')
    expect([await ask('y'), await ask('x')]).toEqual([undefined, 'here'])
    expect(asked).toEqual(['x', 'y', 'x', 'y'])
  })

  test('invalidates all keys when it does not report them', async () => {
    const { all, change, pass, stopReporting } = openReportingStore()
    await all()
    stopReporting()
    change('token', 'b')
    pass(1000)
    expect(await all()).toEqual(['a', 'b', 'c', 'x', 'x', 'y'])
  })

  test('a load that started before a change is not cached, whenever the change is detected', async () => {
    for (const seenBefore of [true, false]) {
      const { all, tokens, change, pass, loads } = openReportingStore()
      await all()
      change('token', 'late')
      pass(1000)
      await all()
      const response = Promise.withResolvers<string>()
      const late = tokens.get('late', () => response.promise)
      await settled()
      change('token', 'late')
      if (seenBefore) {
        pass(1000)
        await all()
      }
      response.resolve('old')
      expect(await late).toBe('old')
      pass(1000)
      expect(await tokens.get('late', async () => 'new')).toBe('new')
      expect(loads).not.toContain('late')
    }
  })
})

describe('a cached value that does not fit the caller', () => {
  test('is loaded again for each read, and the result is not cached', async () => {
    const { memory, counts } = openFixture()
    const load = async () => {
      counts.loads++
      return 'of ann'
    }
    const mine = (name: string) => (value: string) => value === `of ${name}`
    await memory.get('key', load, mine('ann'))
    await memory.get('key', load, mine('ann'))
    expect(counts.loads).toBe(1)
    for (let again = 0; again < 3; again++) await memory.get('key', load, mine('bob'))
    for (let again = 0; again < 3; again++) await memory.get('other', load, mine('bob'))
    expect(counts.loads).toBe(7)
  })
})

test('several caches with one revision clock share its checks, and a change invalidates all of them', async () => {
  const { revisionClock, get, counts, pass, revoke } = openFixture()
  const other = new RevisionCache<string>(revisionClock)
  await get()
  await other.get('x', async () => 'old')
  expect(counts.revision).toBe(1)
  revoke()
  pass(1000)
  await get()
  expect(await other.get('x', async () => 'new')).toBe('new')
  expect(counts.revision).toBe(2)
})
