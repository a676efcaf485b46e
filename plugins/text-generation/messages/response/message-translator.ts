import { numberOf } from '../../../shared/json/lossless.ts'
import { isJsonObject, type JsonObject } from '../../../shared/json/parsed.ts'
import type { SseEvent } from '../../../sse-relay/index.ts'
import { asArray, readChunk, textOf } from '../../chat/chunk.ts'
import { isDone } from '../../events/text.ts'
import { type Assembly, StreamError, withoutLoneSurrogate } from '../../protocol/assembly.ts'
import { readTokens } from '../../usage/usage.ts'
import { ChoiceBlocks, type ChoiceBlocksOptions } from './choice-blocks.ts'
import {
  type Message,
  type MessageBlock,
  type MessageEnd,
  type MessageEvent,
  type MessageUsage,
  messageEventText,
} from './events.ts'

export interface MessageTranslatorOptions
  extends Pick<ChoiceBlocksOptions, 'thinking' | 'stopSequences' | 'toolNames' | 'sign'> {
  /** Model of the request. The message has it where the upstream names no model. */
  readonly model: string
  /** Whether the caller receives events. */
  readonly streams: boolean
  /** Makes the random part of an id. Default: 32 hexadecimal digits. */
  readonly newId?: () => string
  /** Most characters of all events together; above it, `push` throws StreamError. Default 64 Mi. */
  readonly maxCharacters?: number
}

/** Translates a chat stream to a message: to the events of its stream, or to the whole message. */
export class MessageTranslator implements Assembly {
  readonly #options: MessageTranslatorOptions
  readonly #choice: ChoiceBlocks
  readonly #id: string
  readonly #maxCharacters: number
  #model = ''
  #characters = 0
  #started = false
  #events = ''
  /** The upstream's latest usage. */
  usage: object | undefined

  constructor(options: MessageTranslatorOptions) {
    const { newId = randomId, maxCharacters = 2 ** 26, streams } = options
    this.#options = options
    this.#id = `msg_${newId()}`
    this.#maxCharacters = maxCharacters
    const emit = streams ? (event: MessageEvent) => this.#emit(event) : undefined
    this.#choice = new ChoiceBlocks({ ...options, emit, newCallId: () => `toolu_${newId()}` })
  }

  /** Whether the choice has finished. `[DONE]` alone proves nothing: a proxy may have added it to a broken stream. */
  get complete(): boolean {
    return this.#choice.finished
  }

  /**
   * Takes an event of the chat stream; `[DONE]` is one too. Returns the text of the resulting events; empty for none.
   *
   * Throws StreamError for an error event, and for an event that is malformed or that a message cannot hold.
   */
  push(event: SseEvent): string {
    if (isDone(event.data)) return ''
    this.#characters += event.data.length
    if (this.#characters > this.#maxCharacters)
      throw new StreamError(`the response is larger than ${this.#maxCharacters} characters`)
    const chunk = readChunk(event)
    if (!chunk) return ''
    this.#model ||= textOf(chunk.model)
    this.#start()
    if (isJsonObject(chunk.usage)) this.usage = chunk.usage
    for (const choice of asArray(chunk.choices)) this.#choice.push(choice)
    return this.#take()
  }

  /** The events that end a complete stream. */
  end(): string {
    this.#start()
    this.#choice.end()
    this.#emit({ type: 'message_delta', delta: this.#choice.messageEnd(false), usage: toMessageUsage(this.usage) })
    this.#emit({ type: 'message_stop' })
    return this.#take()
  }

  /** The whole message, as JSON. */
  result(): string {
    return this.#whole(false)
  }

  /** The message at the time limit, as JSON. */
  partial(): string {
    return this.#whole(true)
  }

  #whole(cut: boolean): string {
    const { blocks, finished } = this.#choice
    // The gateway or a limit has cut it: the last tool call may be incomplete.
    this.#choice.end()
    const end = this.#choice.messageEnd(cut)
    const content = blocks.content((cut && !finished) || end.stop_reason === 'max_tokens')
    return JSON.stringify(this.#message(content, end), withoutLoneSurrogate)
  }

  #start(): void {
    if (this.#started) return
    this.#started = true
    this.#emit({ type: 'message_start', message: this.#message([], notEnded) })
    this.#emit({ type: 'ping' })
  }

  #message(content: readonly MessageBlock[], end: MessageEnd): Message {
    return {
      id: this.#id,
      type: 'message',
      role: 'assistant',
      model: this.#model || this.#options.model,
      content,
      ...end,
      diagnostics: null,
      usage: {
        ...toMessageUsage(this.usage),
        cache_creation: null,
        inference_geo: null,
        service_tier: null,
        speed: null,
      },
    }
  }

  #emit(event: MessageEvent): void {
    if (this.#options.streams) this.#events += messageEventText(event)
  }

  #take(): string {
    const taken = this.#events
    this.#events = ''
    return taken
  }
}

const randomId = (): string => crypto.randomUUID().replaceAll('-', '')

const notEnded: MessageEnd = { stop_reason: null, stop_sequence: null, stop_details: null, container: null }

/** Translates the usage of a chat completion. Missing counts are 0: the protocol requires them. */
const toMessageUsage = (usage: object | undefined): MessageUsage => {
  const { input = 0, cachedInput = 0, output = 0, reasoning = 0 } = readTokens(usage) ?? {}
  const { prompt_tokens_details: details } = (usage ?? {}) as JsonObject
  const cacheWrite = numberOf(isJsonObject(details) ? details.cache_write_tokens : undefined)
  const written = Number.isInteger(cacheWrite) && cacheWrite > 0 ? cacheWrite : 0
  return {
    input_tokens: Math.max(0, input - cachedInput - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cachedInput,
    output_tokens: output,
    output_tokens_details: reasoning > 0 ? { thinking_tokens: reasoning } : null,
    server_tool_use: null,
  }
}
