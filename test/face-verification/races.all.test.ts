/** Runs with `--all`: repeats the races of races.test.ts. */
import { describeRaces } from './races.ts'

describeRaces(12 * Number(process.env.SLUICE_RUNS ?? 1))
