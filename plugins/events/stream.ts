import { Buffer } from 'node:buffer'
import { nextTurn } from '../shared/background/turns.ts'
import type { Clock } from '../shared/clock.ts'
import type { ByteSource, Write } from '../shared/http/body/byte-source.ts'
import { Heartbeat } from '../shared/http/body/heartbeat.ts'
import type { Log } from '../shared/problem.ts'
import type { TypeFilter } from './filter.ts'
import { controlFrame, frameOf, heartbeatFrame } from './frames.ts'
import type { EventHub, EventListener, SentEvent } from './hub.ts'
import type { EventStore } from './store.ts'

/** Options of `EventStream`. */
export interface EventStreamOptions {
  readonly hub: Pick<EventHub, 'add' | 'delete'>
  readonly store: Pick<EventStore, 'eventsOf' | 'findEvent' | 'newestEventOf'>
  readonly clock: Clock
  readonly log: Log
  readonly user: string
  readonly wants: TypeFilter
  /** Id of the last event that the client has received. Undefined: the stream starts with what happens from now on. */
  readonly lastEventId: string | undefined
  readonly heartbeatMs: number
  /** Called once, when the stream has ended, for whatever reason. */
  readonly onEnd: () => void
}

/** The id of a stream's start for a user who has no event yet. */
export const startId = 'start'

/** After a lost connection, clients come back after this time. Milliseconds. */
const retryMs = 2_000
/** What waits in memory for a slow client. The rest waits in the store. */
const maxQueuedBytes = 65_536
const pageSize = 100

/**
 * The events of one user as a stream of bytes.
 *
 * A client that reads slowly, or that resumes, reads from the store, one page at a time; otherwise it receives what the
 * hub has read for all. The two never overlap and leave nothing out: `#position` is the last event that was sent or
 * left out.
 */
export class EventStream implements ByteSource, EventListener {
  readonly user: string
  readonly #options: EventStreamOptions
  readonly #heartbeat: Heartbeat
  #write: Write = () => undefined
  #queue: SentEvent[] = []
  #queuedBytes = 0
  #position = 0
  /** Whether events that the hub has passed on must be read from the store, and the number of the last one. */
  #behind = true
  #newest = 0
  /** The last event that the filter has left out after the last event that was sent. */
  #leftOut: string | undefined
  /** A heartbeat that the client has not read yet. No second one is sent before. */
  #unreadBeat: Promise<unknown> | undefined
  /** The first frame. */
  #first: Uint8Array = new Uint8Array()
  #wake: (() => void) | undefined
  #ended = false
  /** Why the server ends the stream. */
  #reason: string | undefined

  constructor(options: EventStreamOptions) {
    this.#options = options
    this.user = options.user
    this.#heartbeat = new Heartbeat(options.clock, options.heartbeatMs, () => this.#beat())
  }

  receive(event: SentEvent): void {
    this.#newest = event.sequence
    if (this.#behind || event.sequence <= this.#position) return
    if (this.#queuedBytes + event.frame.length > maxQueuedBytes) {
      this.#behind = true
      this.#clearQueue()
      this.#wake?.()
      return
    }
    this.#queue.push(event)
    this.#queuedBytes += event.frame.length
    this.#wake?.()
  }

  /**
   * Finds where the stream starts. Call it before the response, so that a failure of the store is an HTTP error.
   * Rejects when the store fails.
   */
  async open(): Promise<void> {
    try {
      this.#first = await this.#findStart()
    } catch (error) {
      this.#end()
      throw error
    }
  }

  async writeTo(write: Write): Promise<void> {
    this.#write = write
    try {
      await this.#send(this.#first)
      while (!this.#ended) {
        if (this.#behind) await this.#sendStored()
        else if (this.#queue.length > 0) await this.#sendQueued()
        else await this.#wait()
      }
    } catch (err) {
      this.#options.log.warn({ err }, 'events of a stream could not be read')
      this.end('events could not be read')
    }
    if (this.#reason === undefined) return
    write(controlFrame('stream.end', this.#options.clock.now(), { data: { reason: this.#reason }, retryMs }))
  }

  /** The client has disconnected. */
  async cancel(): Promise<void> {
    this.#end()
  }

  /** Ends the stream, and tells the client why. */
  end(reason: string): void {
    if (this.#ended) return
    this.#reason = reason
    this.#end()
  }

  async #findStart(): Promise<Uint8Array> {
    const { hub, store, clock, lastEventId } = this.#options
    const cursor = await hub.add(this)
    // Disconnected meanwhile: the hub must not keep the listener.
    if (this.#ended) hub.delete(this)
    const resumed = lastEventId === undefined ? cursor : await this.#find(lastEventId)
    if (resumed === undefined) {
      return controlFrame('stream.gap', clock.now(), { id: startId, data: { reason: goneReason }, retryMs })
    }
    this.#position = resumed
    const id = lastEventId ?? (await store.newestEventOf(this.user, cursor))?.id ?? startId
    return controlFrame('stream.start', clock.now(), { id, retryMs })
  }

  #find(id: string): Promise<number | undefined> {
    return id === startId ? Promise.resolve(0) : this.#options.store.findEvent(this.user, id)
  }

  async #sendStored(): Promise<void> {
    const { store, wants } = this.#options
    // A user may resume many streams at once, each with thousands of events.
    await nextTurn()
    if (this.#ended) return
    const newest = this.#newest
    const events = await store.eventsOf(this.user, this.#position, pageSize)
    const frames = events.filter(({ type }) => wants(type)).map(frameOf)
    const last = events.at(-1)
    if (last) this.#pass(last)
    if (frames.length > 0) await this.#send(Buffer.concat(frames))
    if (events.length === pageSize) return
    // All events up to `newest` were in the store before the query. Later ones are in the next page.
    this.#position = Math.max(this.#position, newest)
    this.#behind = this.#newest > this.#position
  }

  async #sendQueued(): Promise<void> {
    const { wants } = this.#options
    const queue = this.#queue
    this.#clearQueue()
    const frames: Uint8Array[] = []
    for (const event of queue) {
      this.#pass(event)
      if (wants(event.type)) frames.push(event.frame)
    }
    const [only] = frames
    if (only) await this.#send(frames.length === 1 ? only : Buffer.concat(frames))
  }

  #pass({ sequence, id, type }: Pick<SentEvent, 'sequence' | 'id' | 'type'>): void {
    this.#position = sequence
    this.#leftOut = this.#options.wants(type) ? undefined : id
  }

  async #send(bytes: Uint8Array): Promise<void> {
    if (this.#ended) return
    this.#heartbeat.sent()
    const drained = this.#write(bytes)
    if (drained) await drained
  }

  async #wait(): Promise<void> {
    this.#heartbeat.wait()
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    this.#wake = undefined
    this.#heartbeat.rest()
  }

  #beat(): void {
    if (this.#unreadBeat) return
    const id = this.#leftOut
    this.#leftOut = undefined
    const drained = this.#write(heartbeatFrame(id))
    this.#unreadBeat = drained
    void drained?.then(() => {
      this.#unreadBeat = undefined
    })
  }

  #clearQueue(): void {
    this.#queue = []
    this.#queuedBytes = 0
  }

  #end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#heartbeat.stop()
    this.#clearQueue()
    this.#options.hub.delete(this)
    this.#wake?.()
    this.#options.onEnd()
  }
}

const goneReason = 'the last event is not known any more: events may be missing'
