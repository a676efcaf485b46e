import { idOf } from '../../shared/ids.ts'
import type { Json } from '../../shared/reader.ts'
import type { VideoModel } from '../models.ts'
import type { VideoSettings } from '../options.ts'
import { rateLimitError } from '../rate-limits.ts'
import type { VideoRequest } from '../request/task-request.ts'
import { VideoError } from '../video-error.ts'
import { createEventQueue } from './event-queue.ts'
import type { VideoOutcome, VideoTask } from './task.ts'

const day = 86_400_000
/** ms after its creation at which a record vanishes */
const recordMs = 7 * day
/** ms after the cancellation at which a cancelled record vanishes */
const cancelledMs = day

/** A new task. */
export interface NewTask {
  readonly model: VideoModel
  readonly requestedModel: string
  readonly body: Json
  readonly request: VideoRequest
}

/** The tasks of the account and their schedule. Every function first brings the tasks up to the present. */
export interface Tasks {
  /** Throws 429 when the queue or the account is full. */
  create(task: NewTask): VideoTask
  /** the task with this id; undefined when it does not exist or is gone */
  find(id: string): VideoTask | undefined
  /** all tasks since the start, oldest first, also those that are gone */
  all(): VideoTask[]
  /** Cancels a queued task or deletes an ended one. Throws 409 for the other states. */
  remove(task: VideoTask): void
  /** Ends a queued or running task. Returns undefined for an ended one. */
  finish(task: VideoTask, outcome: VideoOutcome): VideoTask | undefined
  /** time of the next change; Infinity when no task is queued or running */
  nextTime(): number
  /** brings the tasks up to the present */
  settle(): void
}

type Event = { readonly do: 'schedule' | 'end' | 'expire' | 'vanish'; readonly id: string }

/** Creates the tasks. `onChange` receives every new state of a task, in order. */
export const createTasks = (
  settings: VideoSettings,
  now: () => number,
  onChange: (task: VideoTask) => void,
  first: number,
): Tasks => {
  const tasks = new Map<string, VideoTask>()
  /** ids of queued tasks: by model, then by endpoint and priority; each set is in order of age */
  const waiting = new Map<string, Map<string, Set<string>>>()
  const running = new Map<string, number>()
  const outcomes = new Map<string, VideoOutcome>()
  const events = createEventQueue<Event>()
  let active = 0

  const change = (task: VideoTask, part: Partial<VideoTask>, at: number): VideoTask => {
    const changed = { ...task, ...part, updateTime: at }
    if (part.endTime !== undefined) active--
    tasks.set(task.id, changed)
    onChange(changed)
    return changed
  }
  const vanish = (task: VideoTask) => tasks.set(task.id, { ...task, gone: true })

  const queuesOf = (model: VideoModel): Map<string, Set<string>> => {
    const queues = waiting.get(model.id) ?? new Map<string, Set<string>>()
    waiting.set(model.id, queues)
    return queues
  }
  const queueOf = ({ model, requestedModel, request }: NewTask): Set<string> => {
    const queues = queuesOf(model)
    const key = `${requestedModel} ${request.priority}`
    const queue = queues.get(key) ?? new Set<string>()
    queues.set(key, queue)
    return queue
  }
  const queuedOf = (id: string): number =>
    [...(waiting.get(id)?.values() ?? [])].reduce((sum, { size }) => sum + size, 0)
  const capOf = ({ id, maxRunning = 10 }: VideoModel) =>
    settings.maxRunning[id] ?? settings.maxRunning['*'] ?? maxRunning
  const usesSlot = ({ request }: VideoTask) => request.serviceTier === 'default'

  /** Of each endpoint the first of its queues, by priority and then by age; of these the oldest. */
  const nextOf = (model: VideoModel, at: number): VideoTask | undefined => {
    const heads = new Map<string, VideoTask>()
    for (const [oldest = ''] of queuesOf(model).values()) {
      const task = tasks.get(oldest)
      if (task === undefined || task.createTime + settings.queuedMs > at) continue
      const head = heads.get(task.requestedModel)
      if (head === undefined || (task.request.priority ?? 0) > (head.request.priority ?? 0))
        heads.set(task.requestedModel, task)
    }
    return [...heads.values()].sort((a, b) => a.number - b.number)[0]
  }

  const start = (task: VideoTask, at: number): void => {
    queueOf(task).delete(task.id)
    if (usesSlot(task)) running.set(task.model.id, (running.get(task.model.id) ?? 0) + 1)
    const started = change(task, { status: 'running', startTime: at }, at)
    const outcome = settings.outcome(started)
    outcomes.set(task.id, outcome)
    const { runningMs } = settings
    const ms = typeof runningMs === 'number' ? runningMs : runningMs(started)
    if (outcome.status !== 'expired') events.add(at + ms, { do: 'end', id: task.id })
  }

  const schedule = (model: VideoModel, at: number): void => {
    while ((running.get(model.id) ?? 0) < capOf(model)) {
      const next = nextOf(model, at)
      if (next === undefined) return
      start(next, at)
    }
  }

  const end = (task: VideoTask, outcome: VideoOutcome, at: number): VideoTask => {
    if (task.status === 'queued') queueOf(task).delete(task.id)
    else if (usesSlot(task)) running.set(task.model.id, (running.get(task.model.id) ?? 0) - 1)
    outcomes.delete(task.id)
    const { status } = outcome
    const error = outcome.status === 'failed' ? { code: outcome.code, message: outcome.message } : undefined
    const ended = change(task, { status, endTime: at, ...(error && { error }) }, at)
    schedule(task.model, at)
    return ended
  }

  const handle = (task: VideoTask, event: Event, at: number): void => {
    if (event.do === 'vanish') vanish(task)
    else if (event.do === 'expire') {
      if (task.endTime === undefined) end(task, { status: 'expired' }, at)
    } else if (event.do === 'end') {
      const outcome = outcomes.get(task.id)
      if (outcome !== undefined) end(task, outcome, at)
    } else if (usesSlot(task)) schedule(task.model, at)
    else if (task.status === 'queued') start(task, at)
  }

  const settle = (): void => {
    const until = now()
    for (let next = events.next(until); next !== undefined; next = events.next(until)) {
      const task = tasks.get(next.event.id)
      if (task !== undefined) handle(task, next.event, next.at)
    }
  }

  const checkRoom = (model: VideoModel): void => {
    const full = queuedOf(model.id) + (running.get(model.id) ?? 0) >= capOf(model)
    if (full && settings.whenFull === 'reject') throw rateLimitError('inflight')
    const all = [...waiting.keys()].reduce((sum, id) => sum + queuedOf(id), 0)
    if (all >= settings.maxQueued) throw rateLimitError('queue')
  }

  const create = (given: NewTask): VideoTask => {
    settle()
    const at = now()
    const number = first + tasks.size
    const isFlex = given.request.serviceTier === 'flex'
    if (!isFlex) checkRoom(given.model)
    const id = idOf('cgt', number, at)
    const times = { createTime: at, updateTime: at }
    const task: VideoTask = { id, ...given, status: 'queued', ...times, gone: false, number }
    tasks.set(id, task)
    active++
    if (!isFlex) queueOf(task).add(id)
    onChange(task)
    events.add(at + settings.queuedMs, { do: 'schedule', id })
    events.add(at + given.request.expiresAfter * 1000, { do: 'expire', id })
    events.add(at + recordMs, { do: 'vanish', id })
    settle()
    return task
  }

  const remove = (task: VideoTask): void => {
    const { id, status } = task
    if (status === 'running' || status === 'cancelled') {
      const [name, state] = status === 'running' ? ['Running', 'currently running'] : ['Cancelled', 'cancelled']
      const message = `Cannot delete task \`${id}\` because it is ${state}.`
      throw new VideoError(409, `InvalidAction.${name}TaskDeletion`, message)
    }
    if (status !== 'queued') return void vanish(task)
    queueOf(task).delete(id)
    change(task, { status: 'cancelled', endTime: now() }, now())
    events.add(now() + cancelledMs, { do: 'vanish', id })
  }

  const finish = (task: VideoTask, outcome: VideoOutcome): VideoTask | undefined => {
    if (task.endTime !== undefined) return undefined
    if (task.status === 'queued') start(task, now())
    return end(tasks.get(task.id) ?? task, outcome, now())
  }

  return {
    create,
    find(id) {
      settle()
      const task = tasks.get(id)
      return task?.gone === false ? task : undefined
    },
    all() {
      settle()
      return [...tasks.values()]
    },
    ...{ remove, finish, settle },
    nextTime: () => (active === 0 ? Number.POSITIVE_INFINITY : events.nextTime()),
  }
}
