import { testKills } from './kills.ts'

testKills('sqlite', 1)
