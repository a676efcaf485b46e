import type { Clock } from '../shared/clock.ts'
import type { Log } from '../shared/problem.ts'
import { frameOf } from './frames.ts'
import type { EventStore, StoredEvent } from './store.ts'

/** An event for a stream. All streams of its user share the frame. */
export interface SentEvent extends Pick<StoredEvent, 'sequence' | 'id' | 'type'> {
  readonly frame: Uint8Array
}

/** Receives the new events of one user. */
export interface EventListener {
  readonly user: string
  receive(event: SentEvent): void
}

/** Options of `EventHub`. */
export interface EventHubOptions {
  readonly store: Pick<EventStore, 'newestEvent' | 'eventsAfter' | 'onEvents'>
  readonly clock: Clock
  readonly log: Log
  /** Milliseconds between two queries. */
  readonly everyMs: number
}

const maxRows = 500
/** Events of this process are read soon, not at once: one query for all that are committed meanwhile. */
const soonMs = 20

/**
 * Reads the new events of all users, for all listeners of this process: one query each time, whatever their number.
 *
 * It reads only while it has listeners. Events that this process has committed are read soon, those of others at the
 * next regular time.
 */
export class EventHub {
  readonly #options: EventHubOptions
  readonly #listeners = new Map<string, Set<EventListener>>()
  /** Number of the last event that has been read. Undefined: nobody listens. */
  #cursor: number | undefined
  #starting: Promise<number> | undefined
  #reading = false
  /** Whether this process has committed an event during the query, which may be too old for it. */
  #soon = false
  #cancelTimer: (() => void) | undefined
  #dueAt = Number.POSITIVE_INFINITY
  #failing = false

  constructor(options: EventHubOptions) {
    this.#options = options
    options.store.onEvents(() => {
      if (this.#cursor !== undefined) this.#schedule(soonMs)
    })
  }

  /** Number of listeners. */
  get size(): number {
    let size = 0
    for (const { size: own } of this.#listeners.values()) size += own
    return size
  }

  /**
   * Adds a listener. Resolves with the number of the last event that it will not receive.
   *
   * Rejects when the store is unavailable. Then the listener is not added.
   */
  async add(listener: EventListener): Promise<number> {
    const listeners = this.#listeners.get(listener.user) ?? new Set()
    listeners.add(listener)
    this.#listeners.set(listener.user, listeners)
    if (this.#cursor !== undefined) return this.#cursor
    try {
      this.#starting ??= this.#options.store.newestEvent().finally(() => {
        this.#starting = undefined
      })
      const newest = await this.#starting
      if (this.#cursor === undefined && this.#listeners.size > 0) {
        this.#cursor = newest
        this.#schedule(this.#options.everyMs)
      }
      return this.#cursor ?? newest
    } catch (error) {
      this.delete(listener)
      throw error
    }
  }

  delete(listener: EventListener): void {
    const listeners = this.#listeners.get(listener.user)
    listeners?.delete(listener)
    if (listeners?.size === 0) this.#listeners.delete(listener.user)
    if (this.#listeners.size > 0) return
    this.#cursor = undefined
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#dueAt = Number.POSITIVE_INFINITY
  }

  /** Reads after `ms` milliseconds, unless that is due sooner. */
  #schedule(ms: number): void {
    const { clock } = this.#options
    const at = clock.now() + ms
    if (this.#reading) this.#soon ||= ms === soonMs
    if (this.#reading || at >= this.#dueAt) return
    this.#cancelTimer?.()
    this.#dueAt = at
    this.#cancelTimer = clock.at(at, () => void this.#read())
  }

  async #read(): Promise<void> {
    const { store, log, everyMs } = this.#options
    this.#dueAt = Number.POSITIVE_INFINITY
    this.#reading = true
    try {
      for (let more = true; more && this.#cursor !== undefined; ) {
        const before = this.#cursor
        const events = await store.eventsAfter(before, maxRows)
        // All listeners may have left meanwhile, and others may have come, who start at another number.
        if (this.#cursor !== before) break
        for (const event of events) this.#send(event)
        this.#cursor = events.at(-1)?.sequence ?? before
        more = events.length === maxRows
      }
      this.#failing = false
    } catch (err) {
      if (!this.#failing) log.warn({ err }, 'events could not be read')
      this.#failing = true
    } finally {
      this.#reading = false
    }
    if (this.#cursor !== undefined) this.#schedule(this.#soon ? soonMs : everyMs)
    this.#soon = false
  }

  #send(event: StoredEvent): void {
    const listeners = this.#listeners.get(event.user)
    if (!listeners) return
    const { sequence, id, type } = event
    try {
      const sent: SentEvent = { sequence, id, type, frame: frameOf(event) }
      for (const listener of listeners) listener.receive(sent)
    } catch (err) {
      // Else all streams of this process would read it again and again.
      this.#options.log.warn({ err, event: id, user: event.user }, 'an event could not be sent')
    }
  }
}
