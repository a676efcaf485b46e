import { Buffer } from 'node:buffer'
import { type CountKept, MemberBuffer, membersOf } from './buffers.ts'
import { grow, isCallable, ToolCalls, type ToolCallsOptions } from './tool-calls.ts'

/** One choice of a chat completion, from what chunks say of it. */
export class Choice {
  readonly index: number
  readonly #keep: CountKept
  readonly #message: MemberBuffer
  readonly #toolCalls: ToolCalls
  readonly #more: MemberBuffer
  #functionCall: MemberBuffer | undefined
  #audio: MemberBuffer | undefined
  #logprobs: MemberBuffer | undefined
  #finishReason: string | undefined
  /** Whether the last thing said was when the audio expires, which ends an answer of audio. */
  #audioEnded = false

  constructor(index: number, options: ToolCallsOptions) {
    this.index = index
    this.#keep = options.keep
    this.#message = new MemberBuffer(options.keep, { role: 'assistant', content: null, refusal: null })
    this.#toolCalls = new ToolCalls(options)
    this.#more = new MemberBuffer(options.keep)
  }

  /** Undefined as long as there may be more of it. */
  get finishReason(): string | undefined {
    return this.#finishReason ?? (this.#audioEnded && this.#isAudioWhole() ? 'stop' : undefined)
  }

  /** Takes an element of a chunk's `choices`. */
  take(choice: Readonly<Record<string, unknown>>): void {
    const { delta, message, logprobs, finish_reason: reason } = choice
    if (delta ?? message) this.#grow(membersOf(delta ?? message), !delta)
    if (logprobs) this.#growLogprobs(membersOf(logprobs))
    if (typeof reason === 'string' && reason !== '') this.#finishReason = reason
    for (const key in choice) if (!ofChoices.has(key)) this.#more.set(key, choice[key])
  }

  /** As it stands in a completion. `cutOff`: as much of it as can be used, for there will be no more. */
  render(cutOff: boolean): object {
    const finished = this.finishReason !== undefined
    const message = this.#message.toJSON()
    const called = this.#functionCall
    if (called && (!cutOff || isCallable(called))) message.function_call = called
    const calls = this.#toolCalls.list(cutOff, finished)
    if (calls.length > 0) message.tool_calls = calls
    else if (cutOff && !message.function_call) message.content ??= ''
    if (this.#audio) message.audio = renderAudio(this.#audio)
    return {
      index: this.index,
      message,
      logprobs: this.#logprobs ?? null,
      finish_reason: this.finishReason ?? (cutOff ? 'length' : null),
      ...this.#more.toJSON(),
    }
  }

  #growLogprobs(logprobs: Readonly<Record<string, unknown>>): void {
    for (const [key, value] of Object.entries(logprobs)) {
      this.#logprobs ??= new MemberBuffer(this.#keep, { content: null, refusal: null })
      if (Array.isArray(value)) this.#logprobs.join(key, value)
      else this.#logprobs.set(key, value)
    }
  }

  #grow(delta: Readonly<Record<string, unknown>>, whole: boolean): void {
    this.#audioEnded = isExpiry(delta)
    for (const key in delta) {
      const value = delta[key]
      if (key === 'tool_calls') this.#toolCalls.take(Array.isArray(value) ? value : [], whole)
      else if (key === 'function_call') this.#functionCall = grow(this.#functionCall, 'arguments', value, this.#keep)
      else if (key === 'audio') this.#growAudio(value)
      else if (key === 'role') this.#message.set(key, value)
      else if (key === 'content') this.#growContent(value)
      // An empty refusal is none.
      else if (key !== 'obfuscation' && !(key === 'refusal' && value === '')) this.#message.join(key, value)
    }
  }

  /** Some upstreams think in parts and then speak in text. */
  #growContent(value: unknown): void {
    const old = this.#message.get('content')
    if (Array.isArray(value) && old !== null && !Array.isArray(old)) this.#message.set('content', partsOf(String(old)))
    this.#message.join('content', Array.isArray(old) && typeof value === 'string' ? partsOf(value) : value)
  }

  #growAudio(delta: unknown): void {
    for (const [key, value] of Object.entries(membersOf(delta))) {
      this.#audio ??= new MemberBuffer(this.#keep)
      if (key === 'data' || key === 'transcript') this.#audio.join(key, value)
      else this.#audio.set(key, value)
    }
  }

  #isAudioWhole(): boolean {
    return ['id', 'data', 'transcript', 'expires_at'].every((key) => (this.#audio?.get(key) ?? null) !== null)
  }
}

/** Members of a choice that are taken each in its own way. */
const ofChoices: ReadonlySet<string> = new Set(['index', 'delta', 'message', 'logprobs', 'finish_reason'])

const partsOf = (text: string): readonly object[] => (text === '' ? [] : [{ type: 'text', text }])

/** Whether a delta says nothing but when audio expires. */
const isExpiry = (delta: Readonly<Record<string, unknown>>): boolean =>
  delta.audio !== undefined && namesIn(delta) === 'audio' && namesIn(membersOf(delta.audio)) === 'expires_at'

/** Names of the members that are not null. */
const namesIn = (members: Readonly<Record<string, unknown>>): string =>
  Object.keys(members)
    .filter((key) => members[key] !== null)
    .join()

const renderAudio = (audio: MemberBuffer): object => {
  const { data, ...more } = audio.toJSON()
  return { ...more, ...(data === undefined ? {} : { data: data === null ? null : joinBase64(String(data)) }) }
}

/**
 * Base64 (RFC 4648, section 4) of the bytes in pieces of base64 that were written one after another. Where a piece was padded the next begins a new group of
 * four; where it was not, it may have been cut anywhere.
 */
const joinBase64 = (pieces: string): string => {
  if (!/=[^=]/.test(pieces)) return pieces
  return Buffer.concat((pieces.match(/[^=]+=*/g) ?? []).map((piece) => Buffer.from(piece, 'base64'))).toString('base64')
}
