import type { AdminVideo, AdminVideos } from '../../plugins/admin/videos.ts'
import type { Clock } from '../../plugins/shared/clock.ts'
import { adoptVideoTask, releaseVideoTask } from '../../plugins/video-generation/decisions/decisions.ts'
import {
  isUndecided,
  type NamedVideoTask,
  type VideoDecisionStore,
} from '../../plugins/video-generation/decisions/store.ts'

/** The video tasks of all users, for operators. */
export const createAdminVideos = (store: VideoDecisionStore, clock: Pick<Clock, 'now'>): AdminVideos => ({
  async list(filter, page) {
    const now = clock.now()
    const { tasks, next } = await store.listVideoTasks(filter, page, now)
    return { items: tasks.map((task) => toAdminVideo(task, now)), ...(next !== undefined && { next }) }
  },
  adopt: (id, upstreamId) => adoptVideoTask(id, upstreamId, { store, clock }),
  release: (id) => releaseVideoTask(id, { store, clock }),
})

const toAdminVideo = (task: NamedVideoTask, now: number): AdminVideo => ({
  ...{ id: task.id, user: task.user, userName: task.userName, token: task.token, model: task.model },
  ...{ status: task.status, phase: task.phase, upstreamId: task.upstreamId },
  ...{ createdAt: task.createdAt, endedAt: task.endedAt },
  errorCode: errorCodeOf(task),
  ...(task.status !== 'failed' &&
    isUndecided(task, now) && {
      undecided: task.phase === 'submitted' ? 'running_too_long' : 'create_outcome_unknown',
    }),
})

const errorCodeOf = ({ status, task }: NamedVideoTask): string | undefined => {
  if (status !== 'failed' || task === undefined) return undefined
  const { error } = JSON.parse(task) as { readonly error?: { readonly code?: unknown } | null }
  return typeof error?.code === 'string' ? error.code : undefined
}
