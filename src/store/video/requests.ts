import { nextTurn, slicesOf } from '../../../plugins/shared/json/json.ts'
import type { PoolLimits } from '../../../plugins/video-generation/store/pool.ts'
import { type NewVideoTask, poolOf } from '../../../plugins/video-generation/tasks/task.ts'
import type { Database, Row } from '../database/database.ts'
import { type Statement, sql } from '../database/statement.ts'

/**
 * Length of a request, and of a piece of it, that one transaction writes. In UTF-16 code units; SQLite takes about 4 ms
 * for it.
 */
const pieceLength = 2 ** 18

/** Bytes above which a request may be in pieces: a code unit takes a byte at least. */
const longBytes = pieceLength

/**
 * Milliseconds after which a request whose task was never added is left over. Longer than any lease of a create call.
 */
const leftOverMs = 3_600_000

/** Whether a request is stored in pieces. Its task then has an empty request. */
export const isLong = (request: string): boolean => request.length > pieceLength

/** Writes a long request, one transaction a piece: one for all would block SQLite for seconds. */
export const writePieces = async (database: Database, task: string, request: string, at: number): Promise<void> => {
  let position = 0
  for (const piece of slicesOf(request, pieceLength)) {
    if (position > 0) await nextTurn()
    await database.query(sql`
      insert into video_request_pieces (task_id, position, written_at, piece)
      values (${task}, ${position++}, ${at}, ${piece})`)
  }
}

/**
 * Reads the request of a claimed task: `request` of its row, or its pieces. Empty if one is missing: no later attempt
 * would find it.
 */
export const readRequest = async (database: Database, task: string, { request, bytes }: Row): Promise<string> => {
  if (request !== '' || bytes === 0) return String(request ?? '')
  const pieces: string[] = []
  let left = Number(bytes)
  while (left > 0) {
    if (pieces.length > 0) await nextTurn()
    const [found] = await database.query<{ piece: string; bytes: number }>(sql`
      select piece, octet_length(piece) as bytes
      from video_request_pieces
      where task_id = ${task}
      and position = ${pieces.length}`)
    if (!found) return ''
    pieces.push(found.piece)
    left -= found.bytes
  }
  return pieces.join('')
}

/**
 * Removes the pieces of a task that needs its request no more. The last piece first, so that the sweep finds what a
 * crash leaves.
 *
 * @param bytes length of its request
 */
export const removePieces = async (database: Database, task: unknown, bytes: unknown): Promise<void> => {
  if (Number(bytes) <= longBytes) return
  for (;;) {
    const removed = await database.query(sql`
      delete from video_request_pieces
      where task_id = ${String(task)}
      and position in (
        select position
        from video_request_pieces
        where task_id = ${String(task)}
        order by position desc
        limit 4
      )
      returning position`)
    if (removed.length < 4) return
    await nextTurn()
  }
}

/**
 * Removes pieces without a task that needs them: a process has ended while it wrote or removed them. Returns the number
 * of their tasks.
 */
export const sweepPieces = async (database: Database, now: number, max: number): Promise<number> => {
  const left = await database.query<{ id: string }>(sql`
    select pieces.task_id as id
    from video_request_pieces pieces
    left join video_tasks on video_tasks.id = pieces.task_id
    where pieces.position = 0
    and pieces.written_at < ${now - leftOverMs}
    and (video_tasks.phase is null or video_tasks.phase not in ('waiting', 'submitting'))
    order by pieces.written_at
    limit ${max}`)
  for (const { id } of left) await removePieces(database, id, Number.POSITIVE_INFINITY)
  return left.length
}

/** Removes the pieces of a task that has left the queue. The sweep removes them if that fails. */
export const forgetRequest = (database: Database, task: string, bytes: unknown): Promise<void> =>
  removePieces(database, task, bytes ?? 0).catch(() => {})

/** The waiting tasks of a user in a pool. */
export const waitingOf = (pool: string, user: string): Statement => sql`
  select count(*) as tasks, sum(bytes) as bytes
  from video_tasks
  where pool = ${pool}
  and phase = 'waiting'
  and user_id = ${user}`

export const isWithin = (waiting: Row | undefined, limits: PoolLimits, more = { tasks: 0, bytes: 0 }): boolean => {
  const { waitingPerUser = Number.POSITIVE_INFINITY, waitingBytesPerUser = Number.POSITIVE_INFINITY } = limits
  return (
    Number(waiting?.tasks ?? 0) + more.tasks <= waitingPerUser &&
    Number(waiting?.bytes ?? 0) + more.bytes <= waitingBytesPerUser
  )
}

/** Whether a user has too many waiting tasks for another one. A user without one may still find a free slot. */
export const isWaitingFull = async (
  database: Database,
  { user, request, ...task }: NewVideoTask,
  limits: PoolLimits,
): Promise<boolean> => {
  const [waiting] = await database.query(waitingOf(poolOf(task), user))
  return Number(waiting?.tasks) > 0 && !isWithin(waiting, limits, { tasks: 1, bytes: request.length })
}
