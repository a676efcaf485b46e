/** Runs with `--all`: kills many processes, on both databases. kill.test.ts kills one. */
import { databaseNames } from '../support/database.ts'
import { testKills } from './kills.ts'

for (const kind of databaseNames) testKills(kind, Number(process.env.SLUICE_KILLS ?? 6))
