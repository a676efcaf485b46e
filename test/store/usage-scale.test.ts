import { testUsageScale } from './usage-scale.ts'

testUsageScale(1_000, 120_000)
