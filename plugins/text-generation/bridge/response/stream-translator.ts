import type { Clock } from '../../../shared/clock.ts'
import type { Json } from '../../../shared/json/json.ts'
import { numberOf } from '../../../shared/json/lossless.ts'
import { isJsonObject, type JsonObject } from '../../../shared/json/parsed.ts'
import type { SseEvent } from '../../../sse-relay/index.ts'
import { asArray, readChunk, textOf } from '../../chat/chunk.ts'
import { isDone } from '../../events/text.ts'
import { newGatewayId } from '../../objects/gateway-ids.ts'
import { type Assembly, StreamError, withoutLoneSurrogate } from '../../protocol/assembly.ts'
import type { ValidatedRequest } from '../../protocol/protocol.ts'
import { initialResponse, repeatableFields } from '../../responses/initial-response.ts'
import { truncateItems } from '../../responses/items.ts'
import type { ToolMapping } from '../tools/mapping.ts'
import { createChoiceItems } from './choice-items.ts'
import { createEventWriter, silentWriter } from './events.ts'
import { type ResponseOutput, withFinalStatus } from './item-builders.ts'

/** Translates the events of a chat stream to the events of a Responses stream. */
export interface StreamTranslator extends Assembly {
  /**
   * Takes an event of the chat stream; `[DONE]` is one too. Returns the text of the resulting events; empty for none.
   *
   * Throws StreamError for an error event, and for an event that is malformed or that a response cannot hold.
   */
  push(event: SseEvent): string
  /** The events that end a complete stream, with the final event and without `[DONE]`. Empty after an end. */
  end(): string
  /**
   * The events that end a broken stream: `response.failed` with the response so far, then an error event. Also after
   * `end`, for a caller that does not receive the events of `end`. Empty after the first call.
   */
  fail(message: string): string
  /** Without usage, which is reliable only at the end, and without half a tool call. */
  partial(): string
  /** The response of the final event. Undefined before `end`. */
  readonly response: object | undefined
}

export interface StreamTranslatorOptions {
  readonly settings: ResponseSettings
  readonly clock: Pick<Clock, 'now'>
  /** The tool that a function name stands for, see `ToolMapping`. */
  readonly toolOf: ToolMapping['toolOf']
  /** Encrypts reasoning for later turns, where the request asks for it. Default: it is not encrypted. */
  readonly sealReasoning?: ((text: string) => string) | undefined
  /** Whether the caller receives events. Default true. */
  readonly streams?: boolean
  /** Makes an id with the prefix. Default: random. */
  readonly newId?: (prefix: string) => string
  /** Most characters of all events together; above it, `push` throws StreamError. Default 64 Mi. */
  readonly maxCharacters?: number
}

export const createStreamTranslator = (options: StreamTranslatorOptions): StreamTranslator => {
  const { settings, clock, toolOf, newId = newGatewayId, maxCharacters = 2 ** 26 } = options
  const { fields, summarizes, encrypts } = settings
  const events = options.streams === false ? silentWriter : createEventWriter(settings)
  const reasoning = { asSummary: summarizes, seal: encrypts ? options.sealReasoning : undefined }
  const output: ResponseOutput = { emit: events.emit, newId, items: [], toolOf, reasoning }
  const choice = createChoiceItems(output)
  /** Undefined until the first chunk. */
  let response: object | undefined
  let usage: object | undefined
  let characters = 0
  let ended = false
  let failed = false
  let finalResponse: object | undefined

  const seconds = () => Math.floor(clock.now() / 1000)

  const start = (chunk: JsonObject = {}): void => {
    if (response) return
    const model = textOf(chunk.model) || undefined
    response = initialResponse(fields, {
      id: newId('resp_'),
      createdAt: seconds(),
      model,
    })
    events.emit({ type: 'response.created', response })
    events.emit({ type: 'response.in_progress', response })
  }

  /** The response so far. */
  const responseSoFar = (items = output.items.map((builder) => builder.item())): object => ({
    ...response,
    output: items,
    usage: usage ?? null,
  })

  const end = (): string => {
    if (ended) return ''
    ended = true
    start()
    const reason = incompleteReasons.get(choice.finishReason ?? '')
    choice.end(reason !== undefined)
    const final = reason
      ? { status: 'incomplete', incomplete_details: { reason } }
      : { status: 'completed', completed_at: seconds() }
    finalResponse = { ...responseSoFar(), ...final }
    events.emit({ type: reason ? 'response.incomplete' : 'response.completed', response: finalResponse })
    return events.take()
  }

  return {
    push(event) {
      if (isDone(event.data)) return ''
      characters += event.data.length
      if (characters > maxCharacters) throw new StreamError(`the response is larger than ${maxCharacters} characters`)
      const chunk = ended ? undefined : readChunk(event)
      if (!chunk) return ''
      start(chunk)
      for (const key of laterMembers) if (textOf(chunk[key]) !== '') response = { ...response, [key]: chunk[key] }
      if (isJsonObject(chunk.usage)) usage = toResponseUsage(chunk.usage) ?? usage
      for (const value of asArray(chunk.choices)) choice.push(value)
      return events.take()
    },
    get complete() {
      return choice.finishReason !== undefined
    },
    end,
    result() {
      end()
      return JSON.stringify(finalResponse)
    },
    partial() {
      if (finalResponse) return JSON.stringify(finalResponse)
      start()
      const slots = output.items.map((builder) => {
        const item = builder.item()
        return { item: { ...item }, done: item.status !== 'in_progress' }
      })
      const cut = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
      const ended = { ...cut, error: null, completed_at: null, usage: null, output: truncateItems(slots) }
      return JSON.stringify({ ...response, ...ended }, withoutLoneSurrogate)
    },
    fail(message) {
      if (failed) return ''
      failed = true
      ended = true
      start()
      const error = { code: 'server_error', message }
      const items = output.items.map((builder) => withFinalStatus(builder.item()))
      events.emit({ type: 'response.failed', response: { ...responseSoFar(items), status: 'failed', error } })
      events.emit({ type: 'error', ...error, param: null })
      return events.take()
    },
    get response() {
      return finalResponse
    },
    get usage() {
      return usage
    },
  }
}

/**
 * The fields of a request that its response repeats. The gateway decides whether it stores the response. `truncation`
 * is always disabled, because the gateway truncates nothing.
 */
const bridgedRequestFields = (request: Json, storage: ValidatedRequest['storage']): object => ({
  ...repeatableFields(request),
  ...(storage ?? { store: false }),
  truncation: 'disabled',
})

/**
 * What a request decides about its response. It refers to nothing of the request, so that an open stream does not keep
 * that in memory.
 */
export interface ResponseSettings {
  /** The fields that the response repeats. */
  readonly fields: object
  /** Whether reasoning comes as a summary (`reasoning.summary`). */
  readonly summarizes: boolean
  /** Whether reasoning comes encrypted too (`include`). */
  readonly encrypts: boolean
  /** Whether events are padded (`stream_options.include_obfuscation`). */
  readonly obfuscates: boolean
}

export const readResponseSettings = (request: Json, storage?: ValidatedRequest['storage']): ResponseSettings => {
  const included = request.get('include')?.elements() ?? []
  const reasoning = request.get('reasoning')
  return {
    fields: bridgedRequestFields(request, storage),
    summarizes: ['summary', 'generate_summary'].some((key) => reasoning?.get(key)?.isString),
    encrypts: included.some((entry) => entry.string() === 'reasoning.encrypted_content'),
    obfuscates: request.get('stream_options')?.get('include_obfuscation')?.is('true') ?? false,
  }
}

/** The reason why a response is incomplete, by finish reason. With any other finish reason it is complete. */
const incompleteReasons: ReadonlyMap<string, string> = new Map([
  ['length', 'max_output_tokens'],
  ['content_filter', 'content_filter'],
])

/** Members of chunks that the response has too. Most chunks have none of them. */
const laterMembers = ['service_tier', 'moderation']

/**
 * Translates the usage of a chat completion. Undefined if it counts neither input nor output tokens.
 *
 * Other missing counts become 0, because strict clients require all of them.
 */
const toResponseUsage = (usage: JsonObject): object | undefined => {
  const { prompt_tokens: input, completion_tokens: output } = usage
  if (input === undefined && output === undefined) return undefined
  const { cached_tokens, cache_write_tokens } = detailsOf(usage.prompt_tokens_details)
  const { reasoning_tokens } = detailsOf(usage.completion_tokens_details)
  return {
    input_tokens: input ?? 0,
    input_tokens_details: { cached_tokens: cached_tokens ?? 0, cache_write_tokens: cache_write_tokens ?? 0 },
    output_tokens: output ?? 0,
    output_tokens_details: { reasoning_tokens: reasoning_tokens ?? 0 },
    total_tokens: usage.total_tokens ?? countOf(input) + countOf(output),
  }
}

const detailsOf = (details: unknown): JsonObject => (isJsonObject(details) ? details : {})

const countOf = (count: unknown): number => numberOf(count) || 0
