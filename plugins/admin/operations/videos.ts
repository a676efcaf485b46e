import { storeCall } from '../../shared/store-call.ts'
import { checkFields, type Input, readText } from '../fields.ts'
import type { AdminVideoFilter, AdminVideos } from '../videos.ts'
import { type AdminActor, readBy } from './actor.ts'

/** Operations on video tasks of any user. They throw Problem. */
export interface VideoOperations {
  list(
    actor: AdminActor,
    filter: AdminVideoFilter,
    page: Parameters<AdminVideos['list']>[1],
  ): ReturnType<AdminVideos['list']>
  /** Field: `upstream_id`. */
  adopt(actor: AdminActor, id: string, input: Input): Promise<void>
  release(actor: AdminActor, id: string): Promise<void>
}

/** The message when the store fails. */
const unavailable = 'video tasks could not be read or changed'

export const createVideoOperations = (videos: AdminVideos): VideoOperations => ({
  list: async (actor, filter, page) =>
    readBy(actor, 'videos', storeCall(videos.list(filter, page), unavailable), filter.user),

  async adopt(actor, id, input) {
    checkFields(input, ['upstream_id'])
    const { user } = await storeCall(videos.adopt(id, readText(input.upstream_id, 'upstream_id')), unavailable)
    await actor.record({ action: 'video.adopt', target: { kind: 'video', id } }, user)
  },

  async release(actor, id) {
    const { user } = await storeCall(videos.release(id), unavailable)
    await actor.record({ action: 'video.release', target: { kind: 'video', id } }, user)
  },
})
