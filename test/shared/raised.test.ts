import { describe, expect, test } from 'bun:test'
import { Freshness, Remembered } from '../../plugins/shared/remembered.ts'

/** A store of one value, which answers when it is told to. */
const scene = () => {
  const state = { value: 'old', revision: 1, readings: 0 }
  const held: (() => void)[] = []
  const later = async <Value>(answer: Value): Promise<Value> => {
    await new Promise<void>((resolve) => held.push(resolve))
    return answer
  }
  const freshness = new Freshness(
    () => {
      state.readings++
      return later({ value: state.revision, changes: state.revision === 1 ? [] : [{ kind: 'thing', key: 'key' }] })
    },
    { now: () => 0 },
  )
  const memory = new Remembered<string>(freshness, { kind: 'thing' })
  return {
    state,
    freshness,
    get: () => memory.get('key', () => later(state.value)),
    change: () => {
      state.value = 'new'
      state.revision = 2
      freshness.raised()
    },
    /** Lets everything be answered, whatever is asked next. */
    async answer<Value>(asked: Value | Promise<Value>): Promise<Value> {
      const over = { yet: false }
      const settled = Promise.resolve(asked).finally(() => {
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

describe('what a process has changed itself it sees at once', () => {
  test('the next use waits for a reading, one further does not', async () => {
    const { get, answer, change, state } = scene()
    expect(await answer(get())).toBe('old')
    expect(get()).toBe('old')
    change()
    expect(await answer(get())).toBe('new')
    expect(get()).toBe('new')
    expect(state.readings).toBe(2)
  })

  test('for one that was begun afterwards', async () => {
    const { get, answer, change, state } = scene()
    const first = get()
    change()
    const second = get()
    expect(await answer(second)).toBe('new')
    await answer(first)
    expect(get()).toBe('new')
    expect(state.readings).toBe(2)
  })

  test('and an answer from before, which comes afterwards, does not outlive it', async () => {
    const { get, answer, change, freshness } = scene()
    await answer(freshness.check())
    const before = get()
    change()
    expect(await answer(before)).toBe('old')
    expect(await answer(get())).toBe('new')
  })
})

describe('memory is bounded by the sizes of what it holds', () => {
  const scene = async () => {
    const freshness = new Freshness(async () => 1)
    await freshness.check()
    const memory = new Remembered<string>(freshness, { limit: 10, sizeOf: ({ length }) => length })
    const asked: string[] = []
    const get = (key: string) =>
      memory.get(key, async () => {
        asked.push(key)
        return key
      })
    return { memory, get, asked }
  }

  test('the oldest goes first, as many as it takes', async () => {
    const { get, asked } = await scene()
    for (const key of ['aaa', 'bbb', 'ccc', 'dddddd']) await get(key)
    asked.length = 0
    for (const key of ['dddddd', 'ccc']) await get(key)
    expect(asked).toEqual([])
    for (const key of ['aaa', 'bbb']) await get(key)
    expect(asked).toEqual(['aaa', 'bbb'])
  })

  test('what is larger than all of it is not kept, and takes nobody’s place', async () => {
    const { get, asked } = await scene()
    await get('aaa')
    await get('eleven eeee')
    await get('eleven eeee')
    await get('aaa')
    expect(asked).toEqual(['aaa', 'eleven eeee', 'eleven eeee'])
  })

  test('what is replaced or forgotten counts no longer', async () => {
    const { memory, get, asked } = await scene()
    await get('aaa')
    for (let nth = 0; nth < 5; nth++) {
      memory.learn('b', 'bbbbbb')
      memory.learn('c', 'c')
      memory.forget('c')
    }
    await get('aaa')
    expect(asked).toEqual(['aaa'])
  })
})
