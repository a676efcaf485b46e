import type { VideoDecisionStore } from '../../plugins/video-generation/decisions/store.ts'
import type { VideoQueue } from '../../plugins/video-generation/store/queue.ts'
import type { Database } from './database/database.ts'
import { assetUses } from './video/asset-uses.ts'
import { videoCopies } from './video/copies.ts'
import { videoCounts } from './video/counts.ts'
import { videoDecisions } from './video/decisions.ts'
import { videoEnds } from './video/ends.ts'
import { listVideoTasks } from './video/lists.ts'
import { videoPolls } from './video/moves.ts'
import { Notices } from './video/notices.ts'
import { videoClaims } from './video/queue/claims.ts'
import { placesInQueue } from './video/queue/place.ts'
import { suspendedTasks } from './video/queue/suspended.ts'

/** The tasks of video generation, and their queue. */
export const createSqlVideoQueue = (
  database: Database,
): VideoQueue & Required<Pick<VideoQueue, 'videoAssetUses'>> & VideoDecisionStore => {
  const notices = new Notices()
  return {
    describeVideoEvents: (describe) => {
      notices.describe = describe
    },
    ...videoClaims(database, notices),
    ...suspendedTasks(database),
    ...placesInQueue(database),
    ...videoPolls(database, notices),
    ...videoCopies(database, notices),
    ...videoCounts(database),
    ...listVideoTasks(database),
    ...videoEnds(database, notices),
    ...videoDecisions(database, notices),
    videoAssetUses: assetUses(database),
  }
}
