import { expect } from 'bun:test'
import { processors } from '../bench/processors.ts'
import { testIf } from '../support/run-if.ts'

const module = Bun.resolveSync('../../plugins/shared/background/other-threads.ts', import.meta.dir)

/** Prints how often `Atomics.wait` was called, in a process with this number of processors. */
const waits = async (count: number): Promise<string> => {
  const script = `let waits = 0
    Atomics.wait = () => { waits++; return 'timed-out' }
    const { letOtherThreadsRun } = await import(${JSON.stringify(module)})
    letOtherThreadsRun()
    letOtherThreadsRun()
    console.log(waits)`
  const list = processors().slice(0, count).join(',')
  const child = Bun.spawn(['taskset', '--cpu-list', list, process.execPath, '-e', script], { stdout: 'pipe' })
  return (await new Response(child.stdout).text()).trim()
}

testIf(processors().length > 1, 'needs two processors')('waits with one processor only', async () => {
  expect(await Promise.all([waits(1), waits(2)])).toEqual(['2', '0'])
})
