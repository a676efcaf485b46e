import { limits } from './zh/limits.js'
import { people } from './zh/people.js'
import { reports } from './zh/reports.js'
import { shared } from './zh/shared.js'
import { system } from './zh/system.js'

/** The same in Chinese. @type {import('./words.js').AdminWords} */
export const chinese = { ...limits, ...people, ...reports, ...shared, ...system }
