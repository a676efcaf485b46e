import type { Clock } from '../../plugins/shared/clock.ts'
import {
  isUndecided,
  type NamedVideoTask,
  type VideoDecisionStore,
  type VideoTasksOfAllFilter,
} from '../../plugins/video-generation/tasks/decision-store.ts'
import { videoStatuses } from '../../plugins/video-generation/tasks/statuses.ts'
import type { VideoTask } from '../../plugins/video-generation/tasks/store.ts'
import { UsageError } from './arguments.ts'
import { columns } from './terminal.ts'

/** The word as a status of a list. Throws UsageError for any other word. */
export const videoListStatusOf = (word: string | undefined): VideoTasksOfAllFilter['status'] => {
  const known = word === 'undecided' ? word : videoStatuses.find((status) => status === word)
  if (word !== undefined && !known)
    throw new UsageError('--status must be undecided, or a status of video tasks, such as failed')
  return known
}

const pageSize = 200

/**
 * Prints video tasks, the newest first: id, user, status, phase, model, time, the upstream's id, and the code of an
 * error, or of what a person must decide.
 */
export const printVideos = async (
  { store, clock }: { readonly store: VideoDecisionStore; readonly clock: Pick<Clock, 'now'> },
  filter: VideoTasksOfAllFilter,
  out: (line: string) => void,
): Promise<void> => {
  let after: string | undefined
  do {
    const { tasks, next } = await store.listVideoTasks(filter, { limit: pageSize, after }, clock.now())
    for (const task of tasks) out(lineOf(task, clock.now()))
    after = next
  } while (after !== undefined)
}

const lineOf = (task: NamedVideoTask, now: number): string => {
  const { id, userName = task.user, status, phase, model, createdAt, upstreamId = '-' } = task
  return columns(
    id,
    userName,
    status,
    phase,
    model,
    `created ${new Date(createdAt).toISOString()}`,
    upstreamId,
    codeOf(task, now),
  )
}

const codeOf = (video: VideoTask, now: number): string => {
  const { status, task } = video
  if (status !== 'failed' && isUndecided(video, now))
    return video.phase === 'submitted' ? 'running_too_long' : 'create_outcome_unknown'
  if (status !== 'failed' || task === undefined) return '-'
  const { error } = JSON.parse(task) as { readonly error?: { readonly code?: unknown } | null }
  return typeof error?.code === 'string' ? error.code : '-'
}
