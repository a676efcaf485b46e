import { expect, test } from 'bun:test'
import { KeyedSemaphore } from '../../plugins/shared/background/keyed-semaphore.ts'
import { settled } from '../support/virtual-clock.ts'

const setUp = () => {
  const semaphore = new KeyedSemaphore(2)
  const started: string[] = []
  const ends = new Map<string, PromiseWithResolvers<void>>()
  const run = (key: string, name: string) => {
    const end = Promise.withResolvers<void>()
    ends.set(name, end)
    return semaphore.run(key, () => {
      started.push(name)
      return end.promise
    })
  }
  return { run, started, end: (name: string) => ends.get(name) }
}

test('two pieces of work of a key run at once, others wait in order, and other keys do not wait', async () => {
  const { run, started, end } = setUp()
  const all = ['a1', 'a2', 'a3', 'a4', 'b1'].map((name) => run(name.slice(0, 1), name))
  await settled()
  expect(started).toEqual(['a1', 'a2', 'b1'])
  end('a2')?.resolve()
  await settled()
  expect(started).toEqual(['a1', 'a2', 'b1', 'a3'])
  for (const name of ['a1', 'a3', 'b1']) end(name)?.resolve()
  await settled()
  expect(started).toEqual(['a1', 'a2', 'b1', 'a3', 'a4'])
  end('a4')?.resolve()
  await Promise.all(all)
})

test('work that fails makes room for the next', async () => {
  const { run, started, end } = setUp()
  const failing = Promise.allSettled([run('a', 'a1'), run('a', 'a2')])
  const next = run('a', 'a3')
  for (const name of ['a1', 'a2']) end(name)?.reject(new Error(name))
  expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await settled()
  expect(started).toEqual(['a1', 'a2', 'a3'])
  end('a3')?.resolve()
  await next
})
