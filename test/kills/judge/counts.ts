import { wrongCounts } from '../../store/library-counts.ts'
import type { Tables } from './tables.ts'

/** The counts of groups and assets are what there is. */
export const checkCounts = async (tables: Tables): Promise<readonly string[]> =>
  (await wrongCounts((text) => tables.query(text))).map((wrong) => `the counts of ${wrong}`)
