import { shortGroupings, testUsageScale } from './usage-scale.ts'

// usage-groupings.all.test.ts has the longer ones.
testUsageScale(1_000, 300_000, shortGroupings)
