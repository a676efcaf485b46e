import { Buffer } from 'node:buffer'
import type { Problem } from '../../shared/problem.ts'
import { TextProblem } from '../protocol/problem.ts'

export interface ArrivalsOptions {
  /** Bytes of all messages that have arrived and are not released. */
  readonly maxBytes: number
  /** Counts these bytes anew after each change. Throws Problem when they are above a limit of the user. */
  readonly count: () => void
  /** Called before a message is read. The promise resolves with Problem if it must not be read. */
  readonly takeTurn: () => Promise<Problem | undefined> | undefined
  /** Reads a message, whose bytes count until they are released. Must not reject. */
  readonly read: (text: string, bytes: number) => Promise<void>
  /** Called with why a message is not accepted, when it would be read. */
  readonly reject: (problem: unknown) => void
}

/** A message, or why it is not accepted. */
type Arrival =
  | { readonly text: string; readonly bytes: number }
  | { readonly text?: undefined; readonly problem: unknown }

/**
 * Messages that one connection may have waiting before they are read. Further ones close it: a server passes on all
 * messages that have arrived, and tiny ones are many.
 */
export const maxUnread = 1_024
/** Maximum time from the first byte of a message to its last. */
const maxMessageMs = 120_000

/** The messages of a connection: they are read one after the other, and count as requests of a turn. */
export class Arrivals {
  readonly #options: ArrivalsOptions
  #unread: Arrival[] = []
  #isReading = false
  #bytes = 0
  /** Bytes of the message that is arriving, and since when. */
  #partBytes = 0
  #partSince = 0

  constructor(options: ArrivalsOptions) {
    this.#options = options
  }

  /** Bytes of the messages that are not released, and of the one that is arriving. */
  get bytes(): number {
    return this.#bytes + this.#partBytes
  }

  /** Whether no further message may wait. */
  get isFull(): boolean {
    return this.#unread.length === maxUnread
  }

  /** @param text undefined for a message that is not a text */
  add(text: string | undefined): void {
    this.#unread.push(this.#receive(text))
    if (!this.#isReading) void this.#readAll()
  }

  /** @param bytes of the message that is arriving; 0 when it is complete. Throws what `count` throws. */
  arriving(bytes: number, now: number): void {
    if (this.#partBytes === 0) this.#partSince = now
    this.#partBytes = bytes
    this.#options.count()
  }

  /** Whether the message that is arriving takes too long. */
  isLate(now: number): boolean {
    return this.#partBytes > 0 && now - this.#partSince > maxMessageMs
  }

  /** Ends the counting of a message that was read. Throws what `count` throws. */
  release(bytes: number): void {
    this.#bytes -= bytes
    this.#options.count()
  }

  /** Forgets all messages that are not read yet. */
  clear(): void {
    this.#unread = []
  }

  /** Counts the bytes of a message, unless it has a problem. */
  #receive(text: string | undefined): Arrival {
    const bytes = text === undefined ? 0 : Buffer.byteLength(text)
    const problem = this.#problemOf(text, bytes)
    if (text === undefined || problem) return { problem }
    this.#bytes += bytes
    try {
      this.#options.count()
      return { text, bytes }
    } catch (error) {
      this.release(bytes)
      return { problem: error }
    }
  }

  #problemOf(text: string | undefined, bytes: number): TextProblem | undefined {
    const { maxBytes } = this.#options
    if (text === undefined) return new TextProblem(400, 'message must be a text')
    if (bytes > maxBytes) return new TextProblem(413, 'message is too large')
    return this.#bytes + bytes > maxBytes ? tooManyMessages() : undefined
  }

  async #readAll(): Promise<void> {
    const { takeTurn, read, reject } = this.#options
    this.#isReading = true
    for (let next = this.#unread[0]; next; next = this.#unread[0]) {
      const refusal = await takeTurn()
      if (next.text === undefined) reject(next.problem)
      else if (refusal) {
        reject(refusal)
        this.release(next.bytes)
      } else await read(next.text, next.bytes)
      this.#unread.shift()
    }
    this.#isReading = false
  }
}

export const tooManyMessages = () => new TextProblem(429, 'too many messages at once')
export const tooSlow = () => new TextProblem(408, 'the message did not arrive in time')
