import { type DivideBudget, divide } from '../../shared/background/divide.ts'
import { type Json, toJson } from '../../shared/json/json.ts'
import { asJsonObject } from '../../shared/json/parsed.ts'
import { scopeOfUpstreamFailure } from '../../shared/upstream/failure-scope.ts'
import type { MovedVideoTask, VideoMove } from '../store/queue.ts'
import type { VideoStatus } from '../tasks/statuses.ts'
import type { VideoTask, VideoUsage } from '../tasks/task.ts'
import { failedObject } from '../tasks/view.ts'
import type { UpstreamTask } from '../upstream/client.ts'
import { onAccount, type VideoContext } from './submit.ts'

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
/** Calls of one poll, beyond one a batch, that look for the tasks for which a batch cannot be read. */
const maxExtraCalls = 50
/** Longest pause before a task that cannot be read is asked for again, in milliseconds. */
const maxPutOffMs = 600_000
/** A task that runs for too long is polled as seldom as that, in multiples of the usual time. */
const overrunPolls = 20
/** Milliseconds after its submission for which a task that the upstream does not know may still appear. */
const appearsMs = 60_000

/**
 * Polls the tasks that are due: one list call for each hundred of them, and single calls for those that the lists lack.
 * A task that cannot be read is put off, and no other waits for it.
 *
 * Returns what has changed.
 */
export const pollTasks = async (context: PollContext, signal?: AbortSignal): Promise<readonly MovedVideoTask[]> => {
  const { store, accounts, clock } = context
  const due = await store.dueVideoTasks(clock.now(), maxTasks)
  const byAccount = Map.groupBy(due, accounts.of)
  // The tasks of an account do not wait for those of others.
  const moved = await Promise.all(
    [...byAccount].map(([account, tasks]) =>
      pollAccount(tasks, onAccount(account, context), byAccount.size > 1, signal),
    ),
  )
  return moved.flat()
}

/**
 * @param putsOff whether tasks that could not be polled are put off: there are others that they would keep back
 */
const pollAccount = async (
  due: readonly VideoTask[],
  context: PollContext,
  putsOff: boolean,
  signal: AbortSignal | undefined,
): Promise<readonly MovedVideoTask[]> => {
  const { client, log } = context
  const moved: MovedVideoTask[] = []
  let single = maxSingle
  const budget = { calls: maxExtraCalls, works: false }
  for (const group of Map.groupBy(due, ({ serviceTier }) => serviceTier).values()) {
    for (let from = 0; from < group.length; from += idsPerCall) {
      const batch = group.slice(from, from + idsPerCall)
      let read: Listed
      try {
        read = await listed(batch, context, budget, signal)
      } catch (err) {
        if (signal?.aborted) throw err
        // The upstream may still list the tasks of the other tier.
        log.warn({ err, serviceTier: batch[0]?.serviceTier }, 'tasks could not be polled')
        if (putsOff) moved.push(...(await moveFound([], new Map(), new Set(group.slice(from)), context)))
        break
      }
      const { found, unreadable, skipped } = read
      const tasks = batch.filter((task) => !unreadable.has(task) && !skipped.has(task))
      const absent = tasks.filter(({ upstreamId = '' }) => !found.has(upstreamId)).slice(0, single)
      single -= absent.length
      for (const task of absent) {
        const { upstreamId = '' } = task
        try {
          found.set(upstreamId, await client.get(upstreamId, signal))
        } catch (err) {
          if (signal?.aborted) throw err
          // Other tasks do not wait for this one.
          log.warn({ task: task.id, err }, 'a task could not be polled')
          unreadable.add(task)
        }
      }
      const known = tasks.filter((task) => !unreadable.has(task) && found.has(task.upstreamId ?? ''))
      moved.push(...(await moveFound(known, found, unreadable, context)))
    }
  }
  return moved
}

/** What the lists say about tasks. */
interface Listed {
  /** By the upstream's id. A value undefined: the upstream does not have the task. */
  readonly found: Map<string, UpstreamTask | undefined>
  /** Tasks whose own list cannot be read. */
  readonly unreadable: Set<VideoTask>
  /** Tasks that are left for the next poll. */
  readonly skipped: ReadonlySet<VideoTask>
}

/** Lists tasks. A list that fails for what one of them may be is divided. */
const listed = async (
  tasks: readonly VideoTask[],
  { client, log }: VideoContext,
  budget: DivideBudget,
  signal: AbortSignal | undefined,
): Promise<Listed> => {
  const found: Listed['found'] = new Map()
  const unreadable = new Set<VideoTask>()
  const skipped = await divide(tasks, {
    budget,
    scopeOf: (error) => (signal?.aborted ? 'all' : scopeOfUpstreamFailure(error)),
    async call(some) {
      const ids = some.flatMap(({ upstreamId }) => upstreamId ?? [])
      const page = await client.list({ ids, serviceTier: some[0]?.serviceTier, size: idsPerCall }, signal)
      for (const task of page.tasks) found.set(task.id, task)
    },
    onFailed(task, err) {
      log.warn({ task: task.id, err }, 'a task could not be polled')
      unreadable.add(task)
    },
  })
  return { found, unreadable, skipped: new Set(skipped) }
}

/** Stores what was found, and puts off tasks that cannot be read or stored. */
const moveFound = async (
  tasks: readonly VideoTask[],
  found: Listed['found'],
  unreadable: Set<VideoTask>,
  context: PollContext,
): Promise<readonly MovedVideoTask[]> => {
  const { store, clock, log } = context
  const now = clock.now()
  const moved: MovedVideoTask[] = []
  await divide(tasks, {
    scopeOf: () => 'unclear',
    async call(some) {
      const moves = some.map((task) => moveOf(task, found.get(task.upstreamId ?? ''), now, context))
      moved.push(...(await store.moveVideoTasks(moves, now)))
    },
    onFailed: (task, err) => {
      log.warn({ task: task.id, err }, 'the state of a task could not be stored')
      unreadable.add(task)
    },
    // A single task that fails is put off below, which fails too when the store is down.
    budget: { calls: 2 * idsPerCall, works: tasks.length === 1 },
  })
  for (const { task } of moved.filter(({ overruns }) => overruns)) {
    const { id, user, upstreamId } = task
    log.error({ task: id, user, upstreamId }, 'a task runs for too long: its slot is free, and an operator must decide')
  }
  const later = [...unreadable].map((task) => putOff(task, now, context))
  moved.push(...(await store.moveVideoTasks(later, now)))
  return moved
}

const unchanged = ({ id, dueAt, status, task = '' }: VideoTask, now: number, { pollMs }: VideoContext): VideoMove => ({
  ...{ id, readDueAt: dueAt, dueAt: now + pollMs },
  ...{ status, task },
})

/**
 * A task that cannot be read is asked for less and less often, so that it is not at the head of each poll. When its
 * time is over, it has ended.
 */
const putOff = (task: VideoTask, now: number, context: VideoContext): VideoMove => {
  const age = now - (task.submittedAt ?? task.createdAt)
  const next = unchanged(task, now, context)
  if (now >= task.expiresAt) return { ...next, ...vanished(task, now) }
  return { ...next, dueAt: now + Math.max(context.pollMs, Math.min(age, maxPutOffMs)) }
}

/** What the upstream's task object means for a task. Undefined object: the upstream does not have the task. */
export const moveOf = (
  task: VideoTask,
  upstream: UpstreamTask | undefined,
  now: number,
  context: PollContext,
): VideoMove => {
  const { copies, log } = context
  const { id } = task
  const next = unchanged(task, now, context)
  if (!upstream) {
    return (task.submittedAt ?? task.createdAt) + appearsMs > now ? next : { ...next, ...vanished(task, now) }
  }
  const status = statuses.get(upstream.status)
  if (status === undefined) log.warn({ task: id, status: upstream.status }, 'unknown status of a task')
  const usage = usageOf(upstream.json)
  const cost = usage && costIn(task, usage, context)
  const overruns = status === 'running' && runsTooLong(task, now, context)
  return {
    ...next,
    ...(overruns && { overruns, dueAt: now + overrunPolls * context.pollMs }),
    status: status ?? task.status,
    task: (status === undefined ? upstream.json.with('status', toJson(task.status)) : upstream.json).raw,
    ...(usage && { usage: { ...usage, ...(cost !== undefined && { cost }) } }),
    ...(copies && status === 'succeeded' && { copy: true }),
  }
}

/** Whether a task was seen to run longer ago than a task may run. */
const runsTooLong = (task: VideoTask, now: number, { maxRunningMs }: VideoContext): boolean =>
  // Without a time, it runs since before the store kept one.
  task.status === 'running' && now - (task.runningAt ?? task.submittedAt ?? task.createdAt) > maxRunningMs

/** The cost of a task, if it is one that a store can keep: the task ends without it. */
const costIn = (task: VideoTask, usage: VideoUsage, { costOf, log }: PollContext): number | undefined => {
  try {
    const cost = costOf?.(task, usage)
    if (cost === undefined || isCount(cost)) return cost
    log.warn({ task: task.id, cost }, 'the cost of a task is no safe integer from 0, and is not recorded')
  } catch (err) {
    log.warn({ task: task.id, err }, 'the cost of a task could not be computed')
  }
  return undefined
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
