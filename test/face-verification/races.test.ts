import { describeRaces } from './races.ts'

describeRaces(3)
