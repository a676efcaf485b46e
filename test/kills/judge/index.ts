import type { KillWorld } from '../world.ts'
import { checkCounts } from './counts.ts'
import { checkDeliveries } from './deliveries.ts'
import { checkLedger } from './ledger.ts'
import { checkOwners } from './owners.ts'
import { settle } from './settle.ts'
import { openTables } from './tables.ts'
import { checkTrail } from './trail.ts'
import { checkUploads } from './uploads.ts'
import { checkUpstream } from './upstream.ts'

/** What is wrong after the load and the kills. It waits until nothing goes on any more. */
export const judge = async (world: KillWorld): Promise<readonly string[]> => {
  const { history, databaseUrl } = world
  await using tables = openTables(databaseUrl)
  const open = await settle(world, tables)
  return [
    ...open,
    ...history.violations,
    ...(await history.broken()),
    ...(await checkUploads(world, tables)),
    ...(await checkUpstream(world, tables)),
    ...(await checkOwners(history, tables)),
    ...(await checkCounts(tables)),
    ...(await checkTrail(world, tables)),
    ...(await checkDeliveries(world, tables)),
    ...(await checkLedger(world, tables)),
  ]
}
