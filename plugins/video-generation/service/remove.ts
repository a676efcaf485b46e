import { toJson } from '../../shared/json/json.ts'
import { storeCall } from '../../shared/store-call.ts'
import { UpstreamRejectedError } from '../../shared/upstream/upstream-error.ts'
import { moveOf, type PollContext } from '../queue/poll.ts'
import { onAccountOf } from '../queue/submit.ts'
import { keysOf, type VideoResultStorage } from '../results/results.ts'
import { unknownTask, VideoProblem } from '../tasks/problem.ts'
import type { VideoStatus } from '../tasks/statuses.ts'
import type { VideoTask } from '../tasks/task.ts'
import type { RemoveMode } from '../tasks/tasks.ts'
import type { UpstreamTask } from '../upstream/client.ts'

export interface RemoveContext extends PollContext {
  readonly results?: Pick<VideoResultStorage, 'remove'> | undefined
}

const notRemoved = 'the task could not be cancelled or deleted'

/** How often a task is read again that has changed in the meantime. */
const maxReads = 5

/**
 * Cancels a task that has not started, or deletes one that has ended.
 *
 * The upstream has one call for both, and which of the two it does depends on the moment. So its task is read first: a
 * result that has been made in the meantime is not deleted unless the caller has asked for that.
 */
export const removeTask = async (
  user: string,
  id: string,
  mode: RemoveMode | undefined,
  shared: RemoveContext,
): Promise<'cancelled' | 'deleted'> => {
  const { store, clock } = shared
  for (let reads = 0; reads < maxReads; reads++) {
    const task = await storeCall(store.videoTask(user, id), notRemoved)
    if (!task) throw unknownTask(id)
    const context = onAccountOf(task, shared)
    if (task.phase === 'waiting') {
      if (mode === 'delete') throw notRemovable(task, 'queued')
      const cancelled = await storeCall(store.cancelWaitingVideoTask(user, id, clock.now()), notRemoved)
      if (cancelled) return 'cancelled'
    } else if (task.phase === 'submitted') {
      if (await cancelSubmitted(task, mode, context)) return 'cancelled'
    } else if (task.phase === 'ended') {
      if (await deleteEnded(task, mode, context)) return 'deleted'
    } else if (task.phase === 'submitting') {
      throw new VideoProblem(409, `Cannot delete task \`${id}\` because it is being submitted.`, {
        code: 'InvalidAction.QueuedTaskDeletion',
        headers: { 'retry-after': '5' },
      })
    } else throw notRemovable(task, 'running')
  }
  throw notRemovable({ id }, 'running')
}

/** Cancels a task of the upstream. False: it has ended in the meantime, and the caller wants it deleted. */
const cancelSubmitted = async (
  task: VideoTask,
  mode: RemoveMode | undefined,
  context: RemoveContext,
): Promise<boolean> => {
  const { client } = context
  const upstreamId = task.upstreamId ?? ''
  const before = await client.get(upstreamId)
  if (before?.status === 'queued') {
    if (mode === 'delete') throw notRemovable(task, 'queued')
    try {
      await client.delete(upstreamId)
    } catch (error) {
      // It has started.
      if (error instanceof UpstreamRejectedError && error.status === 409) throw notRemovable(task, 'running')
      throw error
    }
    const after = await client.get(upstreamId)
    await apply(task, after ?? deletedTask(before), context)
    if (after) return true
    context.log.error({ task: task.id }, 'the upstream has deleted a task that was to be cancelled')
    throw endedInTheMeantime(task)
  }
  await apply(task, before, context)
  if (before?.status === 'running') throw notRemovable(task, 'running')
  if (mode === 'delete') return false
  throw endedInTheMeantime(task)
}

/**
 * A task that had ended when the call arrived that was to cancel it: the upstream has deleted it, with its result.
 * Nobody can know whether there was one.
 */
const deletedTask = (before: UpstreamTask): UpstreamTask => {
  const error = { code: 'NotFound.Task', message: 'The task ended when it was to be cancelled, and was deleted.' }
  const json = before.json.with('status', toJson('failed')).with('error', toJson(error))
  return { ...before, status: 'failed', json }
}

const endedInTheMeantime = ({ id }: Pick<VideoTask, 'id'>): VideoProblem => {
  const message = `Cannot cancel task \`${id}\` because it has ended in the meantime. Send the request again to delete it.`
  return new VideoProblem(409, message, { code: 'InvalidAction.EndedTaskCancellation' })
}

const apply = async (task: VideoTask, upstream: UpstreamTask | undefined, context: RemoveContext): Promise<void> => {
  const now = context.clock.now()
  await storeCall(context.store.moveVideoTasks([moveOf(task, upstream, now, context)], now), notRemoved)
}

const deleteEnded = async (task: VideoTask, mode: RemoveMode | undefined, context: RemoveContext): Promise<boolean> => {
  if (mode === 'cancel') {
    const message = `Cannot cancel task \`${task.id}\` because it has ended.`
    throw new VideoProblem(409, message, { code: 'InvalidAction.EndedTaskCancellation' })
  }
  if (task.status === 'cancelled' && mode === undefined) throw notRemovable(task, 'cancelled')
  const { store, clock } = context
  const deleted = await storeCall(store.deleteVideoTask(task.user, task.id, clock.now()), notRemoved)
  if (!deleted) return false
  // Else the sweep of the storage would remove them a minute later.
  await context.results?.remove(keysOf(deleted))
  // The upstream's record may be the only copy of the result. It vanishes by itself.
  if (mode === 'delete' && deleted.upstreamId !== undefined && deleted.status !== 'cancelled')
    await context.client.delete(deleted.upstreamId).catch((err: unknown) => {
      context.log.info({ task: task.id, err }, 'the upstream has not deleted its record of a task')
    })
  return true
}

/** Problem 409 in the vendor's words. */
const notRemovable = (
  { id }: Pick<VideoTask, 'id'>,
  status: Extract<VideoStatus, 'queued' | 'running' | 'cancelled'>,
): VideoProblem => {
  const [name, state] = words[status]
  return new VideoProblem(409, `Cannot delete task \`${id}\` because it is ${state}.`, {
    code: `InvalidAction.${name}TaskDeletion`,
  })
}

const words = {
  queued: ['Queued', 'queued'],
  running: ['Running', 'currently running'],
  cancelled: ['Cancelled', 'cancelled'],
} as const
