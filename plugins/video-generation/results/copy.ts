import type { Background, RunningJob } from '../../shared/background/background.ts'
import { delay } from '../../shared/background/delay.ts'
import type { Clock } from '../../shared/clock.ts'
import { type Json, readJson } from '../../shared/json/json.ts'
import type { Log } from '../../shared/problem.ts'
import type { VideoQueue } from '../store/queue.ts'
import type { VideoTask } from '../tasks/task.ts'
import { keysOf, type ResultCopies, type VideoResultStorage } from './results.ts'

/** What copying needs. */
export interface CopyContext {
  readonly store: Pick<
    VideoQueue,
    'dueVideoCopies' | 'leaseVideoCopy' | 'extendVideoCopy' | 'endVideoTask' | 'releaseVideoCopy'
  >
  readonly results: VideoResultStorage
  /** Whether the upstream's own address is http. Then results may be there too; else only https is asked. */
  readonly allowsHttp: boolean
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
  /** The shortest pause after a failure, in milliseconds. Default 5,000. */
  readonly minPauseMs?: number | undefined
}

/** Copies at the same time in one process. */
const maxCopies = 4
/** Milliseconds between two looks for tasks that are due. */
const roundMs = 1_000
/** How long a task waits for its copies before it ends with the upstream's links. */
const patienceMs = 600_000
/** How long the upstream's links work. */
const linkMs = 86_400_000
const maxPauseMs = 1_800_000
/** A lease is extended as long as the copy goes on. After a crash, another process continues then. */
const leaseMs = 60_000

/**
 * Copies results to the storage. Every process may do so: each result is leased by one at a time.
 *
 * A task ends when its result is copied. If that fails for ten minutes, it ends with the upstream's links, and is
 * copied later, until those expire.
 */
export const startCopier = (context: CopyContext, background: Background): RunningJob => {
  const { store, clock, log } = context
  const running = new Set<string>()

  const startCopies = async (signal: AbortSignal): Promise<number> => {
    if (running.size === maxCopies) return roundMs
    for (const { id } of await store.dueVideoCopies(clock.now(), 2 * maxCopies)) {
      if (running.size === maxCopies || signal.aborted) break
      if (running.has(id)) continue
      running.add(id)
      void background
        .run(() => copyResult(id, context, signal))
        .catch((err: unknown) => log.warn({ task: id, err }, 'a result could not be copied; it is tried again later'))
        .finally(() => {
          running.delete(id)
          job.wake()
        })
    }
    return roundMs
  }

  const job = background.repeat({
    ...{ run: startCopies, everyMs: roundMs, log, failure: 'results to be copied could not be read' },
  })
  return job
}

/** Copies the result of one task, unless another process does. Rejects when the store fails. */
export const copyResult = async (id: string, context: CopyContext, until?: AbortSignal): Promise<void> => {
  const { store, results, clock, log } = context
  const leaseUntil = clock.now() + leaseMs
  const task = await store.leaseVideoCopy(id, clock.now(), leaseUntil)
  if (!task) return
  const json = readJson(task.finalTask ?? task.task ?? '{}')
  const end = async (copies: ResultCopies | undefined, retryAt?: number): Promise<boolean> => {
    const result = copies && JSON.stringify(copies)
    return task.phase === 'copying'
      ? store.endVideoTask(id, clock.now(), result, retryAt)
      : store.releaseVideoCopy(id, result, retryAt)
  }
  const urls = urlsIn(json)
  if (urls.video === undefined && urls.lastFrame === undefined) return void (await end(undefined))
  const lease = keepLease(id, leaseUntil, context, until)
  try {
    const copies = await copyFiles(task, urls, context, lease.signal)
    // The user has deleted the task in the meantime, or another process has copied its result.
    if (!(await end(copies))) await results.remove(keysOf({ result: JSON.stringify(copies) }))
  } catch (err) {
    const failedAt = clock.now()
    if (until?.aborted) return void (await store.releaseVideoCopy(id, undefined, failedAt))
    const succeededAt = secondsIn(json) * 1000 || (task.submittedAt ?? task.createdAt)
    const retryAt = failedAt + pauseAfter(failedAt - succeededAt, context.minPauseMs)
    const isHopeless = retryAt >= succeededAt + linkMs
    log.warn({ task: id, err, again: !isHopeless }, 'a result could not be copied')
    const waits = task.phase === 'copying' && failedAt < succeededAt + patienceMs
    if (waits) await store.releaseVideoCopy(id, undefined, retryAt)
    else await end(undefined, isHopeless ? undefined : retryAt)
  } finally {
    lease.stop()
  }
}

/** Extends a lease until it is stopped. Its signal aborts when the lease is lost, or with `until`. */
const keepLease = (id: string, leaseUntil: number, { store, clock }: CopyContext, until?: AbortSignal) => {
  const stopped = new AbortController()
  const lost = new AbortController()
  void (async () => {
    let held = leaseUntil
    while (!stopped.signal.aborted) {
      await delay(leaseMs / 3, stopped.signal)
      if (stopped.signal.aborted) return
      const next = clock.now() + leaseMs
      try {
        if (await store.extendVideoCopy(id, held, next)) {
          held = next
          continue
        }
      } catch {
        // The store may answer again before the lease ends.
        if (clock.now() < held) continue
      }
      return lost.abort(new Error('the lease of a copy has ended'))
    }
  })()
  const signal = until ? AbortSignal.any([until, lost.signal]) : lost.signal
  return { signal, stop: () => stopped.abort() }
}

const urlsIn = (json: Json) => {
  const content = json.get('content')
  return { video: content?.get('video_url')?.string(), lastFrame: content?.get('last_frame_url')?.string() }
}

const copyFiles = async (
  task: VideoTask,
  urls: ReturnType<typeof urlsIn>,
  { results, allowsHttp, clock }: CopyContext,
  signal: AbortSignal | undefined,
): Promise<ResultCopies> => {
  const expiresAt = (task.endedAt ?? clock.now()) + results.keepMs
  const copy = async (url: string | undefined, name: string, media: 'video' | 'image') => {
    if (url === undefined) return undefined
    const { protocol } = new URL(url)
    if (protocol !== 'https:' && !(allowsHttp && protocol === 'http:'))
      throw new Error('the link to a result is not https')
    return results.copy({ url, name, media, user: task.user, expiresAt, signal })
  }
  const video = await copy(urls.video, task.id, 'video')
  try {
    const lastFrame = await copy(urls.lastFrame, `${task.id}-last-frame`, 'image')
    return { ...(video !== undefined && { video }), ...(lastFrame !== undefined && { lastFrame }), expiresAt }
  } catch (error) {
    if (video !== undefined) await results.remove([video])
    throw error
  }
}

/** Pauses grow with the time since the first attempt, so that no count is needed. */
const pauseAfter = (elapsedMs: number, minPauseMs = 5_000): number =>
  Math.min(maxPauseMs, Math.max(minPauseMs, Math.round(elapsedMs / 2)))

const secondsIn = (json: Json): number => {
  const value = json.get('updated_at')
  return value?.isNumber ? Number(value.value()) : 0
}
