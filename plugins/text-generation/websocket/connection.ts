import {
  type HandleRequest,
  maxWebSocketTextBytes,
  type WebSocketAcceptance,
  type WebSocketConnection,
  type WebSocketListener,
} from '../../shared/http/web-socket.ts'
import { notAuthenticated } from '../../shared/identity/identify.ts'
import { composeInTurns, type Json } from '../../shared/json/json.ts'
import { Problem } from '../../shared/problem.ts'
import { TextProblem } from '../protocol/problem.ts'
import { shortStringOf } from '../protocol/validation.ts'
import { Arrivals, tooManyMessages, tooSlow } from './arrivals.ts'
import type { ResponsesConnectionOptions } from './connection-options.ts'
import { errorEventOf, errorEventOfResponse, messageOf, relayEvents } from './events.ts'
import { Lanes } from './lanes.ts'
import { Memory, outputItemsOf, requestBodyOf } from './memory.ts'
import {
  type CreateMessage,
  isSteering,
  parseMessage,
  readCreateMessage,
  readStreamId,
  steeringFailed,
} from './message.ts'
import { preparedResponse } from './prepared-response.ts'

/** A connection ends after this time, as in OpenAI's WebSocket mode. */
const maxAgeMs = 60 * 60_000
/**
 * A server opens an accepted connection at once. If it never does, because the host has replaced the response, nothing
 * else would end the counting.
 */
const maxOpeningMs = 30_000
const pingEveryMs = 30_000
/** Silence after which the peer counts as gone. A live one answers pings. */
const maxSilenceMs = 90_000
/** Maximum time for the closing handshake. */
const maxClosingMs = 5_000

/**
 * One WebSocket connection: each `response.create` message becomes an HTTP request, and each event of the response a
 * message.
 */
export class ResponsesConnection implements WebSocketAcceptance, WebSocketListener {
  readonly maxMessageBytes: number
  readonly #options: ResponsesConnectionOptions
  readonly #openedAt: number
  readonly #closed = new AbortController()
  readonly #memory: Memory
  readonly #arrivals: Arrivals
  readonly #lanes = new Lanes<Queued>(
    (queued) => this.#respond(queued),
    () => this.#closeIfEnded(),
  )
  readonly #unwatchCredential: (() => void) | undefined
  #connection: WebSocketConnection | undefined
  #handle: HandleRequest | undefined
  #cancelTimer: () => void
  #heardAt: number
  /** Whether the peer has not read enough since the last message outside of a response. */
  #isBlocked = false
  /** Set when no further message is accepted: the connection closes after the responses in flight. */
  #ending: Ending | undefined

  constructor(options: ResponsesConnectionOptions) {
    const { clock, inFlight, maxBodyBytes, whenRevoked } = options
    this.#options = options
    const maxBytes = Math.min(maxBodyBytes, maxWebSocketTextBytes)
    // Somewhat longer messages get an error with status 413.
    this.maxMessageBytes = maxBytes + 2 ** 20
    this.#arrivals = new Arrivals({
      maxBytes,
      count: () => this.#count(),
      takeTurn: this.#takeTurn,
      read: (text, bytes) => this.#read(text, bytes),
      reject: (problem) => this.#sendProblem(problem),
    })
    this.#memory = new Memory(maxBodyBytes)
    this.#openedAt = clock.now()
    this.#heardAt = this.#openedAt
    inFlight?.streaming()
    this.#cancelTimer = clock.at(this.#openedAt + maxOpeningMs, () => this.onClose())
    this.#unwatchCredential = whenRevoked?.(() => this.#closeNow(notAuthenticated(), 1008))
  }

  readonly onOpen = (connection: WebSocketConnection, handle: HandleRequest): WebSocketListener => {
    this.#connection = connection
    this.#handle = handle
    this.#cancelTimer()
    if (this.#closed.signal.aborted) connection.terminate()
    else this.#checkLater()
    return this
  }

  onMessage(text: string | undefined): void {
    this.#heardAt = this.#options.clock.now()
    if (this.#closed.signal.aborted) return
    if (this.#arrivals.isFull) this.#closeNow(tooManyMessages(), 1008)
    else this.#arrivals.add(text)
  }

  onPart(bytes: number): void {
    if (this.#closed.signal.aborted) return
    // A long message can take longer than a peer may be silent, which cannot answer a ping within a frame.
    this.#heardAt = this.#options.clock.now()
    try {
      this.#arrivals.arriving(bytes, this.#heardAt)
    } catch (error) {
      this.#closeNow(error, 1013)
    }
  }

  onPong(): void {
    this.#heardAt = this.#options.clock.now()
  }

  onClose(): void {
    if (this.#closed.signal.aborted) return
    this.#closed.abort()
    this.#cancelTimer()
    this.#unwatchCredential?.()
    this.#arrivals.clear()
    this.#lanes.clear()
    this.#memory.clear()
    this.#options.inFlight?.sent()
    this.#options.inFlight?.streamed()
  }

  onStop(): void {
    this.#end({ problem: new TextProblem(503, 'the server stops; connect again'), code: 1001 })
  }

  async #read(text: string, bytes: number): Promise<void> {
    let streamId: string | undefined
    try {
      const json = await parseMessage(text)
      streamId = readStreamId(json)
      if (!this.#accepts(json, streamId)) return this.#arrivals.release(bytes)
      const message = readCreateMessage(json, streamId)
      this.#lanes.add(streamId, { message, bytes })
    } catch (error) {
      this.#arrivals.release(bytes)
      this.#sendProblem(error, streamId)
    }
  }

  /** Whether a message is to be answered by a response. Throws TextProblem. */
  #accepts(json: Json, streamId: string | undefined): boolean {
    const type = shortStringOf(json.get('type'))
    // Codex reports that it has read a response.
    if (type === 'response.processed') return false
    if (isSteering(type)) {
      this.#sendAside(messageOf(steeringFailed(json), streamId))
      return false
    }
    if (type !== 'response.create') throw new TextProblem(400, 'type must be response.create', { param: 'type' })
    if (this.#ending) throw this.#ending.problem
    return true
  }

  async #respond({ message, bytes }: Queued): Promise<void> {
    const { streamId, generates, stores } = message
    const { signal } = this.#closed
    this.#arrivals.release(bytes)
    const refusal = await this.#takeTurn()
    try {
      if (refusal) throw refusal
      const conversation = this.#memory.fullInputOf(message)
      const body = requestBodyOf(message, conversation)
      if (!generates) {
        const { id, events } = preparedResponse(body, this.#options.clock)
        this.#remember(streamId, id, conversation)
        for (const event of events) await this.#connection?.send(messageOf(event, streamId))
        return
      }
      const request = this.#options.requestFor(await composeInTurns(body), signal)
      const response = await this.#handle?.(request)
      if (!response || signal.aborted) return void response?.body?.cancel().catch(() => {})
      if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
        return void (await this.#connection?.send(messageOf(await errorEventOfResponse(response), streamId)))
      }
      const send = (event: string) => this.#connection?.send(messageOf(event, streamId))
      const complete = await relayEvents(response, { send, signal })
      const id = complete?.get('id')?.string()
      if (complete && id !== undefined && !stores)
        this.#remember(streamId, id, { ...conversation, items: [...conversation.items, ...outputItemsOf(complete)] })
    } catch (error) {
      this.#sendProblem(error, streamId)
    }
  }

  /** Above the limit of the user, all conversations are forgotten. */
  #remember(...args: Parameters<Memory['remember']>): void {
    this.#memory.remember(...args)
    try {
      this.#count()
    } catch {
      this.#memory.clear()
      this.#count()
    }
  }

  /**
   * Counts the conversations and the messages that wait or arrive among the bytes of the user. Throws Problem 429 or
   * 503 above the limit; then none of them count.
   */
  #count(): void {
    // Nothing would end the counting after the connection.
    if (this.#closed.signal.aborted) return
    const { inFlight } = this.#options
    inFlight?.sent()
    inFlight?.sending(this.#memory.length + this.#arrivals.bytes)
  }

  #sendProblem(error: unknown, streamId?: string): void {
    if (this.#closed.signal.aborted) return
    if (!(error instanceof Problem)) this.#options.log.error({ err: error }, 'unexpected error')
    const problem = error instanceof Problem ? error : new Problem(500, 'internal error')
    this.#sendAside(messageOf(errorEventOf(problem), streamId))
  }

  /**
   * Sends a message outside of a response. A peer that sends messages, and does not read what they cause, must not fill
   * the memory.
   */
  #sendAside(text: string): void {
    if (this.#isBlocked) this.#connection?.terminate()
    if (this.#isBlocked) return
    const sent = this.#connection?.send(text)
    if (!sent) return
    this.#isBlocked = true
    void sent.then(() => {
      this.#isBlocked = false
    })
  }

  /** Closes the connection after the responses in flight. */
  #end(ending: Ending): void {
    if (this.#ending || this.#closed.signal.aborted) return
    this.#ending = ending
    for (const { message, bytes } of this.#lanes.clear()) {
      this.#arrivals.release(bytes)
      this.#sendProblem(ending.problem, message.streamId)
    }
    this.#closeIfEnded()
  }

  readonly #takeTurn = () => this.#options.takeTurn(() => this.#closed.signal.aborted)

  #closeIfEnded(): void {
    if (!this.#ending || this.#lanes.active > 0) return
    this.#close(this.#ending.code, this.#ending.problem.message)
  }

  /** Aborts all responses, and closes the connection. */
  #closeNow(error: unknown, code: number): void {
    this.#sendProblem(error)
    this.onClose()
    this.#close(code, error instanceof Problem ? error.message : '')
  }

  #close(code: number, reason: string): void {
    const { clock } = this.#options
    const connection = this.#connection
    connection?.close(code, reason)
    this.#cancelTimer()
    this.#cancelTimer = clock.at(clock.now() + maxClosingMs, () => connection?.terminate())
  }

  #checkLater(): void {
    const { clock } = this.#options
    this.#cancelTimer = clock.at(clock.now() + pingEveryMs, () => {
      const now = clock.now()
      if (now - this.#heardAt > maxSilenceMs) return this.#connection?.terminate()
      if (this.#arrivals.isLate(now)) return this.#closeNow(tooSlow(), 1008)
      this.#connection?.ping()
      this.#checkLater()
      if (now - this.#openedAt < maxAgeMs || this.#ending) return
      this.#sendProblem(tooOld)
      this.#end({ problem: tooOld, code: 1000 })
    })
  }
}

interface Ending {
  readonly problem: Problem
  readonly code: number
}

interface Queued {
  readonly message: CreateMessage
  readonly bytes: number
}

const tooOld = new TextProblem(
  400,
  'Responses websocket connection limit reached (60 minutes). Create a new websocket connection to continue.',
  { code: 'websocket_connection_limit_reached' },
)
