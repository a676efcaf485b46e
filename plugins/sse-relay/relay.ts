import { type ByteSource, streamFrom, type Write } from '../shared/byte-source.ts'
import { type Clock, systemClock } from '../shared/clock.ts'
import { FrameTransform } from './frame-transform.ts'
import type { Frame } from './frames.ts'
import { Heartbeat } from './heartbeat.ts'
import type { FrameReader } from './reader.ts'

/** How an upstream's stream ended. */
export type StreamEnd =
  /** It was closed properly. */
  | { readonly kind: 'complete' }
  /** It was reset or cut, an event was too large, it was silent for too long, or `onFrame` threw. */
  | { readonly kind: 'broken'; readonly error: unknown }

export interface RelayOptions {
  /**
   * Told of every frame in order, before it is passed on, except the rest of a line end, which goes where its beginning went. Undefined: passed as it is; bytes: these instead, which should end where nothing is half said; null:
   * dropped. What it throws is the error of a broken end.
   */
  readonly onFrame?: (frame: Frame) => Uint8Array | null | undefined
  /**
   * Told once how the upstream ended. What it gives is appended, at the end of an event, and the stream closes. If it gives undefined, or is absent, the stream
   * ends as the upstream did: it closes, or breaks with the same error. What it throws breaks the stream too.
   */
  readonly onEnd?: (end: StreamEnd) => Uint8Array | undefined | Promise<Uint8Array | undefined>
  /** Called once, instead of `onEnd`, when the client left before the end. It cannot fail: what it throws is ignored. */
  readonly onDisconnect?: () => void
  /** The client's, if it has one: where it aborts, the client has left. A cancelled stream means the same, without any signal. */
  readonly signal?: AbortSignal
  /** More than 0. Milliseconds in which the client, waiting, heard nothing until a comment is sent to it. Default: none is sent. */
  readonly heartbeatMs?: number
  /** More than 0. Milliseconds in which the upstream, asked, sent not a byte until it counts as broken. Default: any time. */
  readonly maxSilenceMs?: number
  /** Default the system's. */
  readonly clock?: Clock
}

/** Throws RangeError for times that make no sense: a heartbeat without a pause would go on without end. */
export const checkTimes = ({ heartbeatMs, maxSilenceMs }: RelayOptions): void => {
  for (const [name, ms] of Object.entries({ heartbeatMs, maxSilenceMs })) {
    if (ms !== undefined && !(ms > 0)) throw new RangeError(`${name} must be more than 0`)
  }
}

/**
 * Frames as a stream of bytes, byte for byte where `onFrame` does not say otherwise. The upstream is read when the stream is, and given up when the stream is
 * cancelled, whatever it is at. Only whole frames are passed on, except for what is left when an upstream closes properly.
 */
export const relayFrames = (reader: FrameReader, options: RelayOptions = {}): ReadableStream<Uint8Array> =>
  streamFrom(relaySource(reader, options))

/** The same, as bytes for whoever writes them. */
export const relaySource = (reader: FrameReader, options: RelayOptions = {}): ByteSource => {
  checkTimes(options)
  return new FrameRelay(reader, options)
}

class FrameRelay implements ByteSource {
  readonly #reader: FrameReader
  readonly #options: RelayOptions
  readonly #clock: Clock
  readonly #passage: FrameTransform
  readonly #heartbeat: Heartbeat | undefined
  #write: Write = () => undefined
  /** A heartbeat that has not been taken yet: one is enough. */
  #untaken: Promise<unknown> | undefined
  #ended = false
  #left = false
  #endSilence: (() => void) | undefined
  /** Of a client that is lost: rejects in a moment, unless it cancels first. */
  #lost: PromiseWithResolvers<void> | undefined
  #spare: (() => void) | undefined

  constructor(reader: FrameReader, options: RelayOptions) {
    const { signal, heartbeatMs, clock = systemClock } = options
    this.#reader = reader
    this.#options = options
    this.#clock = clock
    this.#passage = new FrameTransform(options)
    if (heartbeatMs !== undefined) this.#heartbeat = new Heartbeat(clock, heartbeatMs, () => this.#beat())
    if (signal?.aborted) this.handleEvent()
    else signal?.addEventListener('abort', this, { once: true })
  }

  async writeTo(write: Write): Promise<void> {
    this.#write = write
    try {
      while (!this.#left) {
        // What breaks is said when all that came before it has been taken: an error throws away what has not.
        this.#passage.check()
        this.#heartbeat?.wait()
        const frames = await this.#next()
        this.#heartbeat?.rest()
        if (this.#left) break
        const bytes = frames && this.#passage.pass(frames)
        if (bytes) {
          this.#heartbeat?.said()
          const taken = write(bytes)
          if (taken) await taken
        }
        if (!frames) return await this.#end({ kind: 'complete' })
      }
    } catch (error) {
      if (!this.#left) {
        if (this.#ended) throw error
        return await this.#end({ kind: 'broken', error })
      }
    }
    await this.#lost?.promise
  }

  async cancel(reason?: unknown): Promise<void> {
    this.#spare?.()
    this.#lost?.resolve()
    await this.#leave(reason)
  }

  /** Without a limit to silence, nothing is put between this and the upstream. */
  #next(): Promise<readonly Frame[] | undefined> {
    const next = this.#reader.next()
    const { maxSilenceMs } = this.#options
    if (maxSilenceMs === undefined) return next
    return new Promise<readonly Frame[] | undefined>((resolve, reject) => {
      const at = this.#clock.now() + maxSilenceMs
      this.#endSilence = this.#clock.at(at, () => reject(new Error(`not a byte for ${maxSilenceMs} ms`)))
      next.then(resolve, reject)
    }).finally(() => this.#endSilence?.())
  }

  #beat(): void {
    if (this.#untaken) return
    const taken = this.#write(this.#passage.comment())
    this.#untaken = taken
    void taken?.then(() => {
      this.#untaken = undefined
    })
  }

  async #end(how: StreamEnd): Promise<void> {
    this.#ended = true
    this.#heartbeat?.stop()
    if (how.kind === 'broken') void this.#reader.cancel(how.error)
    let last: Uint8Array | undefined
    try {
      last = await this.#options.onEnd?.(how)
    } finally {
      if (!this.#left) this.#settle()
    }
    if (this.#left) return this.#lost?.promise
    if (last === undefined && how.kind === 'broken') throw how.error
    if (last && last.length > 0) this.#write(this.#passage.append(last))
  }

  async #leave(reason: unknown): Promise<void> {
    this.#settle()
    if (this.#left) return
    this.#left = true
    try {
      if (!this.#ended) this.#options.onDisconnect?.()
    } catch {}
    await this.#reader.cancel(reason)
  }

  /** The client's signal has aborted. */
  handleEvent(): void {
    const reason: unknown = this.#options.signal?.reason
    void this.#leave(reason)
    const lost = Promise.withResolvers<void>()
    lost.promise.catch(() => {})
    this.#lost = lost
    // Not at once: a server that knows of it cancels in a moment, and would report an error that came before.
    this.#spare = this.#clock.at(this.#clock.now(), () => lost.reject(reason))
  }

  #settle(): void {
    this.#heartbeat?.stop()
    this.#endSilence?.()
    this.#options.signal?.removeEventListener('abort', this)
  }
}
