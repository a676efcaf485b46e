/** Runs with `--all`: 100,000 users and tokens are written, which takes minutes. Needs SLUICE_SLOW. */
import { describeSlow } from '../support/run-if.ts'
import { testPeopleScale } from './people-scale.ts'

describeSlow('at scale,', () => testPeopleScale(100_000, 1_200_000))
