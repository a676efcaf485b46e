import type { LeaseStore } from '../../../shared/background/lease-store.ts'
import type { VideoQueue } from '../queue.ts'
import type { VideoTaskStore } from '../task-store.ts'
import { claimsOn } from './claims.ts'
import { copiesOn } from './copies.ts'
import { endsOn } from './ends.ts'
import { leasesOn } from './leases.ts'
import { listsOn } from './lists.ts'
import { movesOn } from './moves.ts'
import { suspendedOn } from './suspended.ts'
import type { QueueRows } from './task.ts'

/** The queue on the rows of a store, with leases. */
export const queueOn = (store: VideoTaskStore): VideoQueue & LeaseStore => {
  const rows: QueueRows = { store, describe: undefined }
  return {
    describeVideoEvents: (describe) => {
      rows.describe = describe
    },
    ...claimsOn(rows),
    ...suspendedOn(rows),
    ...movesOn(rows),
    ...copiesOn(rows),
    ...listsOn(rows),
    ...endsOn(rows),
    ...leasesOn(store),
  }
}
