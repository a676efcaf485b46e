import { expect, test } from 'bun:test'
import { ConnectionPool } from '../../src/store/database/connection-pool.ts'
import { DatabaseBusyError } from '../../src/store/database/error.ts'

const setUp = (size: number, maxWorkMs = 50, maxPerUser = size) => {
  let opened = 0
  const dropped: number[] = []
  const pool = new ConnectionPool({
    size,
    maxWorkMs,
    maxPerUser,
    open: () => ++opened,
    drop: (connection) => dropped.push(connection),
  })
  return { pool, dropped }
}
const never = () => new Promise<never>(() => {})

test('each connection does one piece of work at a time, and other work waits in order', async () => {
  const { pool } = setUp(2)
  const running = new Set<number>()
  const order: number[] = []
  await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      pool.run(async (connection) => {
        expect(running.has(connection)).toBe(false)
        running.add(connection)
        order.push(index)
        await Bun.sleep(1)
        running.delete(connection)
      }, 1_000),
    ),
  )
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

test('the connection used last is used next', async () => {
  const { pool } = setUp(3)
  const used = [
    await pool.run(async (connection) => connection, 60_000),
    await pool.run(async (connection) => connection, 60_000),
  ]
  expect(new Set(used).size).toBe(1)
})

test('work that gets no connection in time is rejected and never started', async () => {
  const { pool } = setUp(1, 60_000)
  const held = Promise.withResolvers<void>()
  const holding = pool.run(() => held.promise, 60_000)
  let begun = false
  const waiting = pool.run(async () => {
    begun = true
  }, 20)
  await expect(waiting).rejects.toThrow('the database did not respond in time')
  held.resolve()
  await holding
  await pool.run(async () => {}, 60_000)
  expect(begun).toBe(false)
})

test('a connection whose work does not end is dropped, and waiting work gets a new one', async () => {
  const { pool, dropped } = setUp(1)
  const stuck = pool.run(never, 50)
  const next = pool.run(async (connection) => connection, 60_000)
  await expect(stuck).rejects.toThrow('the database did not respond in time')
  expect(await next).toBe(2)
  expect(dropped).toEqual([1])
  expect(pool.all).toEqual([2])
})

test('work that waited too long is rejected in time, and its connection is kept', async () => {
  const { pool, dropped } = setUp(1, 60_000)
  const [one, two] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const first = pool.run(() => one.promise, 60_000)
  const begun = Promise.withResolvers<void>()
  const second = pool.run(() => {
    begun.resolve()
    return two.promise
  }, 500)
  one.resolve()
  await Promise.all([first, begun.promise])
  await expect(second).rejects.toThrow('the database did not respond in time')
  two.resolve()
  expect(await pool.run(async (connection) => connection, 60_000)).toBe(1)
  expect(dropped).toEqual([])
})

test('a connection that its work has broken is replaced', async () => {
  let opened = 0
  const dropped: number[] = []
  const pool = new ConnectionPool({
    ...{
      size: 1,
      maxWorkMs: 60_000,
      open: () => ++opened,
      drop: (connection: number) => void dropped.push(connection),
    },
    isBroken: (error) => (error as Error).message === 'broken',
  })
  const fails = (message: string) => pool.run(() => Promise.reject(new Error(message)), 60_000).catch(() => {})
  await fails('rejected')
  expect(dropped).toEqual([])
  await fails('broken')
  expect(dropped).toEqual([1])
  expect(await pool.run(async (connection) => connection, 60_000)).toBe(2)
})

test('a connection whose work failed is used again', async () => {
  const { pool } = setUp(1, 60_000)
  const failing = pool.run(() => Promise.reject(new Error('refused')), 60_000)
  await expect(failing).rejects.toThrow('refused')
  expect(await pool.run(async (connection) => connection, 60_000)).toBe(1)
})

test('waiting work is served in turns of the users; work of no user has a turn of its own', async () => {
  const { pool } = setUp(1, 60_000)
  const order: string[] = []
  const run = (name: string, user?: string) => pool.run(async () => void order.push(name), 60_000, user)
  let release = () => {}
  const holding = pool.run(() => new Promise<void>((resolve) => (release = resolve)), 60_000, 'ann')
  const waiting = [
    ...Array.from({ length: 4 }, (_, index) => run(`ann ${index}`, 'ann')),
    run('bob 0', 'bob'),
    run('token 0'),
    run('token 1'),
    run('bob 1', 'bob'),
  ]
  release()
  await Promise.all([holding, ...waiting])
  expect(order).toEqual(['ann 0', 'bob 0', 'token 0', 'token 1', 'ann 1', 'bob 1', 'ann 2', 'ann 3'])
})

test('work that has waited for too long takes no turn of its user', async () => {
  const { pool } = setUp(1, 60_000)
  let release = () => {}
  const holding = pool.run(() => new Promise<void>((resolve) => (release = resolve)), 60_000)
  const order: string[] = []
  const late = pool.run(async () => void order.push('late'), 1, 'ann')
  const next = pool.run(async () => void order.push('next'), 60_000, 'ann')
  await expect(late).rejects.toThrow('the database did not respond in time')
  release()
  await Promise.all([holding, next])
  expect(order).toEqual(['next'])
})

test('work that finds no free connection of a database that works is rejected as busy, and never started', async () => {
  const { pool } = setUp(1, 60_000)
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = [pool.run(() => first.promise, 60_000, 'ann'), pool.run(() => second.promise, 60_000, 'bob')]
  let begun = false
  const late = pool.run(
    async () => {
      begun = true
    },
    50,
    'carol',
  )
  first.resolve()
  await expect(late).rejects.toBeInstanceOf(DatabaseBusyError)
  second.resolve()
  await Promise.all(holding)
  await pool.run(async () => {}, 60_000)
  expect(begun).toBe(false)
})

test('the work of one user uses at most its number of connections; that of no user may use all', async () => {
  const { pool } = setUp(3, 60_000, 2)
  const running: string[] = []
  const ends = new Map<string, () => void>()
  const run = (name: string, user?: string) =>
    pool.run(
      () => {
        running.push(name)
        return new Promise<void>((resolve) => ends.set(name, resolve))
      },
      60_000,
      user,
    )
  const end = (name: string) => {
    ends.get(name)?.()
    return Bun.sleep(0)
  }
  const work = ['ann 1', 'ann 2', 'ann 3', 'ann 4'].map((name) => run(name, 'ann'))
  await Bun.sleep(0)
  expect(running).toEqual(['ann 1', 'ann 2'])
  work.push(run('bob 1', 'bob'), run('bob 2', 'bob'))
  await Bun.sleep(0)
  expect(running).toEqual(['ann 1', 'ann 2', 'bob 1'])
  await end('bob 1')
  expect(running.slice(3)).toEqual(['bob 2'])
  await end('bob 2')
  expect(running.slice(4)).toEqual([])
  await end('ann 1')
  expect(running.slice(4)).toEqual(['ann 3'])
  work.push(run('none 1'), run('none 2'), run('none 3'))
  await Bun.sleep(0)
  expect(running.slice(5)).toEqual(['none 1'])
  await end('ann 2')
  await end('ann 3')
  expect(running.slice(6).sort()).toEqual(['ann 4', 'none 2'])
  for (const name of ['none 1', 'ann 4', 'none 2', 'none 3']) await end(name)
  await end('none 3')
  await Promise.all(work)
})
