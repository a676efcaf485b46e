import type { VideoTask } from '../../tasks/task.ts'
import type { VideoTaskFilter, VideoTaskPage } from '../../tasks/tasks.ts'
import { placeInLine } from '../place.ts'
import type { VideoTaskCount } from '../pool.ts'
import type { VideoLists, VideoPlaces, VideoQueue } from '../queue.ts'
import { Pool, poolLists } from './pool.ts'
import { isSuspended, type QueueRows, readTask, storedTaskOf, taskIn, taskLists } from './task.ts'
import { positionAt, Transaction, valuesOf } from './transaction.ts'

/** What users and operators see of the tasks. */
export const listsOn = (rows: QueueRows): VideoLists & VideoPlaces & Pick<VideoQueue, 'countVideoTasks'> => ({
  async videoTask(user, id) {
    const task = await readTask(new Transaction(rows.store), id)
    return task?.user === user ? taskIn(task) : undefined
  },

  async videoTasks(user, filter, page) {
    const tasks: VideoTask[] = []
    let total = 0
    for await (const task of tasksOf(rows, user, filter, page)) {
      if (!isSelected(task, user, filter)) continue
      const isAfter = 'offset' in page ? total >= page.offset : isBehind(task.id, page)
      total++
      if (isAfter && tasks.length < page.limit) tasks.push(task)
    }
    return { tasks, total }
  },

  async videoQueuePlace({ id, user }, limits, now) {
    const transaction = new Transaction(rows.store)
    const task = await readTask(transaction, id)
    if (task?.phase !== 'waiting' || isSuspended(task)) return undefined
    const { pool } = task
    const below = positionAt(task.place ?? 0, id)
    let before = 0
    const older = valuesOf(rows.store, taskLists.turnsOf(pool, user), positionOfTurn, { below })
    for await (const _ of older) before++
    return placeInLine(user, before, (await Pool.read(transaction, pool, now)).line, limits)
  },

  async videoQueueLine(pool, now) {
    return (await Pool.read(new Transaction(rows.store), pool, now)).line
  },

  async countVideoTasks(max) {
    const counts: VideoTaskCount[] = []
    for await (const value of valuesOf(rows.store, poolLists.all, Pool.positionIn)) {
      const { name: pool, running, overrunning, waiting } = new Pool(value)
      const [first] = await rows.store.listVideoRows(taskLists.waitingIn(pool), { limit: 1 })
      counts.push({ pool, phase: 'running', count: running }, { pool, phase: 'overrunning', count: overrunning })
      if (first) counts.push({ pool, phase: 'waiting', count: waiting, oldestAt: storedTaskOf(first.value).createdAt })
    }
    const most = counts.filter(({ count }) => count > 0).sort((a, b) => b.count - a.count)
    return (['waiting', 'running', 'overrunning'] as const).flatMap((phase) =>
      most.filter((each) => each.phase === phase).slice(0, max),
    )
  },
})

const positionOfTurn = (value: string): string => {
  const { place = 0, id } = storedTaskOf(value)
  return positionAt(place, id)
}

/** The tasks of a user, or those with certain ids, in the order of a page. */
async function* tasksOf(
  rows: QueueRows,
  user: string,
  { ids }: VideoTaskFilter,
  page: VideoTaskPage,
): AsyncGenerator<VideoTask> {
  const descending = 'offset' in page || page.order === 'desc'
  if (!ids) {
    const values = valuesOf(rows.store, taskLists.ofUser(user), (value) => storedTaskOf(value).id, { descending })
    for await (const value of values) yield taskIn(storedTaskOf(value))
    return
  }
  const ordered = [...new Set(ids)].sort()
  for (const id of descending ? ordered.reverse() : ordered) {
    const task = await readTask(new Transaction(rows.store), id)
    if (task) yield taskIn(task)
  }
}

const isSelected = (task: VideoTask, user: string, { status, model, serviceTier }: VideoTaskFilter): boolean =>
  task.user === user &&
  (status === undefined || task.status === status) &&
  (model === undefined || task.model === model) &&
  (serviceTier === undefined || task.serviceTier === serviceTier)

/** Whether a task comes after the last one of the page before. */
const isBehind = (id: string, { after, order }: Extract<VideoTaskPage, { order: unknown }>): boolean =>
  after === undefined || (order === 'desc' ? id < after : id > after)
