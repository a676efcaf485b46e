import { expect, test } from 'bun:test'
import { setImmediate } from 'node:timers'
import { inNextTurn } from '../../plugins/shared/background/next-turn.ts'

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('functions of one turn run in the next one, in order, before an immediate that was set after the first of them', async () => {
  const events: string[] = []
  inNextTurn(() => events.push('first'))
  setImmediate(() => events.push('immediate'))
  inNextTurn(() => events.push('second'))
  await Promise.resolve()
  expect(events).toEqual([])
  await nextTurn()
  expect(events).toEqual(['first', 'second', 'immediate'])
})

test('a function that is added while others run waits for the turn after', async () => {
  const events: string[] = []
  inNextTurn(() => {
    events.push('first')
    inNextTurn(() => events.push('later'))
  })
  inNextTurn(() => events.push('second'))
  await nextTurn()
  expect(events).toEqual(['first', 'second'])
  await nextTurn()
  expect(events).toEqual(['first', 'second', 'later'])
})
