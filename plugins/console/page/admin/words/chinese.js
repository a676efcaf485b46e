import { consents } from './zh/consents.js'
import { limits } from './zh/limits.js'
import { people } from './zh/people.js'
import { reports } from './zh/reports.js'
import { shared } from './zh/shared.js'
import { system } from './zh/system.js'

/** The same in Chinese. @type {typeof import('./english.js').english} */
export const chinese = { ...consents, ...limits, ...people, ...reports, ...shared, ...system }
