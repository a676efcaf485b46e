import type { Fetch } from '../../plugins/shared/upstream/upstream-error.ts'
import { type Database, isList, type Row, type Steps } from '../../src/store/database/database.ts'
import { type Statement, sql } from '../../src/store/database/statement.ts'
import type { Store } from '../../src/store/index.ts'
import type { GatewayParts } from './world/gateway.ts'

/** Changes the parts of which each gateway is made. `name` is that of the gateway. */
export type Fault = (parts: GatewayParts, name: string) => Partial<GatewayParts>

const inStore =
  (change: (store: Store, name: string) => Partial<Store>): Fault =>
  ({ store }, name) => ({ store: { ...store, ...change(store, name) } })

const inDatabase =
  (change: (database: Database) => Partial<Database>): Fault =>
  ({ database }) => ({ database: { ...database, ...change(database) } })

/** Calls that are made at the same time share one answer. */
const shared = <Values extends readonly unknown[], Answer>(call: (...values: Values) => Promise<Answer>) => {
  let running: Promise<Answer> | undefined
  return (...values: Values): Promise<Answer> => {
    running ??= call(...values).finally(() => {
      running = undefined
    })
    return running
  }
}

/** Runs each statement of a transaction by itself. */
const runApart = async <Result>(database: Database, steps: Steps<Result>): Promise<Result> => {
  let step = steps.next()
  while (!step.done) {
    const rows: Row[] = []
    for (const statement of isList(step.value) ? step.value : [step.value])
      rows.push(...(await database.query(statement)))
    step = steps.next(rows)
  }
  return step.value
}

const isEvent = ({ strings: [text = ''] }: Statement): boolean => /event_sequence|insert into events/.test(text)

function* withoutEvents<Result>(steps: Steps<Result>, events: Statement[]): Steps<Result> {
  let step = steps.next()
  while (!step.done) {
    const statements = isList(step.value) ? step.value : [step.value]
    events.push(...statements.filter(isEvent))
    step = steps.next(yield statements.filter((statement) => !isEvent(statement)))
  }
  return step.value
}

const sendAgain =
  (fetch: Fetch): Fetch =>
  (url, init) =>
    fetch(url, init).catch((error: { readonly code?: string }) => {
      if (error.code !== 'ECONNRESET') throw error
      return fetch(url, init)
    })

/** Defects that show only when requests, processes and failures meet. The simulation must find each. */
export const faults: Readonly<Record<string, Fault>> = {
  'a group is recorded after its creation only': inStore((store) => ({
    claim: async (wanted) => {
      const groups = await store.groupsOf(wanted.user, wanted.type)
      if (groups.some(({ name }) => name === wanted.name)) return undefined
      return { ...wanted, id: wanted.id ?? crypto.randomUUID(), state: 'pending' }
    },
  })),

  'a lost answer to the creation of a group counts as a failure': inStore((store) => ({
    postpone: (claim) => store.release(claim),
  })),

  'the name of a creation that failed stays reserved': inStore(() => ({ release: async () => {} })),

  'a process does not learn of the changes of others': inStore(() => ({ revision: (async () => 1) as never })),

  'claims of a killed process are forgotten': inStore(() => ({ lease: async () => [] })),

  'a new name is recorded before the upstream has it': inStore((store) => ({
    claim: async (wanted) => {
      const claim = await store.claim(wanted)
      if (claim?.renames !== undefined) await store.confirm(claim, { id: claim.renames, createdAt: claim.createdAt })
      return claim
    },
  })),

  'two requests rename a group at once': inDatabase((database) => {
    let isDropped = false
    return {
      query: async (statement, deadlineMs) => {
        if (!isDropped) await database.query(sql`drop index if exists one_renaming_a_group`)
        isDropped = true
        return database.query(statement, deadlineMs)
      },
    }
  }),

  'a request is sent again after a reset': ({ fetch }) => ({ fetch: sendAgain(fetch) }),

  'the statements of a batch take effect one by one': inDatabase((database) => ({
    batch: async (statements) => {
      const rows: Row[][] = []
      for (const statement of statements) rows.push(await database.query(statement))
      return rows
    },
  })),

  'the statements of a transaction take effect one by one': inDatabase((database) => ({
    transaction: (steps) => runApart(database, steps()),
  })),

  'an event is written after its transaction': inDatabase((database) => ({
    transaction: async (steps, deadlineMs) => {
      const events: Statement[] = []
      const result = await database.transaction(() => {
        events.length = 0
        return withoutEvents(steps(), events)
      }, deadlineMs)
      if (events.length > 0) await database.batch(events).catch(() => {})
      return result
    },
  })),

  'free slots are counted before a task takes one': inStore((store) => ({
    addVideoTask: async (task, limits, leaseUntil) => {
      if (!limits) return store.addVideoTask(task, limits, leaseUntil)
      const uses = await store.videoSlotUse()
      const running = uses.reduce((sum, use) => sum + use.running, 0)
      return store.addVideoTask(task, running < limits.running ? { running: 1_000 } : limits, leaseUntil)
    },
  })),

  'a lost answer to the creation of a video counts as a failure': inStore((store) => ({
    deferVideoClaim: async (claim) => void (await store.releaseVideoTask(claim, Date.now())),
  })),

  'a video is forgotten while the answer to its creation is lost': inStore((store) => ({
    deferVideoClaim: async (claim) => void (await store.dropVideoTask(claim)),
  })),

  'a waiting video is claimed twice': inStore((store) => {
    let last: Awaited<ReturnType<Store['claimVideoTask']>>
    return {
      claimVideoTask: async (...claim) => {
        const again = last
        last = undefined
        if (again) return again
        last = await store.claimVideoTask(...claim)
        return last
      },
    }
  }),

  'videos of a killed process are forgotten': inStore(() => ({ unsettledVideoTasks: async () => [] })),

  'waiting videos are sent only by the process that has accepted them': inStore((store) => {
    const pools = new Set<string>()
    return {
      addVideoTask: async (task, ...more) => {
        pools.add(task.model)
        return store.addVideoTask(task, ...more)
      },
      poolsWithWaiting: async (now) => (await store.poolsWithWaiting(now)).filter((pool) => pools.has(pool)),
    }
  }),

  'two lists at the same time share an answer': inStore((store) => ({ videoTasks: shared(store.videoTasks) })),

  'each process counts the use of limits for itself': ({ store }, name) => ({
    store: {
      ...store,
      limits: {
        ...store.limits,
        exchange: (exchange) =>
          store.limits.exchange({
            ...exchange,
            changes: exchange.changes.map((change) => ({
              ...change,
              counter: { ...change.counter, id: `${name} ${change.counter.id}` },
            })),
          }),
      },
    },
  }),

  'what a killed process has reserved stays reserved': ({ store }) => ({
    store: { ...store, limits: { ...store.limits, sweepLimits: async () => {} } },
  }),

  'a stream that is resumed starts with the newest event': inStore((store) => ({
    findEvent: () => store.newestEvent(),
  })),
}
