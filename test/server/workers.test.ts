import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../plugins/shared/clock.ts'
import { type Log, noLog } from '../../plugins/shared/problem.ts'
import { startWorkers } from '../../src/workers.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

/**
 * Starts two workers that run a script. It can use `worker`, the number of the worker, `start`, which counts its starts,
 * and `listen`. For port 0, it reports 4321. As soon as a worker was seen to listen, there is a file `seen-1`.
 */
const startTwo = async (
  script: string,
  { clock, port = 8080 }: { readonly clock?: Clock; readonly port?: number } = {},
) => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-workers-'))
  await writeFile(
    join(folder, 'worker.cjs'),
    `const { readdirSync, writeFileSync } = require('node:fs')
    const worker = Number(process.env.WORKER)
    const start = readdirSync('.').filter((name) => name.startsWith(worker + '-')).length + 1
    writeFileSync(worker + '-' + start + '-' + process.pid, '')
    const listen = () => {
      const port = process.env.PORT === '0' ? '4321' : process.env.PORT
      console.log('listening on ' + port)
      setInterval(() => {}, 1000)
    }
    ${script}`,
  )
  const deaths: Readonly<Record<string, unknown>>[] = []
  /** The numbers of the started workers, each with its port. */
  const ports: (readonly [worker: number, port: number])[] = []
  let onDeath = () => {}
  let seen = 0
  const log: Log = {
    ...noLog,
    error(fields) {
      deaths.push({ ...fields })
      onDeath()
    },
  }
  const workers = startWorkers({
    count: 2,
    port,
    command: (given) => ['sh', '-c', `cd ${folder} && exec ${process.execPath} worker.cjs ${given}`],
    environment: (worker, given) => {
      ports.push([worker, given])
      return { PATH: process.env.PATH, WORKER: String(worker), PORT: String(given) }
    },
    portIn(line) {
      const [, found] = /listening on (\d+)/.exec(line) ?? []
      if (found === undefined) return undefined
      seen++
      writeFileSync(join(folder, `seen-${seen}`), '')
      return Number(found)
    },
    restartMs: 1,
    ...(clock && { clock }),
    log,
  })
  const starts = async (worker: number) => (await readdir(folder)).filter((name) => name.startsWith(`${worker}-`))
  return {
    workers,
    deaths,
    ports,
    starts,
    pid: async (worker: number, start: number) => {
      const name = (await starts(worker)).find((one) => one.startsWith(`${worker}-${start}-`))
      return Number(name?.split('-')[2])
    },
    /** Waits until so many starts of both workers were seen to listen. */
    seen: async (count: number) => {
      while (seen < count) await new Promise(setImmediate)
    },
    died: async (count: number) => {
      while (deaths.length < count)
        await new Promise<void>((resolve) => {
          onDeath = resolve
        })
    },
    async [Symbol.asyncDispose]() {
      await workers.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

test('a worker that exits before it listens is started again, after pauses that double, while the other listens', async () => {
  await using two = await startTwo(`
    if (worker === 1 || start > 7) listen()
    else {
      setInterval(() => {
        if (readdirSync('.').includes('seen-1')) process.exit(3)
      }, 5)
    }`)
  await two.workers.listening
  const pauses = [1, 2, 4, 8, 16, 32, 32]
  expect(two.deaths).toEqual(pauses.map((restartMs) => ({ worker: 2, code: 3, signal: null, restartMs })))
  expect(await two.starts(1)).toHaveLength(1)
  expect(await two.starts(2)).toHaveLength(8)
})

test('a worker that is killed before any of them listens is started again', async () => {
  await using two = await startTwo(`if (start === 1) process.kill(process.pid, 'SIGKILL'); else listen()`)
  await two.workers.listening
  expect(two.deaths).toHaveLength(2)
})

test('workers that all exit before they listen are given up, with the status', async () => {
  await using two = await startTwo('process.exit(7)')
  await expect(two.workers.listening).rejects.toBe(7)
})

test('a program that cannot be started is given up', async () => {
  const workers = startWorkers({
    ...{ count: 2, port: 1, command: () => ['/nowhere/sluice'], environment: () => ({}), portIn: () => 1, log: noLog },
  })
  await expect(workers.listening).rejects.toThrow('ENOENT')
})

test('with port 0 the others start when the first worker listens, on its port, which it has again after a restart', async () => {
  await using two = await startTwo('listen()', { port: 0 })
  expect(two.ports).toEqual([[1, 0]])
  expect(await two.workers.listening).toBe(4321)
  process.kill(await two.pid(1, 1), 'SIGKILL')
  await two.seen(3)
  expect(two.ports).toEqual([
    [1, 0],
    [2, 4321],
    [1, 4321],
  ])
})

test('with port 0, a first worker that ends before it listens is the only one', async () => {
  await using two = await startTwo('process.exit(7)', { port: 0 })
  await expect(two.workers.listening).rejects.toBe(7)
  expect(two.ports).toEqual([[1, 0]])
})

test('the pause is short again after a worker has run for the longest one', async () => {
  const clock = new VirtualClock()
  await using two = await startTwo('listen()', { clock })
  await two.seen(2)
  for (let start = 1; start <= 4; start++) {
    if (start === 4) await clock.pass(32)
    process.kill(await two.pid(2, start), 'SIGKILL')
    await two.died(start)
    await clock.pass(8)
    await two.seen(start + 2)
  }
  expect(two.deaths.map(({ restartMs }) => restartMs)).toEqual([1, 2, 4, 1])
})

test('a worker that dies is started again, and after a stop none is', async () => {
  await using two = await startTwo('listen()')
  await two.workers.listening
  process.kill(await two.pid(2, 1), 'SIGKILL')
  await two.died(1)
  expect(two.deaths).toEqual([{ worker: 2, code: null, signal: 'SIGKILL', restartMs: 1 }])
  while ((await two.starts(2)).length < 2) await new Promise(setImmediate)
  await two.workers.stop()
  const [first, second] = [await two.starts(1), await two.starts(2)]
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect([await two.starts(1), await two.starts(2)]).toEqual([first, second])
  expect(two.deaths).toHaveLength(1)
})
