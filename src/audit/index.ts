import { randomUUID } from 'node:crypto'
import type { AddressOf } from '../../plugins/shared/address.ts'
import type { Audit, AuditAction, AuditEvent } from '../../plugins/shared/audit.ts'
import { type Clock, systemClock } from '../../plugins/shared/clock.ts'
import { readId } from '../../plugins/shared/id.ts'
import { identityOf } from '../../plugins/shared/identify.ts'
import { type Log, Problem, silent } from '../../plugins/shared/problem.ts'
import type { NewAuditEntry, Store } from '../store/index.ts'
import { Repetitions } from './repetitions.ts'

export interface AuditOptions {
  readonly store: Pick<Store, 'recordAudit' | 'sweepAudit'>
  /** How long entries are kept. Milliseconds; 0: none is written, and those from before are removed. */
  readonly keepMs: number
  /** Where requests come from. */
  readonly addressOf: AddressOf
  readonly clock?: Clock
  readonly log?: Log
}

export interface AuditTrail extends Audit {
  /** Writes what has not been written yet, as far as the store takes it. Later events are lost. */
  close(): Promise<void>
}

/** What is noted waits so long for company: a transaction costs more than its rows. It is also what a kill loses. */
const batchMs = 50
const mostInABatch = 100
const retryMs = 1_000
/** While the store does not answer. Further events are lost, and counted. */
const mostWaiting = 10_000
const sweepEveryMs = 3_600_000
const firstSweepMs = 60_000
const mostSweptAtOnce = 1_000
const mostCharacters = 256

/** What somebody can bring about as often as there are requests. */
const repeatable: ReadonlySet<AuditAction> = new Set([
  'session.fail',
  'session.lockout',
  'token.expire',
  'access.refuse',
  'limit.reach',
])

interface Waiting {
  readonly entry: NewAuditEntry
  /** Whoever waits for it. */
  readonly settle?: (error?: unknown) => void
}

/** The audit trail in a store: one writer for each process. Entries that are noted are written together, in the order in which they came. */
export const createAudit = ({
  store,
  keepMs,
  addressOf,
  clock = systemClock,
  log = silent,
}: AuditOptions): AuditTrail => {
  let waiting: Waiting[] = []
  let writing: Promise<void> | undefined
  let callOff: (() => void) | undefined
  let lost = 0
  let closed = false

  const entryOf = (event: AuditEvent, request: Request | undefined): NewAuditEntry => {
    const identity = request && identityOf(request)
    return {
      id: randomUUID(),
      at: clock.now(),
      action: event.action,
      // A host app's users may be called what no database keeps: the entry is kept without it, and stops nobody's.
      user: storable(event.user ?? identity?.user),
      name: nameOf(event.name),
      token: storable(event.token ?? identity?.token),
      kind: event.target?.kind,
      target: publicId(event.target?.id),
      address: storable(request && addressOf(request)),
      status: event.status,
      reason: event.reason,
      times: 1,
    }
  }

  const put = (entry: NewAuditEntry, settle?: Waiting['settle']): void => {
    if (waiting.length >= mostWaiting || closed) {
      if (lost++ === 0) log.error({ waiting: waiting.length }, 'entries of the audit trail are being lost')
      settle?.(new Error('the audit trail takes nothing more'))
      return
    }
    waiting.push({ entry, settle })
    if (settle) write()
    else callOff ??= clock.at(clock.now() + batchMs, write)
  }

  /** Apart, so that no number of strangers hides what users do. */
  const ofUsers = new Repetitions({ clock, put, mostPerMinute: 1_000 })
  const ofStrangers = new Repetitions({ clock, put, mostPerMinute: 100 })

  const write = (): void => {
    callOff?.()
    callOff = undefined
    writing ??= drain().finally(() => {
      writing = undefined
      // Put after the last look.
      if (waiting.length > 0 && !callOff && !closed) write()
    })
  }

  /** Until nothing waits, or the store does not answer: then it is asked again later. */
  const drain = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, mostInABatch)
      try {
        await store.recordAudit(batch.map(({ entry }) => entry))
      } catch (err) {
        log.error({ err, waiting: waiting.length }, 'audit trail could not be written')
        // They stay, and are written all the same; but nobody is kept waiting for that.
        for (const { settle } of waiting) settle?.(err)
        waiting = waiting.map(({ entry }) => ({ entry }))
        if (!closed) callOff ??= clock.at(clock.now() + retryMs, write)
        return
      }
      waiting = waiting.slice(batch.length)
      for (const { settle } of batch) settle?.()
      if (waiting.length > 0) await turnOfOthers()
      if (lost > 0) {
        log.error({ lost }, 'entries of the audit trail have been lost')
        const times = lost
        lost = 0
        put({ id: randomUUID(), at: clock.now(), action: 'audit.lose', times })
      }
    }
  }

  let stopSweeping: () => void
  const sweep = async (): Promise<void> => {
    const before = clock.now() - keepMs
    while (!closed && (await store.sweepAudit(before, mostSweptAtOnce)) === mostSweptAtOnce) await turnOfOthers()
  }
  const sweepRegularly = (): void => {
    void sweep().catch((err: unknown) => log.warn({ err }, 'old entries of the audit trail could not be removed'))
    stopSweeping = clock.at(clock.now() + sweepEveryMs, sweepRegularly)
  }
  stopSweeping = clock.at(clock.now() + firstSweepMs, sweepRegularly)

  return {
    note(event, request) {
      if (keepMs === 0) return
      const entry = entryOf(event, request)
      if (!repeatable.has(event.action)) put(entry)
      else if (entry.user === undefined) ofStrangers.add(entry)
      else ofUsers.add(entry)
    },
    async record(event, request) {
      if (keepMs === 0) return
      await new Promise<void>((resolve, reject) => {
        put(entryOf(event, request), (error) => (error === undefined ? resolve() : reject(error)))
      }).catch((cause: unknown) => {
        throw new Problem(500, 'audit trail could not be written', { cause })
      })
    },
    async close() {
      stopSweeping()
      ofUsers.close()
      ofStrangers.close()
      write()
      closed = true
      await writing
      callOff?.()
    },
  }
}

/** SQLite works within the call: requests have their turn between one batch and the next. */
const turnOfOthers = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** An id that can be one. Not what holds something like a token: somebody put it into the wrong place. */
const publicId = (id: string | undefined): string | undefined => {
  const readable = id === undefined ? undefined : readId(id)
  return readable === undefined || /^sk-|sk-[a-z0-9]{20}/i.test(readable) ? undefined : readable
}

/** Longer than anybody's name is nobody's. */
const nameOf = (name: string | undefined): string | undefined =>
  name !== undefined && name.length <= mostCharacters ? storable(name) : undefined

const storable = (text: string | undefined): string | undefined =>
  text?.isWellFormed() && !text.includes('\0') ? text : undefined
