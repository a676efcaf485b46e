import type { DescribeVideoTask, VideoTask } from '../../../plugins/video-generation/store.ts'
import { type Steps, sql } from '../database/database.ts'
import { addDelivery, addEvent } from '../events/events.ts'
import { selectTask, taskOf } from './rows.ts'

/**
 * Tells the users of tasks their new statuses, each once: events, and deliveries to the addresses that callers have given.
 *
 * The last step of a transaction (`addEvent`).
 */
export function* tellStatuses(ids: readonly string[], at: number, describe: DescribeVideoTask | undefined): Steps {
  if (!describe) return
  const news: VideoTask[] = []
  for (const id of ids) {
    const [isNew] = yield sql`
      update video_tasks
      set told = status
      where id = ${id}
      and (told is null or told <> status)
      returning id`
    if (!isNew) continue
    const [task] = yield selectTask(id)
    if (task) news.push(taskOf(task))
  }
  for (const task of news) yield* tell(task, `video.${task.status}`, at, describe)
}

/** Tells the user of a task that it has been deleted. The last step of a transaction. */
export function* tellDeletion(task: VideoTask, at: number, describe: DescribeVideoTask | undefined): Steps {
  if (describe) yield* tell(task, 'video.deleted', at, (deleted) => ({ data: describe(deleted).data }))
}

function* tell(task: VideoTask, type: string, at: number, describe: DescribeVideoTask): Steps {
  const { id, user } = task
  const { data, callback } = describe(task)
  yield* addEvent({ user, type, data, at })
  if (callback) yield* addDelivery({ user, url: callback.url, subject: id, body: callback.body, at })
}
