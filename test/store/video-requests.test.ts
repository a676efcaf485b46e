import { afterAll, beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { VideoQueue } from '../../plugins/video-generation/store/queue.ts'
import type { NewVideoTask } from '../../plugins/video-generation/tasks/task.ts'
import type { Database } from '../../src/store/database/database.ts'
import { openDatabase } from '../../src/store/database/kinds.ts'
import { type Statement, sql } from '../../src/store/database/statement.ts'
import { createSqlVideoQueue } from '../../src/store/video-queue.ts'
import { eachDatabase } from '../support/database.ts'

const at = 1_700_000_000_000
const hour = 3_600_000
const maxStatement = 2 ** 20

/** Characters of two and four bytes: no cut of 2^18 code units may halve one. */
const long = `{"x":"${'é'.repeat(300_001)}${'😀'.repeat(300_000)}"}`

eachDatabase('long video requests', (database) => {
  let raw: Database
  let store: VideoQueue
  /** What the store has asked the database, in order: one entry a transaction. */
  let asked: (readonly Statement[])[] = []
  /** Statements that the database runs until it fails. */
  let statementsLeft = Number.POSITIVE_INFINITY

  beforeAll(async () => {
    await database.open()
    const opened = openDatabase(database.url, { deadlineMs: 60_000 })
    raw = opened
    const recorded: Database = {
      ...opened,
      async query(statement, deadlineMs) {
        asked.push([statement])
        if (--statementsLeft < 0) throw new Error('the process has ended')
        return opened.query(statement, deadlineMs)
      },
      async transaction(steps) {
        asked.push([])
        if (--statementsLeft < 0) throw new Error('the process has ended')
        return opened.transaction(function* () {
          const run = steps()
          let step = run.next()
          while (!step.done) {
            asked.push([...(asked.pop() ?? []), ...[step.value].flat()])
            step = run.next(yield step.value)
          }
          return step.value
        })
      },
    }
    store = createSqlVideoQueue(recorded)
  })
  afterAll(() => raw.close())

  const newTask = (more: Partial<NewVideoTask> = {}): NewVideoTask => ({
    ...{ id: `cgt-${randomUUID()}`, user: randomUUID(), model: randomUUID(), serviceTier: 'default', fields: '{}' },
    ...{ request: long, createdAt: at, expiresAt: at + 48 * hour },
    ...more,
  })
  const full = { running: 0 }
  const free = { running: 10 }
  const piecesOf = async (id: string): Promise<number> => {
    const [row] = await raw.query<{ pieces: number }>(sql`
      select count(*) as pieces
      from video_request_pieces
      where task_id = ${id}`)
    return Number(row?.pieces)
  }
  const sizeOf = (statements: readonly Statement[]) =>
    statements.flatMap(({ values }) => values).reduce<number>((sum, value) => sum + Buffer.byteLength(String(value)), 0)
  const waiting = async (more: Partial<NewVideoTask> = {}): Promise<NewVideoTask> => {
    const task = newTask(more)
    expect(await store.addVideoTask(task, full, at + 1000)).toEqual({ outcome: 'waiting' })
    expect(await piecesOf(task.id)).toBeGreaterThan(3)
    return task
  }

  test('are written and read in transactions of a bounded size, and the task comes last', async () => {
    asked = []
    const task = await waiting()
    const writes = asked.filter(([first]) => first?.strings.join('').includes('insert into video_request_pieces'))
    expect(writes).toHaveLength(await piecesOf(task.id))
    for (const statements of asked) expect(sizeOf(statements)).toBeLessThan(maxStatement)
    expect(asked.at(-1)?.some(({ strings }) => strings.join('').includes('insert into video_tasks'))).toBe(true)
    asked = []
    const claim = await store.claimVideoTask(task.model, free, at, at + 1000)
    expect(claim?.request === long).toBe(true)
    expect(asked.filter(([first]) => first?.strings.join('').includes('octet_length(piece)'))).toHaveLength(
      writes.length,
    )
  })

  test('are read again at each claim, and removed when the upstream has the task', async () => {
    const task = newTask()
    const added = await store.addVideoTask(task, free, at + 1000)
    if (added.outcome !== 'claimed') throw new Error(added.outcome)
    expect(added.task.request === long).toBe(true)
    expect(await store.releaseVideoTask(added.task, at)).toBe(true)
    const again = await store.claimVideoTask(task.model, free, at, at + 1000)
    if (!again) throw new Error('not claimed')
    expect(again.request === long).toBe(true)
    expect(await store.confirmVideoTask(again, `up-${task.id}`, at, at + 1)).toBe(true)
    expect(await piecesOf(task.id)).toBe(0)
  })

  test('are removed with the end of their task', async () => {
    const cancelled = await waiting()
    expect(await store.cancelWaitingVideoTask(cancelled.user, cancelled.id, at)).toBe(true)
    expect(await piecesOf(cancelled.id)).toBe(0)
    const expired = await waiting({ expiresAt: at + 5 })
    expect(await store.expireWaitingVideoTasks(at + 5, 10)).toBe(1)
    expect(await piecesOf(expired.id)).toBe(0)
    for (const end of ['failVideoTask', 'dropVideoTask'] as const) {
      const task = await waiting()
      const claim = await store.claimVideoTask(task.model, free, at, at + 1000)
      if (!claim) throw new Error('not claimed')
      expect(await store[end](claim, '{}', at)).toBe(true)
      expect(await piecesOf(task.id)).toBe(0)
    }
  })

  test('of a user with too many waiting tasks are not written', async () => {
    const first = await waiting()
    asked = []
    const second = newTask({ user: first.user, model: first.model })
    for (const limits of [{ waitingPerUser: 1 }, { waitingBytesPerUser: 2 * 600_000 + 600_000 }])
      expect(await store.addVideoTask(second, { ...full, ...limits }, at + 1000)).toEqual({ outcome: 'waiting-full' })
    for (const statements of asked) expect(sizeOf(statements)).toBeLessThan(1_000)
    const tight = { ...full, waitingBytesPerUser: 1_000 }
    const alone = newTask()
    expect(await store.addVideoTask(alone, tight, at + 1000)).toEqual({ outcome: 'waiting-full' })
    expect([await piecesOf(second.id), await piecesOf(alone.id)]).toEqual([0, 0])
  })

  test('of which a process has written a part when it ends make no task, and are swept after an hour', async () => {
    const kept = await waiting()
    const left: NewVideoTask[] = []
    for (let written = 2; written < 5; written++) {
      const task = newTask()
      statementsLeft = written
      await expect(store.addVideoTask(task, full, at + 1000)).rejects.toThrow('the process has ended')
      statementsLeft = Number.POSITIVE_INFINITY
      expect(await store.videoTask(task.user, task.id)).toBeUndefined()
      expect(await piecesOf(task.id)).toBeGreaterThan(0)
      left.push(task)
    }
    expect(await store.sweepVideoRequests(at + hour, 100)).toBe(0)
    for (const { id } of left) expect(await piecesOf(id)).toBeGreaterThan(0)
    expect(await store.sweepVideoRequests(at + hour + 1, 100)).toBe(3)
    for (const { id } of left) expect(await piecesOf(id)).toBe(0)
    expect((await store.claimVideoTask(kept.model, free, at, at + 1000))?.request === long).toBe(true)
  })

  test('that a process has removed in part when it ends are swept', async () => {
    for (const statements of [1, 2]) {
      const task = newTask({ request: long + long })
      const added = await store.addVideoTask(task, free, at + 1000)
      if (added.outcome !== 'claimed') throw new Error(added.outcome)
      const all = await piecesOf(task.id)
      statementsLeft = statements
      expect(await store.confirmVideoTask(added.task, `up-${task.id}`, at, at + 1)).toBe(true)
      statementsLeft = Number.POSITIVE_INFINITY
      expect(await piecesOf(task.id)).toBeWithin(1, statements === 1 ? all + 1 : all)
      expect(await store.sweepVideoRequests(at + hour + 1, 100)).toBe(1)
      expect(await piecesOf(task.id)).toBe(0)
    }
  })
})
