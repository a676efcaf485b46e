import { describe, expect, test } from 'bun:test'
import { LoginQueue } from '../../plugins/web-session/login-queue.ts'

/** A queue whose work ends when it is told to. */
const open = (atOnce: number, mostWaiting: number) => {
  const queue = new LoginQueue({ atOnce, mostWaiting, message: 'full' })
  const begun: string[] = []
  const refused: string[] = []
  const ends: (() => void)[] = []
  return {
    begun,
    refused,
    queue,
    /** Of whose flows those in capitals are somebody known. */
    put(name: string, flow = name.slice(0, 1)) {
      const work = () =>
        new Promise<void>((resolve) => {
          begun.push(name)
          ends.push(resolve)
        })
      queue
        .run({ name: flow, known: /[A-Z]/.test(flow) }, work)
        .catch(({ status, message }) => refused.push(`${name} ${status} ${message}`))
    },
    /** Ends so much of what runs, the oldest first. */
    async end(count: number) {
      for (let nth = 0; nth < count; nth++) {
        await Bun.sleep(0)
        ends.shift()?.()
      }
      await Bun.sleep(0)
    },
  }
}

describe('a fair queue', () => {
  test('does a few things at once, and every other one in its turn', async () => {
    const { put, begun, end } = open(2, 9)
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2']) put(name)
    await end(0)
    expect(begun).toEqual(['a1', 'a2'])
    await end(7)
    expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2'])
  })

  test('that one flow has filled takes in another one at the cost of the first, and gives each the same room', async () => {
    const { put, begun, refused, end } = open(1, 4)
    for (const name of ['a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'b3', 'a6']) put(name)
    await end(0)
    expect(refused).toEqual(['a5 503 full', 'a4 503 full', 'a3 503 full', 'b3 503 full', 'a6 503 full'])
    await end(9)
    expect(begun).toEqual(['a0', 'a1', 'b1', 'a2', 'b2'])
  })

  test('of flows that have one place each refuses who comes later, of any of them or none', async () => {
    const { put, refused, end } = open(1, 2)
    for (const name of ['x', 'a', 'b', 'c']) put(name)
    put('empty', '')
    await end(0)
    expect(refused).toEqual(['c 503 full', 'empty 503 full'])
  })

  test('that strangers have filled with a flow each takes in whoever is known, one of each, and no stranger more', async () => {
    const { put, begun, refused, end } = open(1, 3)
    for (const name of ['x', 'a', 'b', 'c']) put(name)
    for (const name of ['A1', 'B1', 'A2', 'd']) put(name)
    await end(0)
    expect(refused).toEqual(['c 503 full', 'b 503 full', 'A2 503 full', 'd 503 full'])
    for (const name of ['C1', 'D1', 'A3']) put(name)
    await end(0)
    expect(refused.slice(4)).toEqual(['a 503 full', 'D1 503 full', 'A3 503 full'])
    await end(4)
    expect(begun).toEqual(['x', 'A1', 'B1', 'C1'])
    for (const name of ['y', 'e']) put(name)
    await end(2)
    expect(begun).toEqual(['x', 'A1', 'B1', 'C1', 'y', 'e'])
  })

  test('goes on after work that fails, and has its places back when all is done', async () => {
    const { put, begun, end, queue } = open(1, 1)
    await expect(queue.run({ name: 'a' }, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    for (const name of ['a', 'b', 'c']) put(name)
    await end(2)
    put('d')
    put('e')
    await end(2)
    expect(begun).toEqual(['a', 'b', 'd', 'e'])
  })

  test('tells who finds no room when to come again', async () => {
    const { put, queue } = open(1, 0)
    put('a')
    const refusal = await queue.run({ name: 'b' }, async () => {}).catch((error) => error)
    expect(refusal.headers).toEqual({ 'retry-after': '1' })
  })
})
