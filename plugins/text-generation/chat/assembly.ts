import type { SseEvent } from '../../sse-relay/index.ts'
import { type Assembly, StreamError } from '../assembly.ts'
import { parseExact } from '../exact.ts'
import { Choice } from './choice.ts'
import { createKeep, Fields, membersOf, placeOf } from './fields.ts'

export interface ChatAssemblyOptions {
  /** The model that was asked for; stands in the answer when the upstream names none. */
  readonly model: string
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** The random part of an id, for what the upstream gives no id. Default 32 hexadecimal digits. */
  readonly newId?: () => string
  /** Bytes of UTF-8 that may be kept of a stream; what is not text is estimated. Default 64 MiB. */
  readonly maxBytes?: number
}

/**
 * Puts the chunks of a chat completion together, as a call with `stream: false` would have answered them. It is complete when every choice that appeared
 * has finished, and at least one did: `[DONE]` alone says nothing.
 */
export const createChatAssembly = ({
  model,
  now,
  newId = () => crypto.randomUUID().replaceAll('-', ''),
  maxBytes = 64 * 2 ** 20,
}: ChatAssemblyOptions): Assembly => {
  const keep = createKeep(maxBytes)
  const began = Math.floor(now() / 1000)
  const choices = new Map<number, Choice>()
  const fields = new Fields(keep)
  let ended = false
  let id: string | undefined

  const createChoice = (index: number) => new Choice(index, { keep, newId: () => `call_${newId()}` })

  const take = ({ choices: parts, usage, object, obfuscation: _, error: __, ...more }: Chunk): void => {
    for (const [at, part] of Array.isArray(parts) ? parts.entries() : []) {
      if (part === null) continue
      const members = membersOf(part)
      const index = placeOf(members.index ?? at)
      // A whole completion that comes after deltas says again what they said.
      const again = object === 'chat.completion' && members.message && !members.delta && members.finish_reason
      const choice = (again ? undefined : choices.get(index)) ?? createChoice(index)
      choices.set(index, choice)
      choice.take(members)
    }
    if (typeof usage === 'object' && usage !== null) fields.set('usage', usage)
    // Chunks between the real ones, such as a filter's, have 0 here.
    for (const [key, value] of Object.entries(more)) if (key !== 'created' || value !== 0) fields.set(key, value)
  }

  const render = (ordered: readonly Choice[], cutOff: boolean): object => {
    id ??= `chatcmpl-${newId()}`
    const { id: given, created, model: named, usage, ...more } = fields.toJSON()
    return {
      id: given || id,
      object: 'chat.completion',
      created: created ?? began,
      model: named || model,
      choices: ordered.map((choice) => choice.render(cutOff)),
      ...(usage ? { usage } : {}),
      ...more,
    }
  }

  const inOrder = () => [...choices.values()].sort((one, other) => one.index - other.index)

  return {
    push(event) {
      if (ended) return
      if (event.data.trim() === '[DONE]') ended = true
      else if (event.data.trim() !== '' || event.type === 'error') take(readChunk(event))
    },
    get complete() {
      return choices.size > 0 && [...choices.values()].every((choice) => choice.finishReason !== undefined)
    },
    get usage() {
      return fields.get('usage') as object | undefined
    },
    result: () => JSON.stringify(render(inOrder(), false)),
    partial: () => JSON.stringify(render(choices.size > 0 ? inOrder() : [createChoice(0)], true), withoutHalf),
  }
}

type Chunk = Readonly<Record<string, unknown>>

/** Throws StreamError for an error in any of the forms that the official client raises, and for what is no JSON object. */
const readChunk = ({ type, data }: SseEvent): Chunk => {
  let value: unknown
  try {
    value = parseExact(data)
  } catch {
    if (type !== 'error') throw new StreamError('the upstream sent an event that is not JSON')
  }
  if (isDeeper(value, levels)) throw new StreamError(`the upstream sent an event nested deeper than ${levels} levels`)
  if (type === 'error' || membersOf(value).error || membersOf(value).type === 'error') throw asError(value, data)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new StreamError('the upstream sent an event that is not a JSON object')
  }
  // Such as a ping: chunks have no name of their own, or have choices.
  return type === 'message' || 'choices' in value || 'usage' in value ? (value as Chunk) : {}
}

/** What is nested deeper cannot be counted on to be written again. */
const levels = 64

const isDeeper = (value: unknown, than: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (than === 0 || Object.values(value).some((inner) => isDeeper(inner, than - 1)))

const asError = (value: unknown, data: string): StreamError => {
  const members = membersOf(value)
  const error = membersOf(members.error)
  const said = [error, members].find((object) => Object.keys(object).length > 0) ?? (data.trim() && { message: data })
  const words = [error.message, members.error, members.message].find((word) => typeof word === 'string')
  return new StreamError(typeof words === 'string' ? words : 'the upstream reported an error', said || undefined)
}

/** Text without half a character (a high surrogate) at its end, where the other half did not come in time. */
const withoutHalf = (_key: string, value: unknown): unknown =>
  typeof value === 'string' && /[\ud800-\udbff]$/.test(value.slice(-1)) ? value.slice(0, -1) : value
