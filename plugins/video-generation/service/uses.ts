import type { AssetUses } from '../../shared/media/asset-uses.ts'
import { isVideoTaskId } from '../../shared/media/video-task-id.ts'
import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import type { VideoAssetUses } from '../store/queue.ts'
import { type LinkResult, viewOf } from '../tasks/view.ts'

/** Tasks that one count reads. They are kept for 90 days by default, and few assets have more. */
const maxCounted = 10_000

/** Which assets the tasks use, for the asset library. */
export const assetUsesOf = (
  store: VideoAssetUses,
  linkResult: LinkResult | undefined,
  remove: (user: string, task: string) => Promise<unknown>,
): AssetUses => ({
  async tasks(user, asset, { after, limit }) {
    // An empty page would say that nothing follows.
    if (after !== undefined && !isVideoTaskId(after))
      throw new Problem(400, 'NextToken must be that of the page before')
    const found = await read(store.tasksWithAsset(user, asset, { after, limit: limit + 1 }))
    const page = found.slice(0, limit)
    const tasks = page.map((task) => viewOf(task, linkResult).body)
    return { tasks, next: found.length > limit ? page.at(-1)?.id : undefined }
  },

  count: (user, used) => read(store.countTasksWithAsset(user, used, maxCounted)),

  async remove(user, task) {
    try {
      await remove(user, task)
      return true
    } catch (error) {
      if (!(error instanceof Problem) || (error.status !== 404 && error.status !== 409)) throw error
      return error.status === 404
    }
  },
})

const read = <Value>(call: Promise<Value>): Promise<Value> => storeCall(call, 'failed to read the video tasks')
