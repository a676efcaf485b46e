import { scopeOfUpstreamFailure } from '../../shared/upstream/failure-scope.ts'
import type { VideoTask } from '../tasks/task.ts'
import type { UpstreamTask } from '../upstream/client.ts'
import type { VideoContext } from './submit.ts'

/** The statuses of a task that has not ended. */
export const openStatuses = ['queued', 'running']
/** Without `expired`, by which the upstream does not filter: no task expires so soon. */
export const allStatuses = [...openStatuses, 'succeeded', 'failed', 'cancelled']

/** What a search has read. Not `complete`: there are tasks that it could not read. */
export interface TaskSearch {
  readonly tasks: readonly UpstreamTask[]
  readonly complete: boolean
}

/**
 * Tasks of a page. A page that cannot be read is divided into pages of the next size: each size divides the one before.
 */
const pageSizes = [500, 100, 20, 4, 1]
/** The vendor's highest page number. */
const maxPageNumber = 500
/** Tasks of one status that a search reads. */
const maxTasks = 10_000
/** Calls beyond one a page that a search spends on pages that cannot be read. */
const maxExtraCalls = 100

/**
 * Reads the upstream's tasks. It has no filter by time, so all pages are read. A task that cannot be read does not hide
 * the others.
 */
export const findTasks = async (
  serviceTier: VideoTask['serviceTier'],
  statuses: readonly string[],
  { client, log }: VideoContext,
  signal: AbortSignal | undefined,
): Promise<TaskSearch> => {
  const tasks: UpstreamTask[] = []
  let complete = true
  let extraCalls = maxExtraCalls
  let works = false

  /**
   * Reads the tasks of one status from an offset. Resolves with the total, or undefined where nothing could be read.
   */
  const read = async (status: string, offset: number, level = 0): Promise<number | undefined> => {
    const size = pageSizes[level] ?? 1
    const page = offset / size + 1
    if (page > maxPageNumber || (level > 0 && extraCalls-- <= 0)) {
      complete = false
      return undefined
    }
    try {
      const found = await client.list({ status, serviceTier, page, size }, signal)
      works = true
      tasks.push(...found.tasks)
      return found.total
    } catch (err) {
      const scope = signal?.aborted ? 'all' : scopeOfUpstreamFailure(err)
      if (scope === 'all') throw err
      if (scope === 'unclear' && !works) await probe(status, offset, size, err)
      const smaller = pageSizes[level + 1]
      if (smaller === undefined) {
        complete = false
        log.warn({ err, status }, 'a task of the upstream cannot be read')
        return undefined
      }
      let total: number | undefined
      for (let from = offset; from < Math.min(offset + size, total ?? Number.POSITIVE_INFINITY); from += smaller)
        total = (await read(status, from, level + 1)) ?? total
      return total
    }
  }

  /**
   * After an unclear failure: reads one of the tasks of a page, so that an upstream that is down gets two calls.
   * Rejects with the error if that fails too.
   */
  const probe = async (status: string, offset: number, size: number, error: unknown): Promise<void> => {
    const page = Math.min(offset + Math.floor(Math.random() * size) + 1, maxPageNumber)
    await client.list({ status, serviceTier, page, size: 1 }, signal).catch(() => {
      throw error
    })
    works = true
  }

  for (const status of statuses) {
    let total = 1
    for (let offset = 0; offset < total; offset += pageSizes[0] ?? 1) {
      if (offset === maxTasks) {
        complete = false
        log.error({ status, total }, 'too many tasks to search for one whose create call was lost')
        break
      }
      total = (await read(status, offset)) ?? total
    }
  }
  // A task that moves on during the search is in two lists: the later one tells its status.
  return { tasks: [...new Map(tasks.map((task) => [task.id, task])).values()], complete }
}
