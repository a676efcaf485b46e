import { expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { databaseKinds } from '../../src/store/database/kinds.ts'
import { openStore } from '../../src/store/index.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { repeats } from '../support/repetitions.ts'
import { expectExactRollups } from './exact-rollups.ts'

/** Starts a process that adds usage and rolls it up, and kills it after some rounds and a little more. */
const runAndKill = (url: string, rounds: number, moreMs: number): Promise<void> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [join(import.meta.dir, 'usage-rollup-process.ts'), url], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let seen = 0
    child.stdout.on('data', (chunk) => {
      seen += String(chunk).split('\n').length - 1
      if (seen >= rounds) setTimeout(() => child.kill('SIGKILL'), moreMs)
    })
    child.on('close', () => resolve())
  })

repeatOnDatabases('roll-ups of usage whose processes are killed', (tested) => {
  test('are the sums of the rows, whatever a process was doing', async () => {
    const store = await tested.open()
    const database = databaseKinds[tested.kind].open(tested.url, { deadlineMs: 60_000 })
    for (let nth = 0; nth < repeats(1, 4); nth++) {
      await Promise.all([runAndKill(tested.url, 5 + nth, nth), runAndKill(tested.url, 6 + nth, 2 * nth + 1)])
      await expectExactRollups(database)
    }
    const reader = openStore(tested.url, { deadlineMs: 60_000 })
    const [rows, report] = [await reader.listUsage(), await store.sumUsage({ filter: {}, by: [], limit: 1 })]
    expect(report.rows[0]?.calls).toBe(rows.reduce((sum, { calls }) => sum + calls, 0))
    await Promise.all([database.close(), reader.close()])
  }, 300_000)
})
