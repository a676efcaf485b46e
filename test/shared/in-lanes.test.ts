import { expect, test } from 'bun:test'
import { inLanes } from '../../plugins/shared/background/in-lanes.ts'
import { settled } from '../support/virtual-clock.ts'

/** Works on numbers, each until it is ended. */
const open = (count: number, lanes: number) => {
  const begun: number[] = []
  const ends = new Map<number, (error?: Error) => void>()
  const done = inLanes(Array(count).keys(), lanes, (item) => {
    begun.push(item)
    return new Promise((resolve, reject) => ends.set(item, (error) => (error ? reject(error) : resolve())))
  })
  const end = async (item: number, error?: Error) => {
    ends.get(item)?.(error)
    await settled()
  }
  return { begun, done, end }
}

test('items are worked on in their order, in as many lanes as there are, and one that takes long delays no other lane', async () => {
  const { begun, done, end } = open(5, 2)
  expect(begun).toEqual([0, 1])
  for (const item of [1, 2, 3, 4]) await end(item)
  expect(begun).toEqual([0, 1, 2, 3, 4])
  let isDone = false
  void done.then(() => {
    isDone = true
  })
  await settled()
  expect(isDone).toBe(false)
  await end(0)
  expect(isDone).toBe(true)
})

test('an error rejects, and the other lanes go on', async () => {
  const { begun, done, end } = open(4, 2)
  const failed = done.catch((error: Error) => error.message)
  await end(0, new Error('failed'))
  expect(await failed).toBe('failed')
  for (const item of [1, 2, 3]) await end(item)
  expect(begun).toEqual([0, 1, 2, 3])
})

test('no items are done at once', async () => {
  await inLanes([], 3, () => Promise.reject(new Error('called')))
})
