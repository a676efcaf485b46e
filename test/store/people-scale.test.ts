import { testPeopleScale } from './people-scale.ts'

testPeopleScale(20_000, 120_000)
