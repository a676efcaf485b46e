import { openDatabase } from '../../src/store/database/kinds.ts'
import { addUsage } from '../../src/store/usage/usage.ts'
import { UsageRollup } from '../../src/store/usage/usage-rollup.ts'

// A process that `usage-rollup-kill.test.ts` starts: adds usage on the given database and rolls it up, until it is killed.
const database = openDatabase(process.argv[2] ?? '', { deadlineMs: 60_000 })
for (let nth = 0; ; nth++) {
  const row = { user: `u${nth % 5}`, token: '', day: `2026-0${1 + (nth % 3)}-15`, model: `m${nth % 2}` }
  await database.batch([
    addUsage({ ...row, calls: 1, unreported: 0, input: 3, cachedInput: 1, output: 2, reasoning: 1, cost: nth }),
  ])
  await new UsageRollup(database).catchUp()
  console.log(nth)
}
