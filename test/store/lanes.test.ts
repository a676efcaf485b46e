import { expect, test } from 'bun:test'
import { ConnectionPool } from '../../src/store/connection-pool.ts'

const setUp = (size: number, patienceMs = 50) => {
  let opened = 0
  const dropped: number[] = []
  const lanes = new ConnectionPool({ size, patienceMs, open: () => ++opened, drop: (lane) => dropped.push(lane) })
  return { lanes, dropped }
}
const never = () => new Promise<never>(() => {})

test('each lane does one piece of work at a time, and the others wait their turn', async () => {
  const { lanes } = setUp(2)
  const running = new Set<number>()
  const order: number[] = []
  await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      lanes.run(async (lane) => {
        expect(running.has(lane)).toBe(false)
        running.add(lane)
        order.push(index)
        await Bun.sleep(1)
        running.delete(lane)
      }, 1_000),
    ),
  )
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

test('the lane used last is used next', async () => {
  const { lanes } = setUp(3)
  const used = [await lanes.run(async (lane) => lane, 10), await lanes.run(async (lane) => lane, 10)]
  expect(new Set(used).size).toBe(1)
})

test('work that finds no lane in time is rejected and never begun', async () => {
  const { lanes } = setUp(1, 80)
  const holding = lanes.run(() => Bun.sleep(60), 1_000)
  let begun = false
  const waiting = lanes.run(async () => {
    begun = true
  }, 20)
  await expect(waiting).rejects.toThrow('the database did not answer in time')
  await holding
  await lanes.run(async () => {}, 20)
  expect(begun).toBe(false)
})

test('work that does not end costs its lane, which is replaced for those who wait', async () => {
  const { lanes, dropped } = setUp(1)
  const stuck = lanes.run(never, 50)
  const next = lanes.run(async (lane) => lane, 200)
  await expect(stuck).rejects.toThrow('the database did not answer in time')
  expect(await next).toBe(2)
  expect(dropped).toEqual([1])
  expect(lanes.all).toEqual([2])
})

test('work that waited long is rejected in time without costing its lane', async () => {
  const { lanes, dropped } = setUp(1, 60)
  const first = lanes.run(() => Bun.sleep(40), 1_000)
  const second = lanes.run(() => Bun.sleep(40), 60)
  await expect(second).rejects.toThrow('the database did not answer in time')
  await first
  expect(await lanes.run(async (lane) => lane, 1_000)).toBe(1)
  expect(dropped).toEqual([])
})

test('a lane that failed is used again', async () => {
  const { lanes } = setUp(1)
  const failing = lanes.run(() => Promise.reject(new Error('refused')), 50)
  await expect(failing).rejects.toThrow('refused')
  expect(await lanes.run(async (lane) => lane, 50)).toBe(1)
})
