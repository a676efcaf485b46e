import type { Json } from '../../shared/json.ts'
import type { SseEvent } from '../../sse-relay/index.ts'
import { StreamError } from '../assembly.ts'
import { type ChunkObject, elementsOf, isChunkObject, readChunk, textOf } from '../chat/chunk.ts'
import { createChoiceItems } from './choice-items.ts'
import { createEvents } from './events.ts'
import { brokenOff, type Output } from './output.ts'
import { beginResponse } from './response.ts'
import { toResponseUsage } from './usage.ts'

/** Makes the events of a response from those of a chat completion. */
export interface StreamTranslator {
  /**
   * Takes an event of the chat stream. Gives the text of the events that it brings about, empty for none.
   *
   * Throws StreamError for an error event of the upstream, and for one that cannot be understood or has no form in a response.
   */
  push(event: SseEvent): string
  /** Whether the choice has finished. `[DONE]` alone does not say so: it may have been added to a stream that broke. */
  readonly complete: boolean
  /** The events that end a complete stream, the terminal event included, without `[DONE]`. Empty after an end. */
  end(): string
  /** The events that end a broken stream: `response.failed` with what there is, then an error. Empty after an end. */
  fail(message: string): string
  /** As the upstream reported it last, in the words of a response. */
  readonly usage: object | undefined
}

export interface StreamTranslatorOptions {
  /** The Responses request. */
  readonly request: Json
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Makes an id that begins with the prefix. Default: random. */
  readonly newId?: (prefix: string) => string
  /** Characters of all events together beyond which push throws StreamError. Default 64 Mi. */
  readonly maxCharacters?: number
}

export const createStreamTranslator = (options: StreamTranslatorOptions): StreamTranslator => {
  const { request, now, newId = randomId, maxCharacters = 2 ** 26 } = options
  const events = createEvents()
  const output: Output = { emit: events.emit, newId, entries: [] }
  const choice = createChoiceItems(output)
  /** Undefined until the first chunk. */
  let response: object | undefined
  let usage: object | undefined
  let characters = 0
  let over = false

  const seconds = () => Math.floor(now() / 1000)

  const begin = (chunk: ChunkObject = {}): void => {
    if (response) return
    const model = textOf(chunk.model) || undefined
    response = beginResponse(request, { id: newId('resp_'), createdAt: seconds(), model })
    events.emit({ type: 'response.created', response })
    events.emit({ type: 'response.in_progress', response })
  }

  /** The response as it is now. */
  const known = (items = output.entries.map((entry) => entry.item())): object => ({
    ...response,
    output: items,
    usage: usage ?? null,
  })

  return {
    push(event) {
      characters += event.data.length
      if (characters > maxCharacters) throw new StreamError(`an answer of more than ${maxCharacters} characters`)
      const chunk = over ? undefined : readChunk(event)
      if (!chunk) return ''
      begin(chunk)
      for (const key of ['service_tier', 'moderation']) response = { ...response, ...told(chunk, key) }
      if (isChunkObject(chunk.usage)) usage = toResponseUsage(chunk.usage) ?? usage
      for (const each of elementsOf(chunk.choices)) choice.push(each)
      return events.take()
    },
    get complete() {
      return choice.finishReason !== undefined
    },
    end() {
      if (over) return ''
      over = true
      begin()
      const reason = incompleteReasons.get(choice.finishReason ?? '')
      choice.end(reason !== undefined)
      const ending = reason
        ? { status: 'incomplete', incomplete_details: { reason } }
        : { status: 'completed', completed_at: seconds() }
      events.emit({
        type: reason ? 'response.incomplete' : 'response.completed',
        response: { ...known(), ...ending },
      })
      return events.take()
    },
    fail(message) {
      if (over) return ''
      over = true
      begin()
      const error = { code: 'server_error', message }
      const items = output.entries.map((entry) => brokenOff(entry.item()))
      events.emit({ type: 'response.failed', response: { ...known(items), status: 'failed', error } })
      events.emit({ type: 'error', ...error, param: null })
      return events.take()
    },
    get usage() {
      return usage
    },
  }
}

const randomId = (prefix: string): string => `${prefix}${crypto.randomUUID().replaceAll('-', '')}`

/** Why a response is incomplete, by what a chat completion says of it. With any other reason it is complete. */
const incompleteReasons: ReadonlyMap<string, string> = new Map([
  ['length', 'max_output_tokens'],
  ['content_filter', 'content_filter'],
])

/** A member of a chunk, where it says something. */
const told = (chunk: ChunkObject, key: string): ChunkObject => (textOf(chunk[key]) === '' ? {} : { [key]: chunk[key] })
