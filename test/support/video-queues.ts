import { beforeAll, describe } from 'bun:test'
import { DatabaseSync } from 'node:sqlite'
import { createStore } from '../../examples/video-store-of-your-own.ts'
import type { VideoQueue } from '../../plugins/video-generation/store/queue.ts'
import { queueOn } from '../../plugins/video-generation/store/rows/queue.ts'
import { type StoredTask as StoredRow, storedTaskOf } from '../../plugins/video-generation/store/rows/task.ts'
import type { VideoNews, VideoRow, VideoTaskStore } from '../../plugins/video-generation/store/task-store.ts'
import type { Database } from '../../src/store/database/database.ts'
import { openDatabase } from '../../src/store/database/kinds.ts'
import { sql } from '../../src/store/database/statement.ts'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from './database.ts'
import { createMemoryRows } from './memory-rows.ts'
import { repetitions } from './repetitions.ts'

/** A queue with what it records. */
export type RecordedQueue = VideoQueue & Pick<Store, 'listUsage' | 'eventsOf'>

/** The queue of a test suite. */
export interface TestVideoQueue {
  /** Opens the queue for one more process. */
  open(): Promise<RecordedQueue>
  /** The rows of all tasks of a model. */
  tasksOf(model: string): Promise<readonly StoredTask[]>
  /** Another value after each write to a pool. */
  writesOf(pool: string): Promise<unknown>
}

export interface StoredTask
  extends Pick<StoredRow, 'id' | 'user' | 'phase' | 'status' | 'attempts' | 'nonce' | 'place'> {}

/** Declares the suite once for each queue: those of our own store on each database, and the one that the plugin makes on rows. */
export const eachVideoQueue = (name: string, suite: (queue: TestVideoQueue) => void): void => {
  eachDatabase(name, (database) => {
    let raw: Database
    beforeAll(() => {
      raw = openDatabase(database.url, { deadlineMs: 60_000 })
      return () => raw.close()
    })
    suite({
      open: () => database.open(),
      tasksOf: (model) =>
        raw.query<StoredTask>(sql`
          select id, user_id as "user", phase, status, attempts, nonce, place
          from video_tasks
          where model = ${model}`),
      writesOf: (pool) => raw.query(sql`select turn from video_pools where pool = ${pool}`),
    })
  })
  for (const [title, createRows] of repetitions(...Object.entries(rowStores)))
    describe(`${name} (${title})`, () => onRows(createRows(), suite))
}

/** Stores of rows: one in memory, and the example of a host. */
const rowStores = {
  'rows in memory': createMemoryRows,
  'rows of the example': () => createStore(new DatabaseSync(':memory:')),
}

const onRows = (store: VideoTaskStore, suite: (queue: TestVideoQueue) => void): void => {
  const rows = new Map<string, VideoRow>()
  const news: VideoNews[] = []
  const recorded: VideoTaskStore = {
    ...store,
    async changeVideoRows(changes, told) {
      const isChanged = await store.changeVideoRows(changes, told)
      if (!isChanged) return false
      for (const { key, to } of changes) {
        if (to) rows.set(key, to)
        else rows.delete(key)
      }
      news.push(...told)
      return true
    },
  }
  suite({
    open: async () => ({ ...queueOn(recorded), ...recordsOf(news) }),
    tasksOf: async (model) =>
      [...rows.values()]
        .filter(({ key }) => key.startsWith('["task"'))
        .map(({ value }) => storedTaskOf(value))
        .filter((task) => task.model === model)
        .map(({ id, user, phase, status, attempts, nonce, place }) => ({
          ...{ id, user, phase, status, attempts },
          ...(nonce !== undefined && { nonce }),
          ...(place !== undefined && { place }),
        })),
    writesOf: async (pool) => rows.get(JSON.stringify(['pool', pool]))?.version,
  })
}

/** What a host may record of the news: here in memory. */
const recordsOf = (news: readonly VideoNews[]): Pick<Store, 'listUsage' | 'eventsOf'> => ({
  async listUsage({ user } = {}) {
    return news.flatMap(({ task, at, usage }) =>
      usage && (user === undefined || task.user === user)
        ? [
            {
              ...{ user: task.user, token: task.token ?? '', model: task.model },
              ...{ day: new Date(at).toISOString().slice(0, 10), calls: 1 },
              ...{ unreported: Number(usage.completionTokens === undefined), inputTokens: 0, cachedTokens: 0 },
              ...{ outputTokens: usage.completionTokens ?? 0, reasoningTokens: 0, videoSeconds: usage.seconds ?? 0 },
              ...(usage.cost !== undefined && { cost: usage.cost }),
            },
          ]
        : [],
    )
  },

  async eventsOf(user, after, max) {
    return news
      .flatMap(({ task, at, notice }, nth) =>
        notice && task.user === user
          ? [{ sequence: nth + 1, id: String(nth), user, type: notice.type, data: notice.data, at }]
          : [],
      )
      .filter(({ sequence }) => sequence > after)
      .slice(0, max)
  },
})
