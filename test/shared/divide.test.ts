import { describe, expect, test } from 'bun:test'
import { type DivideOptions, divide, type FailureScope } from '../../plugins/shared/background/divide.ts'

/** Divides a batch of numbers whose calls fail if they contain one of the bad ones. */
const run = async (
  items: readonly number[],
  { bad = [], scope = 'item', down = false }: { bad?: readonly number[]; scope?: FailureScope; down?: boolean } = {},
  budget?: DivideOptions<number>['budget'],
) => {
  const calls: (readonly number[])[] = []
  const done: number[] = []
  const failed: number[] = []
  const left = await divide(items, {
    async call(some) {
      calls.push(some)
      if (down || some.some((item) => bad.includes(item))) throw new Error('failed')
      done.push(...some)
    },
    scopeOf: () => scope,
    onFailed: (item) => failed.push(item),
    ...(budget && { budget }),
  }).catch((error: Error) => error.message)
  return { calls, done: done.toSorted((a, b) => a - b), failed, left }
}

const hundred = Array.from({ length: 100 }, (_, index) => index)

describe('a batch', () => {
  test('is one call, if that succeeds, and none without items', async () => {
    expect(await run(hundred)).toMatchObject({ calls: [hundred], done: hundred, failed: [], left: [] })
    expect(await run([])).toMatchObject({ calls: [], left: [] })
  })

  for (const scope of ['item', 'unclear'] as const) {
    for (const bad of [[0], [99], [0, 1, 2, 50]])
      test(`with bad items ${bad}: all others are done, and only these fail (${scope})`, async () => {
        // The item that is tried alone may be a bad one: then the batch is tried again later, as callers do.
        let found = await run(hundred, { bad, scope })
        while (found.left === 'failed') found = await run(hundred, { bad, scope })
        expect(found.done).toEqual(hundred.filter((item) => !bad.includes(item)))
        expect(found.failed).toEqual(bad)
        expect(found.calls.length).toBeLessThan(2 + 15 * bad.length)
      })
  }

  test('for which nothing succeeds is two calls, if that may be so because all are down, and one, if it is known', async () => {
    const unclear = await run(hundred, { down: true, scope: 'unclear' })
    expect([unclear.calls.length, unclear.calls[1]?.length, unclear.left]).toEqual([2, 1, 'failed'])
    expect(await run(hundred, { down: true, scope: 'all' })).toMatchObject({ calls: [hundred], left: 'failed' })
  })

  test('of one item fails as a whole while no call has succeeded, and alone afterwards', async () => {
    const budget = { calls: 9, works: false }
    expect((await run([7], { bad: [7], scope: 'unclear' }, budget)).left).toBe('failed')
    await run([1, 2], {}, budget)
    expect(await run([7], { bad: [7], scope: 'unclear' }, budget)).toMatchObject({ failed: [7], left: [] })
  })

  test('is not divided further than its calls permit: what is left is neither done nor failed', async () => {
    const budget = { calls: 3, works: false }
    const { calls, done, failed, left } = await run(hundred, { bad: [0] }, budget)
    expect(calls).toHaveLength(4)
    expect([...done, ...failed, ...(left as readonly number[])].toSorted((a, b) => a - b)).toEqual(hundred)
    expect(failed).toEqual([])
  })
})
