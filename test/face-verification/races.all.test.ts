/** Runs with `--all`: repeats the races of races.test.ts. */
import { describeRaces } from './races.ts'

describeRaces(25)
