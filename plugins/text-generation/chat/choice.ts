import { Buffer } from 'node:buffer'
import { membersOf } from '../../shared/json/parsed.ts'
import { type CountBytes, MemberBuffer } from './buffers.ts'
import { appendDelta, isCallable, ToolCalls, type ToolCallsOptions } from './tool-calls.ts'

/** One choice of a chat completion, assembled from chunks. */
export class Choice {
  readonly index: number
  readonly #countBytes: CountBytes
  readonly #message: MemberBuffer
  readonly #toolCalls: ToolCalls
  readonly #rest: MemberBuffer
  #functionCall: MemberBuffer | undefined
  #audio: MemberBuffer | undefined
  #logprobs: MemberBuffer | undefined
  #finishReason: string | undefined
  /** Whether the last delta held only the audio's `expires_at`, which ends a response with audio. */
  #audioEnded = false

  constructor(index: number, options: ToolCallsOptions) {
    this.index = index
    this.#countBytes = options.countBytes
    this.#message = new MemberBuffer(options.countBytes, { role: 'assistant', content: null, refusal: null })
    this.#toolCalls = new ToolCalls(options)
    this.#rest = new MemberBuffer(options.countBytes)
  }

  /** Undefined while the choice has not finished. */
  get finishReason(): string | undefined {
    return this.#finishReason ?? (this.#audioEnded && this.#isAudioComplete() ? 'stop' : undefined)
  }

  /** Adds an element of a chunk's `choices`. */
  add(choice: Readonly<Record<string, unknown>>): void {
    const { delta, message, logprobs, finish_reason: reason } = choice
    if (delta ?? message) this.#addDelta(membersOf(delta ?? message), !delta)
    if (logprobs) this.#addLogprobs(membersOf(logprobs))
    if (typeof reason === 'string' && reason !== '') this.#finishReason = reason
    for (const key in choice) if (!handledMembers.has(key)) this.#rest.set(key, choice[key])
  }

  /**
   * The choice of a completion.
   *
   * @param cutOff whether the stream was cut off: then without unusable parts, such as half a tool call
   */
  render(cutOff: boolean): object {
    const finished = this.finishReason !== undefined
    const message = this.#message.toJSON()
    const functionCall = this.#functionCall
    if (functionCall && (!cutOff || isCallable(functionCall))) message.function_call = functionCall
    const calls = this.#toolCalls.list(cutOff, finished)
    if (calls.length > 0) message.tool_calls = calls
    else if (cutOff && !message.function_call) message.content ??= ''
    if (this.#audio) message.audio = renderAudio(this.#audio)
    return {
      index: this.index,
      message,
      logprobs: this.#logprobs ?? null,
      finish_reason: this.finishReason ?? (cutOff ? 'length' : null),
      ...this.#rest.toJSON(),
    }
  }

  #addLogprobs(logprobs: Readonly<Record<string, unknown>>): void {
    for (const [key, value] of Object.entries(logprobs)) {
      this.#logprobs ??= new MemberBuffer(this.#countBytes, { content: null, refusal: null })
      if (Array.isArray(value)) this.#logprobs.append(key, value)
      else this.#logprobs.set(key, value)
    }
  }

  #addDelta(delta: Readonly<Record<string, unknown>>, isMessage: boolean): void {
    this.#audioEnded = isExpiry(delta)
    for (const key in delta) {
      const value = delta[key]
      if (key === 'tool_calls') this.#toolCalls.add(Array.isArray(value) ? value : [], isMessage)
      else if (key === 'function_call')
        this.#functionCall = appendDelta(this.#functionCall, 'arguments', value, this.#countBytes)
      else if (key === 'audio') this.#addAudio(value)
      else if (key === 'role') this.#message.set(key, value)
      else if (key === 'content') this.#addContent(value)
      // An empty refusal means no refusal.
      else if (key !== 'obfuscation' && !(key === 'refusal' && value === '')) this.#message.append(key, value)
    }
  }

  /** Appends content. Some upstreams send reasoning as an array of parts, and then the response as text. */
  #addContent(value: unknown): void {
    const old = this.#message.get('content')
    if (Array.isArray(value) && old !== null && !Array.isArray(old)) this.#message.set('content', partsOf(String(old)))
    this.#message.append('content', Array.isArray(old) && typeof value === 'string' ? partsOf(value) : value)
  }

  #addAudio(delta: unknown): void {
    for (const [key, value] of Object.entries(membersOf(delta))) {
      this.#audio ??= new MemberBuffer(this.#countBytes)
      if (key === 'data' || key === 'transcript') this.#audio.append(key, value)
      else this.#audio.set(key, value)
    }
  }

  #isAudioComplete(): boolean {
    return ['id', 'data', 'transcript', 'expires_at'].every((key) => (this.#audio?.get(key) ?? null) !== null)
  }
}

/** Members of a choice that have a rule of their own. */
const handledMembers: ReadonlySet<string> = new Set(['index', 'delta', 'message', 'logprobs', 'finish_reason'])

const partsOf = (text: string): readonly object[] => (text === '' ? [] : [{ type: 'text', text }])

/** Whether a delta holds only the `expires_at` of the audio. */
const isExpiry = (delta: Readonly<Record<string, unknown>>): boolean =>
  delta.audio !== undefined && keysOf(delta) === 'audio' && keysOf(membersOf(delta.audio)) === 'expires_at'

/** Keys of the members that are not null. */
const keysOf = (members: Readonly<Record<string, unknown>>): string =>
  Object.keys(members)
    .filter((key) => members[key] !== null)
    .join()

const renderAudio = (audio: MemberBuffer): object => {
  const { data, ...rest } = audio.toJSON()
  return { ...rest, ...(data === undefined ? {} : { data: data === null ? null : joinBase64(String(data)) }) }
}

/**
 * Joins concatenated pieces of base64 (RFC 4648, section 4) to one base64 text.
 *
 * After padding, the next piece starts a new group of four characters. Without padding, the upstream may have cut the
 * text anywhere.
 */
const joinBase64 = (pieces: string): string => {
  if (!/=[^=]/.test(pieces)) return pieces
  return Buffer.concat((pieces.match(/[^=]+=*/g) ?? []).map((piece) => Buffer.from(piece, 'base64'))).toString('base64')
}
