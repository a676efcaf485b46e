import { type Clock, systemClock } from '../shared/clock.ts'
import { type ByteSource, streamFrom, type Write } from '../shared/http/body/byte-source.ts'
import { Heartbeat } from '../shared/http/body/heartbeat.ts'
import { checkAbove0 } from '../shared/plugin/options.ts'
import { FrameTransform, type FrameTransformOptions } from './frame-transform.ts'
import type { Frame } from './frames.ts'

import type { FrameReader } from './reader.ts'

/** The end of an upstream's stream. */
export type StreamEnd =
  /** The upstream closed the stream normally. */
  | { readonly kind: 'complete' }
  /**
   * The connection was reset or closed early, an event was too large, the upstream was silent for too long, or
   * `onFrame` threw.
   */
  | { readonly kind: 'broken'; readonly error: unknown }

/** Options of `relayFrames` and `relaySource`. */
export interface RelayOptions extends FrameTransformOptions {
  /**
   * Called once when the upstream's stream has ended. Returned bytes are appended after the last event, and the stream
   * closes normally.
   *
   * If it returns undefined, or by default, the stream ends like the upstream: it closes, or breaks with the same
   * error. An exception breaks it too.
   */
  readonly onEnd?: (end: StreamEnd) => Uint8Array | undefined | Promise<Uint8Array | undefined>
  /** Called once, instead of `onEnd`, when the client disconnects before the end. Its exceptions are ignored. */
  readonly onDisconnect?: () => void
  /** Aborts when the client disconnects. A cancellation of the stream has the same effect, also without a signal. */
  readonly signal?: AbortSignal
  /**
   * Milliseconds, above 0, without output to a waiting client, after which a heartbeat is sent. Default: no heartbeat.
   */
  readonly heartbeatMs?: number
  /**
   * Milliseconds, above 0, that a read from the upstream may take; then the upstream counts as broken. Default: no
   * limit.
   */
  readonly maxSilenceMs?: number
  /** Default: the system clock. */
  readonly clock?: Clock
}

/** Throws TypeError if a duration is not above 0: a heartbeat without a pause would never stop. */
export const checkTimes = ({ heartbeatMs, maxSilenceMs }: RelayOptions): void =>
  checkAbove0({ heartbeatMs, maxSilenceMs })

/**
 * Relays frames as a stream of bytes, unchanged unless `onFrame` replaces or drops them.
 *
 * It reads the upstream only when the client reads the stream, and cancels the upstream when the client cancels the
 * stream. It sends only complete frames, except for the rest of an upstream that closes normally. Throws TypeError if a
 * duration is not above 0.
 */
export const relayFrames = (reader: FrameReader, options: RelayOptions = {}): ReadableStream<Uint8Array> =>
  streamFrom(relaySource(reader, options))

/** Like `relayFrames`, as a byte source for a server that writes without a stream. */
export const relaySource = (reader: FrameReader, options: RelayOptions = {}): ByteSource => {
  checkTimes(options)
  return new FrameRelay(reader, options)
}

class FrameRelay implements ByteSource {
  readonly #reader: FrameReader
  readonly #options: RelayOptions
  readonly #clock: Clock
  readonly #transform: FrameTransform
  readonly #heartbeat: Heartbeat | undefined
  #write: Write = () => undefined
  /** A heartbeat that the client has not read yet. No second one is sent before. */
  #unreadBeat: Promise<unknown> | undefined
  #ended = false
  #disconnected = false
  #cancelSilenceTimer: (() => void) | undefined
  /** After the client's signal has aborted: rejects soon, unless the server cancels the stream first. */
  #abort: PromiseWithResolvers<void> | undefined
  #cancelAbortTimer: (() => void) | undefined

  constructor(reader: FrameReader, options: RelayOptions) {
    const { signal, heartbeatMs, clock = systemClock } = options
    this.#reader = reader
    this.#options = options
    this.#clock = clock
    this.#transform = new FrameTransform(options)
    if (heartbeatMs !== undefined) this.#heartbeat = new Heartbeat(clock, heartbeatMs, () => this.#beat())
    if (signal?.aborted) this.handleEvent()
    else signal?.addEventListener('abort', this, { once: true })
  }

  async writeTo(write: Write): Promise<void> {
    this.#write = write
    try {
      while (!this.#disconnected) {
        // An error discards unread bytes of the stream, so it is thrown only after the client has read the frames
        // before it.
        this.#transform.check()
        this.#heartbeat?.wait()
        const frames = await this.#next()
        this.#heartbeat?.rest()
        if (this.#disconnected) break
        const bytes = frames && this.#transform.pass(frames)
        if (bytes) {
          this.#heartbeat?.sent()
          const drained = write(bytes)
          if (drained) await drained
        }
        if (!frames) return await this.#end({ kind: 'complete' })
      }
    } catch (error) {
      if (!this.#disconnected) {
        if (this.#ended) throw error
        return await this.#end({ kind: 'broken', error })
      }
    }
    await this.#abort?.promise
  }

  async cancel(reason?: unknown): Promise<void> {
    this.#cancelAbortTimer?.()
    this.#abort?.resolve()
    await this.#disconnect(reason)
  }

  /** Reads the next frames. Without `maxSilenceMs` it adds no promise, for speed. */
  #next(): Promise<readonly Frame[] | undefined> {
    const next = this.#reader.next()
    const { maxSilenceMs } = this.#options
    if (maxSilenceMs === undefined) return next
    return new Promise<readonly Frame[] | undefined>((resolve, reject) => {
      const deadline = this.#clock.now() + maxSilenceMs
      this.#cancelSilenceTimer = this.#clock.at(deadline, () => reject(new Error(`no bytes for ${maxSilenceMs} ms`)))
      next.then(resolve, reject)
    }).finally(() => this.#cancelSilenceTimer?.())
  }

  #beat(): void {
    if (this.#unreadBeat) return
    const drained = this.#write(this.#transform.heartbeat())
    this.#unreadBeat = drained
    void drained?.then(() => {
      this.#unreadBeat = undefined
    })
  }

  async #end(end: StreamEnd): Promise<void> {
    this.#ended = true
    this.#heartbeat?.stop()
    if (end.kind === 'broken') void this.#reader.cancel(end.error)
    let last: Uint8Array | undefined
    try {
      last = await this.#options.onEnd?.(end)
    } finally {
      if (!this.#disconnected) this.#clearTimers()
    }
    if (this.#disconnected) return this.#abort?.promise
    if (last === undefined && end.kind === 'broken') throw end.error
    if (last && last.length > 0) this.#write(this.#transform.append(last))
  }

  async #disconnect(reason: unknown): Promise<void> {
    this.#clearTimers()
    if (this.#disconnected) return
    this.#disconnected = true
    try {
      if (!this.#ended) this.#options.onDisconnect?.()
    } catch {}
    await this.#reader.cancel(reason)
  }

  /** The client's signal has aborted. */
  handleEvent(): void {
    const reason: unknown = this.#options.signal?.reason
    void this.#disconnect(reason)
    const abort = Promise.withResolvers<void>()
    abort.promise.catch(() => {})
    this.#abort = abort
    // With a delay: the server cancels the stream soon after the abort, and would log an error that came before.
    this.#cancelAbortTimer = this.#clock.at(this.#clock.now(), () => abort.reject(reason))
  }

  #clearTimers(): void {
    this.#heartbeat?.stop()
    this.#cancelSilenceTimer?.()
    this.#options.signal?.removeEventListener('abort', this)
  }
}
