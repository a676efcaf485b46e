import { expect, test } from 'bun:test'
import { Lanes } from '../../plugins/text-generation/websocket/lanes.ts'
import { settled } from '../support/virtual-clock.ts'

test('at most 16 items run at the same time, and the next one starts when one has ended', async () => {
  const running = new Map<number, () => void>()
  const lanes = new Lanes<number>(
    (item) =>
      new Promise((resolve) => {
        running.set(item, () => {
          running.delete(item)
          resolve()
        })
      }),
    () => {},
  )
  for (let item = 0; item < 20; item++) lanes.add(`lane ${item}`, item)
  expect([...running.keys()]).toEqual(Array.from({ length: 16 }, (_, item) => item))
  running.get(3)?.()
  await settled()
  expect(running.has(16)).toBe(true)
  expect([running.size, lanes.active]).toEqual([16, 16])
})
