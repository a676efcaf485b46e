import { randomUUID } from 'node:crypto'
import type { Audit, AuditAction, AuditEvent } from '../../plugins/shared/audit.ts'
import { type BackgroundOption, backgroundOf } from '../../plugins/shared/background/background.ts'
import { type Clock, systemClock } from '../../plugins/shared/clock.ts'
import type { ClientAddressOf } from '../../plugins/shared/http/client-address.ts'
import { readId } from '../../plugins/shared/id.ts'
import { identityOf } from '../../plugins/shared/identity/identify.ts'
import { checkCollaborator } from '../../plugins/shared/plugin/options.ts'
import { type Log, noLog, Problem } from '../../plugins/shared/problem.ts'
import { isOfOneRow } from '../store/database/error.ts'
import type { NewAuditEntry, Store } from '../store/index.ts'
import { Reads } from './reads.ts'
import { Repetitions, type SortOfUser } from './repetitions.ts'

/** Options of `createAudit`. */
export interface AuditOptions {
  readonly store: Pick<Store, 'recordAudit' | 'sweepAudit'>
  /** How long entries are kept. Milliseconds. 0: no entry is written, and existing ones are deleted. */
  readonly keepMs: number
  /** Finds the client address of a request. */
  readonly addressOf: ClientAddressOf
  /** Deletes old entries, every hour. Undefined: this process does not. */
  readonly background?: BackgroundOption
  readonly clock?: Clock
  readonly log?: Log
}

/** The audit trail of a process. */
export interface AuditTrail extends Audit {
  /** Writes the waiting entries if the database is reachable. Later events are lost. */
  close(): Promise<void>
}

/**
 * How long noted entries are collected into one batch: a transaction costs more than its rows. A kill loses the entries
 * of this time.
 */
const batchMs = 50
const maxBatchEntries = 100
const retryMs = 1_000
/** Bound of the queue while the database is unreachable. Further events are lost, and counted. */
const maxWaiting = 10_000
const sweepEveryMs = 3_600_000
/** The start of a server has more urgent work. */
const firstSweepMs = 60_000
/** A removal verifies each entry: more would block SQLite for longer than 20 ms. */
const maxRowsPerSweep = 250
const maxNameCharacters = 256

/** Actions that a caller can cause with every request. */
const repeatable: ReadonlySet<AuditAction> = new Set([
  'session.fail',
  'session.lockout',
  'token.expire',
  'access.refuse',
  'limit.reach',
  'admin.read',
])

interface Waiting {
  readonly entry: NewAuditEntry
  /** Called when the entry is written, or with the error. */
  readonly done?: (error?: unknown) => void
}

/**
 * Creates the writer of the audit trail; one for each process. It writes entries in batches, in the order in which they
 * came. Throws TypeError for wrong options.
 *
 * @example
 * const audit = createAudit({ store, keepMs: 90 * 86_400_000, addressOf: () => undefined, background: true })
 * new Elysia().use(apiToken({ store, audit }))
 */
export const createAudit = ({
  store,
  keepMs,
  addressOf,
  background,
  clock = systemClock,
  log = noLog,
}: AuditOptions): AuditTrail => {
  checkCollaborator('store', store)
  if (typeof addressOf !== 'function') throw new TypeError('addressOf must be a function')
  if (!(keepMs >= 0)) throw new TypeError('keepMs must be a number from 0')
  let waiting: Waiting[] = []
  let writing: Promise<void> | undefined
  let cancelTimer: (() => void) | undefined
  let lost = 0
  let closed = false

  const entryOf = (event: AuditEvent, request: Request | undefined): NewAuditEntry => {
    const identity = request && identityOf(request)
    return {
      id: randomUUID(),
      at: clock.now(),
      ...sortOf(event, request),
      name: nameOf(event.name),
      token: storableOrUndefined(event.token ?? identity?.token),
      target: publicId(event.target?.id),
      address: storableOrUndefined(request && addressOf(request)),
      fields: event.fields,
      times: 1,
    }
  }

  const enqueue = (entry: NewAuditEntry, done?: Waiting['done']): void => {
    if (waiting.length >= maxWaiting || closed) {
      if (lost++ === 0) log.error({ waiting: waiting.length }, 'entries of the audit trail are being lost')
      done?.(new Error('the queue of the audit trail is full or closed'))
      return
    }
    waiting.push({ entry, done })
    if (done) write()
    else cancelTimer ??= clock.at(clock.now() + batchMs, write)
  }

  /** Two budgets: requests without a user cannot hide what users do. */
  const userRepetitions = new Repetitions({ clock, write: enqueue, maxPerMinute: 1_000 })
  const anonymousRepetitions = new Repetitions({ clock, write: enqueue, maxPerMinute: 100 })

  /** Of admins: repetitions of the same within a minute are counted. */
  const reads = new Reads({ clock, first: (entry) => userRepetitions.add(entry), rest: enqueue })

  const write = (): void => {
    cancelTimer?.()
    cancelTimer = undefined
    writing ??= writeAll().finally(() => {
      writing = undefined
      // Entries that came after the last check of the queue.
      if (waiting.length > 0 && !cancelTimer && !closed) write()
    })
  }

  /**
   * Writes entries. One that the database does not accept is lost, and the others are written. Rejects for every other
   * error.
   */
  const writeBatch = async (batch: readonly Waiting[]): Promise<void> => {
    try {
      await store.recordAudit(batch.map(({ entry }) => entry))
      for (const { done } of batch) done?.()
    } catch (err) {
      const [first, ...others] = batch
      if (!first || !isOfOneRow(err)) throw err
      if (others.length > 0) {
        const middle = Math.ceil(batch.length / 2)
        await writeBatch(batch.slice(0, middle))
        return writeBatch(batch.slice(middle))
      }
      log.error({ err, action: first.entry.action }, 'an entry of the audit trail cannot be written')
      lost++
      first.done?.(err)
    }
  }

  /** Writes until the queue is empty or a write fails. After a failure it retries later. */
  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, maxBatchEntries)
      try {
        await writeBatch(batch)
      } catch (err) {
        log.error({ err, waiting: waiting.length }, 'audit trail could not be written')
        // The entries stay in the queue, but their callers get the error now.
        for (const { done } of waiting) done?.(err)
        waiting = waiting.map(({ entry }) => ({ entry }))
        if (!closed) cancelTimer ??= clock.at(clock.now() + retryMs, write)
        return
      }
      waiting = waiting.slice(batch.length)
      if (waiting.length > 0) await yieldToEventLoop()
      if (lost > 0) {
        log.error({ lost }, 'entries of the audit trail have been lost')
        const times = lost
        lost = 0
        enqueue({ id: randomUUID(), at: clock.now(), action: 'audit.lose', times })
      }
    }
  }

  backgroundOf(background)?.repeat({
    ...{ everyMs: sweepEveryMs, firstMs: firstSweepMs, log },
    failure: 'old entries of the audit trail could not be removed',
    async run(signal) {
      const before = clock.now() - keepMs
      while (!signal.aborted && (await store.sweepAudit(before, maxRowsPerSweep)) === maxRowsPerSweep)
        await yieldToEventLoop()
      return sweepEveryMs
    },
  })

  return {
    note(event, request) {
      if (keepMs === 0) return
      const isRead = event.action === 'admin.read'
      const isRepeatable = repeatable.has(event.action)
      if (isRepeatable && !isRead && userRepetitions.repeat(sortOf(event, request))) return
      const entry = entryOf(event, request)
      if (!isRepeatable) enqueue(entry)
      else if (entry.user === undefined) anonymousRepetitions.add(entry)
      else if (isRead) reads.add(entry)
      else userRepetitions.add(entry)
    },
    async record(event, request) {
      if (keepMs === 0) return
      await new Promise<void>((resolve, reject) => {
        enqueue(entryOf(event, request), (error) => (error === undefined ? resolve() : reject(error)))
      }).catch((cause: unknown) => {
        throw new Problem(500, 'audit trail could not be written', { cause })
      })
    },
    async close() {
      reads.close()
      userRepetitions.close()
      anonymousRepetitions.close()
      write()
      closed = true
      await writing
      cancelTimer?.()
    },
  }
}

const sortOf = ({ action, user, target, status, reason }: AuditEvent, request: Request | undefined): SortOfUser => ({
  action,
  // A host app may use user ids that a database cannot store. The entry is then written without the id, so that its
  // batch does not fail.
  user: storableOrUndefined(user ?? (request && identityOf(request)?.user)),
  kind: target?.kind,
  status,
  reason,
})

/** SQLite runs synchronously: this lets requests run between two batches. */
const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/**
 * The id, unless it is malformed or contains what looks like a token: then a caller has sent a credential in the wrong
 * field.
 */
const publicId = (id: string | undefined): string | undefined => {
  const readable = id === undefined ? undefined : readId(id)
  return readable === undefined || /^sk-|sk-[a-z0-9]{20}/i.test(readable) ? undefined : readable
}

/** The name, unless it is longer than any user's name. */
const nameOf = (name: string | undefined): string | undefined =>
  name !== undefined && name.length <= maxNameCharacters ? storableOrUndefined(name) : undefined

const storableOrUndefined = (text: string | undefined): string | undefined =>
  text?.isWellFormed() && !text.includes('\0') ? text : undefined
