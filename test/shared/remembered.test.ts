import { describe, expect, test } from 'bun:test'
import { Freshness, Remembered } from '../../plugins/shared/remembered.ts'

/** A store whose one value can be revoked, a clock that moves by hand, and a count of what was asked. */
const scene = (limit?: number) => {
  let now = 0
  let revision = 0
  const counts = { revision: 0, loads: 0 }
  const values = new Map<string, string>([['key', 'value']])
  let read = async () => revision
  const freshness = new Freshness(
    () => {
      counts.revision++
      return read()
    },
    { now: () => now },
  )
  const memory = new Remembered<string>(freshness, { limit })
  return {
    counts,
    values,
    freshness,
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

describe('what is remembered costs nothing', () => {
  test('one load, one question, however often it is used', async () => {
    const { get, counts } = scene()
    for (let use = 0; use < 100; use++) expect(await get()).toBe('value')
    expect(counts).toEqual({ revision: 1, loads: 1 })
  })

  test('and is an answer, not a promise of one', async () => {
    const { get, pass } = scene()
    await get()
    expect(get()).toBe('value')
    pass(899)
    expect(get()).toBe('value')
    pass(1000)
    expect(get()).toBeInstanceOf(Promise)
  })

  test('a busy process asks for the revision at most twice a second', async () => {
    const { get, counts, pass } = scene()
    for (let ms = 0; ms < 10_000; ms += 10) {
      await get()
      await settled()
      pass(10)
    }
    expect(counts.loads).toBe(1)
    expect(counts.revision).toBeGreaterThan(10)
    expect(counts.revision).toBeLessThanOrEqual(23)
  })

  test('many at once wait for one question', async () => {
    const { get, counts } = scene()
    await Promise.all(Array.from({ length: 50 }, () => get()))
    expect(counts.revision).toBe(1)
  })

  test('an idle process asks nothing', async () => {
    const { get, counts, pass } = scene()
    await get()
    pass(3_600_000)
    await settled()
    expect(counts.revision).toBe(1)
  })
})

describe('a revocation takes effect within a second', () => {
  test('however uses and revocation fall', async () => {
    for (let revokedAt = 0; revokedAt < 2000; revokedAt += 37) {
      for (const every of [1, 100, 449, 450, 451, 899, 900, 901]) {
        const { get, pass, revoke } = scene()
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

  test('after a long rest the first use already knows', async () => {
    const { get, pass, revoke } = scene()
    await get()
    pass(3_600_000)
    revoke()
    expect(await get()).toBeUndefined()
  })

  test('also when the question under way was asked long before', async () => {
    const { get, pass, revoke, reading, revision } = scene()
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

describe('an answer from before a change does not outlive it', () => {
  test('when the change is seen while the answer is on its way', async () => {
    const { memory, get, pass, revoke } = scene()
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

  test('when it is seen only afterwards', async () => {
    const { memory, get, pass, revoke } = scene()
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

  test('what was learned goes with it', async () => {
    const { memory, get, pass, revoke } = scene()
    await get()
    memory.learn('learned', 'yes')
    expect(await memory.get('learned', async () => undefined)).toBe('yes')
    revoke()
    pass(1000)
    expect(await memory.get('learned', async () => undefined)).toBeUndefined()
  })

  test('nothing is learned before the revision is known', async () => {
    const { memory, get } = scene()
    memory.learn('key', 'too early')
    expect(await get()).toBe('value')
  })
})

describe('what is not there may come to be', () => {
  test('absence is never remembered', async () => {
    const { get, counts, values } = scene()
    expect(await get('new')).toBeUndefined()
    values.set('new', 'here')
    expect(await get('new')).toBe('here')
    expect(counts.loads).toBe(2)
  })

  test('what is forgotten is asked for again', async () => {
    const { memory, get, counts } = scene()
    await get()
    memory.forget('key')
    await get()
    expect(counts.loads).toBe(2)
  })
})

describe('a store that cannot be asked', () => {
  const failing = () => Promise.reject(new Error('down'))

  test('is noticed when memory is too old, and only then', async () => {
    const { get, pass, reading, revision, counts } = scene()
    await get()
    reading(failing)
    pass(500)
    expect(await get()).toBe('value')
    await settled()
    pass(500)
    expect(get()).rejects.toThrow('down')
    await settled()
    reading(async () => revision())
    expect(await get()).toBe('value')
    expect(counts.loads).toBe(1)
  })

  test('at first use is an error, not an empty memory', () => {
    const { get, reading, counts } = scene()
    reading(failing)
    expect(get()).rejects.toThrow('down')
    expect(counts.loads).toBe(0)
  })

  test('for an answer leaves nothing behind', async () => {
    const { memory, get } = scene()
    expect(memory.get('key', failing)).rejects.toThrow('down')
    await settled()
    expect(await get()).toBe('value')
  })
})

describe('memory is bounded', () => {
  test('the oldest answers go first', async () => {
    const { memory, counts } = scene(3)
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

  test('a thousandth of a full memory goes at a time, and no more', async () => {
    const { memory, get } = scene(3_000)
    await get()
    for (let key = 1; key <= 3_000; key++) memory.learn(String(key), 'learned')
    const kept = Array.from({ length: 3_000 }, (_, key) => String(key + 1)).filter(
      (key) => memory.get(key, async () => undefined) === 'learned',
    )
    // Gone with the first of all, which `get` has left.
    expect(kept).toHaveLength(2_998)
    expect(kept[0]).toBe('3')
  })
})

describe('a store that says what has changed', () => {
  /** Two kinds of answers, and a store that names what it takes away, unless it is told to be silent about it. */
  const telling = () => {
    let now = 0
    let value = 0
    let silent = false
    const changes: { at: number; kind: string; key: string }[] = []
    const freshness = new Freshness(
      async (since = 0) => (silent ? value : { value, changes: changes.filter(({ at }) => at > since) }),
      { now: () => now },
    )
    const loads: string[] = []
    const tokens = new Remembered<string>(freshness, { kind: 'token', absentMs: 100_000 })
    const assets = new Remembered<string>(freshness, { kind: 'group', namedBy: (group) => group })
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
      hush: () => {
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

  test('costs the rest nothing', async () => {
    const { all, change, pass } = telling()
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

  test('ends the absence of what it names, and no other', async () => {
    const { tokens, change, pass } = telling()
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
    tokens.forget('y')
    tokens.learn('x', 'here')
    expect([await ask('y'), await ask('x')]).toEqual([undefined, 'here'])
    expect(asked).toEqual(['x', 'y', 'x', 'y'])
  })

  test('loses everything when it cannot say', async () => {
    const { all, change, pass, hush } = telling()
    await all()
    hush()
    change('token', 'b')
    pass(1000)
    expect(await all()).toEqual(['a', 'b', 'c', 'x', 'x', 'y'])
  })

  test('an answer from before a change does not outlive it, whenever the change is seen', async () => {
    for (const seenBefore of [true, false]) {
      const { all, tokens, change, pass, loads } = telling()
      await all()
      change('token', 'late')
      pass(1000)
      await all()
      const answer = Promise.withResolvers<string>()
      const late = tokens.get('late', () => answer.promise)
      await settled()
      change('token', 'late')
      if (seenBefore) {
        pass(1000)
        await all()
      }
      answer.resolve('old')
      expect(await late).toBe('old')
      pass(1000)
      expect(await tokens.get('late', async () => 'new')).toBe('new')
      expect(loads).not.toContain('late')
    }
  })
})

describe('what somebody else has asked for shows itself to nobody', () => {
  test('an answer that does not fit is asked for again, every time, and not kept', async () => {
    const { memory, counts } = scene()
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

describe('several memories share one freshness', () => {
  test('one question serves them all, and a change empties them all', async () => {
    const { freshness, get, counts, pass, revoke } = scene()
    const other = new Remembered<string>(freshness)
    await get()
    await other.get('x', async () => 'old')
    expect(counts.revision).toBe(1)
    revoke()
    pass(1000)
    await get()
    expect(await other.get('x', async () => 'new')).toBe('new')
    expect(counts.revision).toBe(2)
  })
})
