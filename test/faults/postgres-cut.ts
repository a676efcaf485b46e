import type { CutReader, CutResponse } from './fault-proxy.ts'

/** Where a connection to PostgreSQL is reset. What is not named passes. */
export const cutPositions = [
  /** In its next answer, also in that to its startup: nobody can connect. */
  'answer',
  /** Before the begin of a transaction. */
  'begin',
  /** Before a further statement of a transaction. */
  'transaction',
  /** In the answer to a statement outside of transactions that only reads. */
  'read',
  /** Before what makes a write last: a commit, or a statement outside of transactions that writes. It is lost. */
  'before-commit',
  /** The same, in the middle of its answer. */
  'in-commit',
  /** The same, before its answer: it has happened, and nobody knows. */
  'after-commit',
] as const

export type CutPosition = (typeof cutPositions)[number]

/** A statement that was sent, and whether it is in a transaction. */
interface Sent {
  readonly text: string
  readonly isInTransaction: boolean
}

const writes = /\b(?:insert\s+into|update\s+\S+\s+(?:as\s+\w+\s+)?set|delete\s+from)\b/i
const begins = /^\s*begin\b/i
const commits = /^\s*commit\b/i

const isLasting = ({ text, isInTransaction }: Sent): boolean =>
  commits.test(text) || (!isInTransaction && writes.test(text))

/** Which statements the positions mean. */
const meant: Readonly<Record<CutPosition, (sent: Sent) => boolean>> = {
  answer: () => false,
  begin: ({ text }) => begins.test(text),
  transaction: ({ text, isInTransaction }) => isInTransaction && !commits.test(text),
  read: ({ text, isInTransaction }) => !isInTransaction && !begins.test(text) && !writes.test(text),
  'before-commit': isLasting,
  'in-commit': isLasting,
  'after-commit': isLasting,
}

/** Positions at which the statement itself is not sent. */
const isBefore = (position: CutPosition): boolean => ['begin', 'transaction', 'before-commit'].includes(position)

/** A message of a client: its type, and what follows its length. */
interface Message {
  readonly type: string
  readonly content: Buffer
}

/**
 * Reads a connection of PostgreSQL (https://www.postgresql.org/docs/current/protocol-message-formats.html), and resets
 * it at a position. It has to see the connection from its begin, because statements are prepared once.
 */
export class PostgresCut implements CutReader<CutPosition> {
  cut: { readonly at: CutPosition; readonly every?: number } | undefined
  readonly #passed: { count: number }
  /** What has come of the next message. */
  #rest = Buffer.alloc(0)
  #hasStarted = false
  readonly #prepared = new Map<string, string>()
  #bound = ''
  #isInTransaction = false
  /** The last bytes of the server. */
  #tail = Buffer.alloc(0)
  /** Whether the answer to what a position means is expected. */
  #isAwaited = false

  /** @param passed the statements of all connections that a position has meant */
  constructor(passed: { count: number }) {
    this.#passed = passed
  }

  request(bytes: Buffer): boolean {
    let isCut = false
    for (const message of this.#messages(bytes)) {
      const text = this.#executed(message)
      if (text === undefined || !this.cut) continue
      const { at, every = 1 } = this.cut
      if (!meant[at]({ text, isInTransaction: this.#isInTransaction }) || ++this.#passed.count % every !== 0) continue
      if (isBefore(at)) isCut = true
      else this.#isAwaited = true
    }
    return isCut
  }

  response(bytes: Buffer): CutResponse | undefined {
    this.#tail = Buffer.concat([this.#tail, bytes]).subarray(-readyBytes)
    // ReadyForQuery has the state of the transaction.
    const isReady = this.#tail.length === readyBytes && this.#tail.toString('latin1', 0, 5) === 'Z\0\0\0\x05'
    if (isReady) this.#isInTransaction = this.#tail.at(-1) !== 'I'.charCodeAt(0)
    if (!this.cut || (this.cut.at !== 'answer' && !this.#isAwaited)) return undefined
    if (this.cut.at === 'after-commit') return { passed: 0, isCut: isReady }
    return { passed: Math.floor(bytes.length / 2), isCut: true }
  }

  *#messages(bytes: Buffer): Generator<Message> {
    this.#rest = Buffer.concat([this.#rest, bytes])
    for (;;) {
      // The first message has no type.
      const at = this.#hasStarted ? 1 : 0
      if (this.#rest.length < at + 4) return
      const end = at + this.#rest.readUInt32BE(at)
      if (this.#rest.length < end) return
      const message = { type: this.#rest.toString('latin1', 0, at), content: this.#rest.subarray(at + 4, end) }
      this.#hasStarted = true
      this.#rest = this.#rest.subarray(end)
      yield message
    }
  }

  /** The statement that a message asks to execute. */
  #executed({ type, content }: Message): string | undefined {
    const [first = '', second = ''] = content.toString('utf8').split('\0', 2)
    if (type === 'Q') return first
    if (type === 'P') this.#prepared.set(first, second)
    if (type === 'B') this.#bound = this.#prepared.get(second) ?? ''
    return type === 'E' ? this.#bound : undefined
  }
}

const readyBytes = 6
