import { expect, test } from 'bun:test'
import { warmUp } from './warm-up.ts'

/** A process that takes a second of CPU time for each job, of which it compiles the next of these. */
const processOf = (compiling: readonly number[]) => {
  let jobs = 0
  const process = {
    cpuMs: () => 1_000 * jobs,
    compilingMs: () => compiling.slice(0, jobs).reduce((sum, ms) => sum + ms, 0),
  }
  return { process, ask: async () => jobs++, jobs: () => jobs }
}

const jobsOf = async (compiling: readonly number[]): Promise<number> => {
  const { process, ask, jobs } = processOf(compiling)
  await warmUp(process, ask)
  return jobs()
}

test('a process is warm when it compiles hardly anything', async () => {
  expect(await jobsOf([400, 200, 31, 30, 0])).toBe(4)
})

test('the warm-up of a process that always compiles ends', async () => {
  expect(await jobsOf(Array(100).fill(200))).toBe(10)
})

test('a process whose compilers nobody sees is warmed up once', async () => {
  expect(await jobsOf([])).toBe(1)
})
