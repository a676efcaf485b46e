import { videoStatuses } from '../../plugins/video-generation/tasks/statuses.ts'
import type { VideoTask } from '../../plugins/video-generation/tasks/store.ts'
import type { VideoStatus } from '../../plugins/video-generation/tasks/tasks.ts'
import type { Store } from '../store/index.ts'
import { columns } from './terminal.ts'

/** The word as a status. Undefined: it is none. */
export const videoStatusOf = (word: string): VideoStatus | undefined => videoStatuses.find((status) => status === word)

const pageSize = 500

/**
 * Prints the video tasks of users, the newest first: id, user, status, phase, model, time, the upstream's id, and the
 * code of an error.
 */
export const printVideos = async (
  store: Pick<Store, 'videoTasks'>,
  users: readonly { readonly id: string; readonly name: string }[],
  status: VideoStatus | undefined,
  out: (line: string) => void,
): Promise<void> => {
  for (const { id, name } of users) {
    for (let offset = 0; ; offset += pageSize) {
      const { tasks } = await store.videoTasks(id, { status }, { offset, limit: pageSize })
      for (const task of tasks) out(lineOf(task, name))
      if (tasks.length < pageSize) break
    }
  }
}

const lineOf = (task: VideoTask, user: string): string => {
  const { id, status, phase, model, createdAt, upstreamId = '-' } = task
  return columns(
    id,
    user,
    status,
    phase,
    model,
    `created ${new Date(createdAt).toISOString()}`,
    upstreamId,
    codeOf(task),
  )
}

const codeOf = ({ status, task }: VideoTask): string => {
  if (status !== 'failed' || task === undefined) return '-'
  const { error } = JSON.parse(task) as { readonly error?: { readonly code?: unknown } | null }
  return typeof error?.code === 'string' ? error.code : '-'
}
