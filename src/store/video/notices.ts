import type { DescribeVideoTask, VideoNotice, VideoTask } from '../../../plugins/video-generation/tasks/task.ts'
import type { Steps } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { addDelivery, addEvent } from '../events/events.ts'
import { selectTask, taskOf } from './task-rows.ts'

/** Tells the users of tasks what becomes of them: events, and deliveries to the addresses that callers have given. */
export class Notices {
  /** Undefined: the users are told nothing. */
  describe: DescribeVideoTask | undefined;

  /** Tells new statuses, each once. The last step of a transaction (`addEvent`). */
  *tellStatuses(ids: readonly string[], at: number): Steps {
    const { describe } = this
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
    for (const task of news) yield* tell(task, describe(task), at)
  }

  /** Tells that a task has been deleted. The last step of a transaction. */
  *tellDeletion(task: VideoTask, at: number): Steps {
    if (this.describe) yield* tell(task, this.describe(task, true), at)
  }
}

function* tell({ id, user }: VideoTask, { type, data, callback }: VideoNotice, at: number): Steps {
  yield* addEvent({ user, type, data, at })
  if (callback) yield* addDelivery({ user, url: callback.url, subject: id, body: callback.body, at })
}
