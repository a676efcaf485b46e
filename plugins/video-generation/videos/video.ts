import { adviceFor } from '../../failure-advice/index.ts'
import { asJsonObject, type JsonObject } from '../../shared/json/parsed.ts'
import { formatOf, sizeOf } from '../tasks/request/sizes.ts'
import type { VideoStatus } from '../tasks/statuses.ts'
import type { VideoTaskView } from '../tasks/tasks.ts'
import type { VideoNotes } from './request/video-request.ts'
import type { Video, VideoError } from './route-types.ts'

/** The statuses of the OpenAI API. Its clients poll until one of the last two. */
const statuses: Readonly<Record<VideoStatus, Video['status']>> = {
  queued: 'queued',
  running: 'in_progress',
  succeeded: 'completed',
  failed: 'failed',
  cancelled: 'failed',
  expired: 'failed',
}

/** The video object of a task, which may also have been created with the native API. */
export const toVideo = (view: VideoTaskView): Video => {
  const { id, status, createdAt, endedAt } = view
  const notes = videoNotesOf(view)
  const task = asJsonObject(view.body.value()) ?? {}
  const completed = status === 'succeeded'
  return {
    id,
    object: 'video',
    created_at: toSeconds(createdAt),
    completed_at: completed && endedAt !== undefined ? toSeconds(endedAt) : null,
    expires_at: completed && view.result ? toSeconds(view.result.expiresAt) : null,
    status: statuses[status],
    progress: progress[status],
    model: notes.model ?? view.model,
    prompt: notes.prompt ?? null,
    // Before its end, a task repeats what its request says.
    seconds: (completed ? undefined : notes.seconds) ?? secondsOf(task) ?? notes.seconds ?? '0',
    size: completed || notes.size === undefined ? sizeOfTask(task, notes.size) : notes.size,
    remixed_from_video_id: notes.remixedFrom ?? null,
    error: errorOf(status, task),
  }
}

/** What the task keeps of a request to these routes. Of one to the native API it keeps the prompt. */
export const videoNotesOf = ({ notes }: Pick<VideoTaskView, 'notes'>): Partial<VideoNotes> => notes ?? {}

/** The vendor reports none. No change of a status decreases it. */
const progress: Readonly<Record<VideoStatus, number>> = {
  ...{ queued: 0, running: 50, succeeded: 100 },
  ...{ failed: 50, expired: 50, cancelled: 0 },
}

const secondsOf = ({ duration }: JsonObject): string | undefined =>
  typeof duration === 'number' && duration > 0 ? String(duration) : undefined

/** The size that was asked for, unless the task has another format: then that of the format. */
const sizeOfTask = ({ resolution, ratio }: JsonObject, wanted: string | undefined): string => {
  if (typeof resolution !== 'string' || typeof ratio !== 'string') return wanted ?? 'auto'
  const format = wanted === undefined ? undefined : formatOf(wanted)
  if (wanted !== undefined && format?.resolution === resolution && format.ratio === ratio) return wanted
  return sizeOf({ resolution, ratio }) ?? wanted ?? 'auto'
}

const errorOf = (status: VideoStatus, { error }: JsonObject): Video['error'] => {
  if (statuses[status] !== 'failed') return null
  if (status !== 'failed') return withAdvice(status, `The task is ${status}.`)
  const { code, message } = asJsonObject(error) ?? {}
  return withAdvice(
    typeof code === 'string' ? code : 'failed',
    typeof message === 'string' ? message : 'The task has failed.',
  )
}

const withAdvice = (code: string, message: string): VideoError => {
  const advice = adviceFor(code, message)
  return { code, message, ...(advice && { advice }) }
}

const toSeconds = (time: number): number => Math.floor(time / 1000)
