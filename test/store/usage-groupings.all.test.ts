/** Runs with `--all`: pages by three and more properties, with each filter, on both databases. usage-scale.test.ts has the shorter ones. */
import { allGroupings, shortGroupings, testUsageScale } from './usage-scale.ts'

testUsageScale(
  1_000,
  300_000,
  allGroupings.filter((by) => !shortGroupings.includes(by)),
)
