import type { VideoSuspensions } from '../../../../plugins/video-generation/store/queue.ts'
import type { Database } from '../../database/database.ts'
import { sql } from '../../database/statement.ts'
import { addUses } from '../asset-uses.ts'
import { isWithin, readRequest } from '../requests.ts'
import { readTasks } from '../task-rows.ts'
import { beginTurn, enterPool, returnTurn } from './pool.ts'

/** Tasks that wait for assets. They have the phase `waiting`, and no pool: so they are in no line and take no slot. */
export const suspendedTasks = (database: Database): VideoSuspensions => ({
  async suspendVideoTask({ id, attempts, user, model: pool }, { fields, dueAt, limits }) {
    const [delayed] = await database.query(sql`
      update video_tasks
      set due_at = ${dueAt}, fields = ${fields}
      where id = ${id}
      and attempts = ${attempts}
      and phase = 'waiting'
      and due_at is not null
      returning id`)
    if (delayed) return 'suspended'
    // Without a lock of the pool, for which all starts of tasks wait: of calls at the same time, each counts the others
    // only when they have ended.
    return database.transaction(function* () {
      const [claim] = yield sql`
        select bytes
        from video_tasks
        where id = ${id}
        and attempts = ${attempts}
        and phase = 'submitting'
        and place is not null`
      if (!claim) return 'ended'
      const [others] = yield sql`
        select count(*) as tasks, sum(bytes) as bytes
        from video_tasks
        where pool is null
        and phase = 'waiting'
        and user_id = ${user}`
      if (!isWithin(others, limits, { tasks: 1, bytes: Number(claim.bytes) })) return 'full'
      const [suspended] = yield sql`
        update video_tasks
        set phase = 'waiting', pool = null, fields = ${fields}, nonce = null, claimed_at = null, lease_until = 0,
          due_at = ${dueAt}
        where id = ${id}
        and attempts = ${attempts}
        and phase = 'submitting'
        returning id`
      if (!suspended) return 'ended'
      yield returnTurn(pool, user)
      return 'suspended'
    })
  },

  async suspendedVideoTasks(now, max) {
    const due = await database.query<{ id: string }>(sql`
      select id
      from video_tasks
      where phase = 'waiting'
      and due_at <= ${now}
      order by due_at, id
      limit ${max}`)
    return readTasks(database, due)
  },

  async videoTaskRequest(id) {
    const [row = {}] = await database.query(sql`
      select request, bytes
      from video_tasks
      where id = ${id}
      and phase in ('waiting', 'submitting')`)
    return readRequest(database, id, row)
  },

  async resumeVideoTask({ id, attempts, user, model: pool }, fields, at, assets = []) {
    return database.transaction(function* () {
      const state = yield* enterPool(pool, at)
      yield beginTurn(pool, user, state.pass)
      const [resumed] = yield sql`
        update video_tasks
        set pool = ${pool}, fields = ${fields}, due_at = null
        where id = ${id}
        and attempts = ${attempts}
        and phase = 'waiting'
        and due_at is not null
        returning id`
      if (resumed && assets.length > 0)
        yield addUses(
          { id, user },
          assets.map((asset) => ({ id: asset })),
        )
      return resumed !== undefined
    })
  },
})
