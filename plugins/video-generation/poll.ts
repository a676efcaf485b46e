import { asJsonObject, type Json, toJson } from '../shared/json.ts'
import type { MovedVideoTask, VideoMove, VideoTask, VideoUsage } from './store.ts'
import type { VideoContext } from './submit.ts'
import type { VideoStatus } from './tasks.ts'
import type { UpstreamTask } from './upstream.ts'
import { failedObject } from './view.ts'

/** What polling needs beside the context. */
export interface PollContext extends VideoContext {
  /** Whether results are copied to a storage. */
  readonly copies: boolean
  /** Cost of a task in billionths of the currency unit. */
  readonly costOf?: ((task: VideoTask, usage: VideoUsage) => number | undefined) | undefined
}

/** Ids in one list call: about 4 kB of address. */
const idsPerCall = 100
/** Due tasks that one poll reads. */
const maxTasks = 1_000
/** Tasks that one poll asks for one by one, because no list has them. */
const maxSingle = 10
/** Milliseconds after its submission for which a task that the upstream does not know may still appear. */
const appearsMs = 60_000

/**
 * Polls the tasks that are due: one list call for each hundred of them, and single calls for those that the lists lack.
 *
 * Returns what has changed.
 */
export const pollTasks = async (context: PollContext, signal?: AbortSignal): Promise<readonly MovedVideoTask[]> => {
  const { store, client, describe, clock, log } = context
  const due = await store.dueVideoTasks(clock.now(), maxTasks)
  const moved: MovedVideoTask[] = []
  let single = maxSingle
  for (const group of Map.groupBy(due, ({ serviceTier }) => serviceTier).values()) {
    for (let from = 0; from < group.length; from += idsPerCall) {
      const tasks = group.slice(from, from + idsPerCall)
      let found: Map<string, UpstreamTask | undefined>
      try {
        found = await listed(tasks, context, signal)
      } catch (err) {
        if (signal?.aborted) throw err
        // The upstream may still list the tasks of the other tier.
        log.warn({ err, serviceTier: tasks[0]?.serviceTier }, 'tasks could not be polled')
        break
      }
      const absent = tasks.filter(({ upstreamId = '' }) => !found.has(upstreamId)).slice(0, single)
      single -= absent.length
      const failed = new Set<VideoTask>()
      for (const task of absent) {
        const { upstreamId = '' } = task
        try {
          found.set(upstreamId, await client.get(upstreamId, signal))
        } catch (err) {
          if (signal?.aborted) throw err
          // Other tasks do not wait for this one.
          log.warn({ task: task.id, err }, 'a task could not be polled')
          failed.add(task)
        }
      }
      const now = clock.now()
      const moves = tasks.flatMap((task) => {
        const { upstreamId = '' } = task
        if (failed.has(task)) return unchanged(task, now, context)
        return found.has(upstreamId) ? moveOf(task, found.get(upstreamId), now, context) : []
      })
      moved.push(...(await store.moveVideoTasks(moves, now, describe)))
    }
  }
  return moved
}

/** The tasks that a list has. A value undefined: the upstream does not have the task. */
const listed = async (
  tasks: readonly VideoTask[],
  { client }: VideoContext,
  signal: AbortSignal | undefined,
): Promise<Map<string, UpstreamTask | undefined>> => {
  const ids = tasks.flatMap(({ upstreamId }) => upstreamId ?? [])
  const [first] = tasks
  if (!first) return new Map()
  const { tasks: found } = await client.list({ ids, serviceTier: first.serviceTier, size: idsPerCall }, signal)
  return new Map(found.map((task) => [task.id, task]))
}

const unchanged = ({ id, dueAt, status, task = '' }: VideoTask, now: number, { pollMs }: VideoContext): VideoMove => ({
  ...{ id, readDueAt: dueAt, dueAt: now + pollMs },
  ...{ status, task },
})

/** What the upstream's task object means for a task. Undefined object: the upstream does not have the task. */
export const moveOf = (
  task: VideoTask,
  upstream: UpstreamTask | undefined,
  now: number,
  context: PollContext,
): VideoMove => {
  const { copies, costOf, log } = context
  const { id } = task
  const next = unchanged(task, now, context)
  if (!upstream) {
    return (task.submittedAt ?? task.createdAt) + appearsMs > now ? next : { ...next, ...vanished(task, now) }
  }
  const status = statuses.get(upstream.status)
  if (status === undefined) log.warn({ task: id, status: upstream.status }, 'unknown status of a task')
  const usage = usageOf(upstream.json)
  const cost = usage && costOf?.(task, usage)
  return {
    ...next,
    status: status ?? task.status,
    task: (status === undefined ? upstream.json.with('status', toJson(task.status)) : upstream.json).raw,
    ...(usage && { usage: { ...usage, ...(cost !== undefined && { cost }) } }),
    ...(copies && status === 'succeeded' && { copy: true }),
  }
}

const statuses: ReadonlyMap<string, VideoStatus> = new Map(
  (['queued', 'running', 'succeeded', 'failed', 'expired', 'cancelled'] as const).map((word) => [word, word]),
)

/** The end of a task that the upstream has forgotten. */
const vanished = (task: VideoTask, now: number): Pick<VideoMove, 'status' | 'task'> => {
  const error = { code: 'NotFound.Task', message: 'The task does not exist at the upstream any more.' }
  const failed = failedObject(task, error, now)
  if (now < task.expiresAt) return { status: 'failed', task: failed }
  return { status: 'expired', task: JSON.stringify({ ...JSON.parse(failed), status: 'expired', error: null }) }
}

const usageOf = (json: Json): VideoUsage | undefined => {
  const tokens = asJsonObject(json.get('usage')?.value())?.completion_tokens
  const numbers = ['duration', 'frames', 'framespersecond'].map((name) => {
    const value = json.get(name)
    return value?.isNumber ? Number(value.value()) : Number.NaN
  }) as [number, number, number]
  const [duration, frames, perSecond] = numbers
  const seconds = Number.isFinite(duration) ? duration : Math.floor(frames / perSecond)
  if (typeof tokens !== 'number' && !Number.isFinite(seconds)) return undefined
  return {
    ...(typeof tokens === 'number' && isCount(tokens) && { completionTokens: tokens }),
    ...(isCount(seconds) && { seconds }),
  }
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0
