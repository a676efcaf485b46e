import { noLog } from '../../plugins/shared/problem.ts'
import type { AppOptions } from '../../src/app.ts'

/** A log that discards all lines. */
export const silentLog: AppOptions['log'] = noLog
