/** Runs with `--all`: whole servers that are killed, and the minute until their leases end. */
import { expect, test } from 'bun:test'
import { databaseNames } from '../support/database.ts'
import { isSlow } from '../support/run-if.ts'
import { run } from './run.ts'

const kills = Number(process.env.SLUICE_KILLS ?? (isSlow ? 50 : 4))
const seed = Number(process.env.SLUICE_SEED ?? Math.floor(Math.random() * 100_000))

test.each(databaseNames)(
  'under a load of everything that writes, kills lose nothing that was acknowledged, and make nothing twice (%s)',
  async (kind) => {
    const { violations, figures } = await run({ kind, processes: kind === 'postgres' ? 3 : 1, kills, seed })
    console.log(`to run it again: SLUICE_SEED=${seed} SLUICE_KILLS=${kills}`)
    console.log(figures)
    expect(violations).toEqual([])
  },
  600_000 + kills * 30_000,
)
