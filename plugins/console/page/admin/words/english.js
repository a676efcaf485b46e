import { consents } from './en/consents.js'
import { limits } from './en/limits.js'
import { people } from './en/people.js'
import { reports } from './en/reports.js'
import { shared } from './en/shared.js'
import { system } from './en/system.js'

/** All words of the operators' screens in English. */
export const english = { ...consents, ...limits, ...people, ...reports, ...shared, ...system }
