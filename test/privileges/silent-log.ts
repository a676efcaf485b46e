import { noLog } from '../../plugins/shared/problem.ts'
import type { AppOptions } from '../../src/app/options.ts'

/** A log that discards all lines. */
export const silentLog: AppOptions['log'] = noLog
