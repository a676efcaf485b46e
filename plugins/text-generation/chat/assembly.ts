import type { SseEvent } from '../../sse-relay/index.ts'
import { type Assembly, StreamError } from '../assembly.ts'
import { jsonOf } from '../events/event.ts'
import { createKeptCounter, indexOf, MemberBuffer, membersOf } from './buffers.ts'
import { Choice } from './choice.ts'

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
  const keep = createKeptCounter(maxBytes)
  const began = Math.floor(now() / 1000)
  const choices = new Map<number, Choice>()
  const fields = new MemberBuffer(keep)
  let ended = false
  let id: string | undefined

  const createChoice = (index: number) => new Choice(index, { keep, newId: () => `call_${newId()}` })

  const takeChoice = (part: unknown, at: number, object: unknown): void => {
    if (part === null) return
    const members = membersOf(part)
    const index = indexOf(members.index ?? at)
    const known = choices.get(index)
    // A whole completion that comes after deltas says again what they said.
    const again = object === 'chat.completion' && members.message && !members.delta && members.finish_reason
    const choice = known && !again ? known : createChoice(index)
    if (choice !== known) choices.set(index, choice)
    choice.take(members)
  }

  const take = (chunk: Chunk): void => {
    const { choices: parts, object } = chunk
    if (Array.isArray(parts)) for (let at = 0; at < parts.length; at++) takeChoice(parts[at], at, object)
    for (const key in chunk) {
      const value = chunk[key]
      if (ofChunks.has(key)) continue
      if (key === 'usage' && (typeof value !== 'object' || value === null)) continue
      // Chunks between the real ones, such as a filter's, have 0 here.
      if (key !== 'created' || value !== 0) fields.set(key, value)
    }
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
      const data = event.data.trim()
      if (data === '[DONE]') ended = true
      else if (data !== '' || event.type === 'error') take(readChunk(event))
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

/** Members that say nothing of the answer, or are taken otherwise. */
const ofChunks: ReadonlySet<string> = new Set(['choices', 'object', 'obfuscation', 'error'])

type Chunk = Readonly<Record<string, unknown>>

/** Throws StreamError for an error in any of the forms that the official client raises, and for what is no JSON object. */
const readChunk = (event: SseEvent): Chunk => {
  const { type, data } = event
  const value = jsonOf(event)
  if (value === undefined && type !== 'error') throw new StreamError('the upstream sent an event that is not JSON')
  if (opensMore(data, levels) && isDeeper(value, levels))
    throw new StreamError(`the upstream sent an event nested deeper than ${levels} levels`)
  const members = membersOf(value)
  if (type === 'error' || members.error || members.type === 'error') throw asError(value, data)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new StreamError('the upstream sent an event that is not a JSON object')
  }
  // Such as a ping: chunks have no name of their own, or have choices.
  return type === 'message' || 'choices' in value || 'usage' in value ? (value as Chunk) : {}
}

/** What is nested deeper cannot be counted on to be written again. */
const levels = 64

/** Whether a text may be nested as deep as that: few have so many brackets. */
const opensMore = (json: string, than: number): boolean => {
  let opened = 0
  for (const bracket of ['{', '[']) {
    for (let at = json.indexOf(bracket); at !== -1; at = json.indexOf(bracket, at + 1)) if (++opened > than) return true
  }
  return false
}

const isDeeper = (value: unknown, than: number): boolean => {
  if (typeof value !== 'object' || value === null) return false
  if (than === 0) return true
  for (const key in value) if (isDeeper((value as Chunk)[key], than - 1)) return true
  return false
}

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
