import { createIdempotency, type IdempotencyStore } from '../../idempotency/index.ts'
import type { Awaitable } from '../../shared/awaitable.ts'
import { storeCall } from '../../shared/store-call.ts'
import type { VideoContext } from '../queue/submit.ts'
import type { VideoTask } from '../tasks/task.ts'
import { taskIdOf } from '../tasks/task-id.ts'
import type { TaskAttempt, VideoCreation, VideoTaskView } from '../tasks/tasks.ts'

/** Creates a task, once if the request has an `Idempotency-Key`. See `VideoTasks.once`. */
export type CreateVideoOnce = (
  creation: VideoCreation,
  create: (attempt: TaskAttempt | undefined) => Promise<VideoTaskView>,
  respond: (view: VideoTaskView) => Response,
) => Awaitable<Response>

/**
 * The id of a task comes from the attempt, and its row is written before anything goes to the upstream. So the row
 * tells what an attempt has done.
 */
export const createVideoOnce = (
  idempotencyStore: IdempotencyStore | undefined,
  { store, clock, log }: Pick<VideoContext, 'store' | 'clock' | 'log'>,
  viewTask: (task: VideoTask) => VideoTaskView,
): CreateVideoOnce => {
  if (!idempotencyStore) return async (_, create, respond) => respond(await create(undefined))
  const idempotency = createIdempotency({ store: idempotencyStore, leaseMs, maxResponseBytes, clock, log })
  return ({ request, user, route, body }, create, respond) =>
    idempotency.run(
      request,
      {
        ...{ user, route, body },
        async settle(earlier) {
          const task = await storeCall(store.videoTask(user, taskIdOf(earlier)), 'failed to read the video tasks')
          if (!task) return { outcome: 'none' }
          // Without a queue, a task whose create call got no answer is removed if the upstream has not created it.
          if (task.phase === 'submitting') return { outcome: 'unknown', retryAfterSeconds: 5 }
          return { outcome: 'created', response: respond(viewTask(task)) }
        },
      },
      async (attempt) => respond(await create(attempt)),
    )
}

/**
 * The video object of the OpenAI API repeats the prompt, which has up to 32,000 characters: in JSON at most six bytes
 * each.
 */
const maxResponseBytes = 2 ** 18

/**
 * A later request may take the key over while the first is still in progress: no task is stored after the lease, and
 * from then on its row tells.
 */
const leaseMs = 60_000
