/** Runs with `--all`: 1,000,000 rows of usage are written and rolled up, which takes minutes. Needs SLUICE_SLOW. */
import { describeSlow } from '../support/run-if.ts'
import { testUsageScale } from './usage-scale.ts'

describeSlow('at scale,', () => testUsageScale(100_000, 3_600_000))
