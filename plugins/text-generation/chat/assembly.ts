import type { Clock } from '../../shared/clock.ts'
import { opensMoreThan } from '../../shared/json/json.ts'
import { membersOf } from '../../shared/json/parsed.ts'
import type { SseEvent } from '../../sse-relay/index.ts'
import { jsonOf } from '../events/event.ts'
import { type Assembly, StreamError, withoutLoneSurrogate } from '../protocol/assembly.ts'
import { type CountBytes, createByteCounter, MemberBuffer, readIndex } from './buffers.ts'
import { Choice } from './choice.ts'

export interface ChatAssemblyOptions {
  /** Model of the request. The completion has it where the upstream names no model. */
  readonly model: string
  readonly clock: Pick<Clock, 'now'>
  /** Makes the random part of an id, where the upstream sends no id. Default: 32 hexadecimal digits. */
  readonly newId?: () => string
  /** Most bytes of UTF-8 that are kept of a stream. The size of values other than text is estimated. Default 64 MiB. */
  readonly maxBytes?: number
}

/**
 * Assembles the chunks of a chat stream into the completion that a request with `stream: false` would have returned.
 *
 * It is complete when it has at least one choice and every choice has finished. `[DONE]` alone proves nothing.
 */
export const createChatAssembly = (options: ChatAssemblyOptions): Assembly => new ChatAssembly(options)

const randomHex = () => crypto.randomUUID().replaceAll('-', '')

/** A class, because one is created for each call, also where the upstream does not stream. */
class ChatAssembly implements Assembly {
  readonly #model: string
  readonly #newId: () => string
  readonly #countBytes: CountBytes
  readonly #startedAt: number
  readonly #choices = new Map<number, Choice>()
  readonly #fields: MemberBuffer
  #ended = false
  #id: string | undefined

  constructor({ model, clock, newId = randomHex, maxBytes = 64 * 2 ** 20 }: ChatAssemblyOptions) {
    this.#model = model
    this.#newId = newId
    this.#countBytes = createByteCounter(maxBytes)
    this.#startedAt = Math.floor(clock.now() / 1000)
    this.#fields = new MemberBuffer(this.#countBytes)
  }

  push(event: SseEvent): void {
    if (this.#ended) return
    const data = event.data.trim()
    if (data === '[DONE]') this.#ended = true
    else if (data !== '' || event.type === 'error') this.#addChunk(readChunk(event))
  }

  get complete(): boolean {
    return this.#choices.size > 0 && [...this.#choices.values()].every((choice) => choice.finishReason !== undefined)
  }

  get usage(): object | undefined {
    return this.#fields.get('usage') as object | undefined
  }

  result(): string {
    return JSON.stringify(this.#render(this.#sortedChoices(), false))
  }

  partial(): string {
    const choices = this.#choices.size > 0 ? this.#sortedChoices() : [this.#createChoice(0)]
    return JSON.stringify(this.#render(choices, true), withoutLoneSurrogate)
  }

  #createChoice(index: number): Choice {
    return new Choice(index, { countBytes: this.#countBytes, newId: () => `call_${this.#newId()}` })
  }

  #addChoice(value: unknown, position: number, object: unknown): void {
    if (value === null) return
    const members = membersOf(value)
    const index = readIndex(members.index ?? position)
    const existing = this.#choices.get(index)
    // Some upstreams send the whole completion after its deltas. It replaces what the deltas built.
    const replaces = object === 'chat.completion' && members.message && !members.delta && members.finish_reason
    const choice = existing && !replaces ? existing : this.#createChoice(index)
    if (choice !== existing) this.#choices.set(index, choice)
    choice.add(members)
  }

  #addChunk(chunk: Chunk): void {
    const { choices: list, object } = chunk
    if (Array.isArray(list)) {
      for (let position = 0; position < list.length; position++) this.#addChoice(list[position], position, object)
    }
    for (const key in chunk) {
      const value = chunk[key]
      if (notCopied.has(key)) continue
      if (key === 'usage' && (typeof value !== 'object' || value === null)) continue
      // Chunks of a content filter have `created: 0`.
      if (key !== 'created' || value !== 0) this.#fields.set(key, value)
    }
  }

  #render(sorted: readonly Choice[], cutOff: boolean): object {
    this.#id ??= `chatcmpl-${this.#newId()}`
    const { id: upstreamId, created, model: upstreamModel, usage, ...rest } = this.#fields.toJSON()
    return {
      id: upstreamId || this.#id,
      object: 'chat.completion',
      created: created ?? this.#startedAt,
      model: upstreamModel || this.#model,
      choices: sorted.map((choice) => choice.render(cutOff)),
      ...(usage ? { usage } : {}),
      ...rest,
    }
  }

  #sortedChoices(): readonly Choice[] {
    return [...this.#choices.values()].sort((one, other) => one.index - other.index)
  }
}

/** Members of a chunk that are handled elsewhere, or that a completion does not have. */
const notCopied: ReadonlySet<string> = new Set(['choices', 'object', 'obfuscation', 'error'])

type Chunk = Readonly<Record<string, unknown>>

/** Throws StreamError for data that is not a JSON object, and for an error in any form that OpenAI's client raises. */
const readChunk = (event: SseEvent): Chunk => {
  const { type, data } = event
  const value = jsonOf(event)
  if (value === undefined && type !== 'error') throw new StreamError('the upstream sent an event that is not JSON')
  if (opensMoreThan(data, maxDepth) && isNestedDeeper(value, maxDepth))
    throw new StreamError(`the upstream sent an event nested deeper than ${maxDepth} levels`)
  const members = membersOf(value)
  if (type === 'error' || members.error || members.type === 'error') throw toError(value, data)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new StreamError('the upstream sent an event that is not a JSON object')
  }
  // Other events, such as a ping, are ignored: a chunk has no event type, or it has choices or usage.
  return type === 'message' || 'choices' in value || 'usage' in value ? (value as Chunk) : {}
}

/** Chunks are shallow. Very deep nesting could overflow the stack when the completion is serialized. */
const maxDepth = 64

const isNestedDeeper = (value: unknown, levels: number): boolean => {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  for (const key in value) if (isNestedDeeper((value as Chunk)[key], levels - 1)) return true
  return false
}

const toError = (value: unknown, data: string): StreamError => {
  const members = membersOf(value)
  const error = membersOf(members.error)
  const details =
    [error, members].find((object) => Object.keys(object).length > 0) ?? (data.trim() && { message: data })
  const message = [error.message, members.error, members.message].find((text) => typeof text === 'string')
  return new StreamError(typeof message === 'string' ? message : 'the upstream reported an error', details || undefined)
}
