import type { VideoDecisionStore } from '../../../plugins/video-generation/decisions/store.ts'
import type { VideoQueue } from '../../../plugins/video-generation/store/queue.ts'
import type { Database } from '../database/database.ts'
import { assetUses } from './asset-uses.ts'
import { videoCopies } from './copies.ts'
import { videoCounts } from './counts.ts'
import { videoDecisions } from './decisions.ts'
import { videoEnds } from './ends.ts'
import { listVideoTasks } from './lists.ts'
import { videoPolls } from './moves.ts'
import { Notices } from './notices.ts'
import { videoClaims } from './queue/claims.ts'
import { placesInQueue } from './queue/place.ts'

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
