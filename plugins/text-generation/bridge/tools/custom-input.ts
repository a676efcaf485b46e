import { isJsonObject, parsedJson } from '../../../shared/json/parsed.ts'

/**
 * Decodes the arguments of the function that stands for a custom tool, `{"input":"…"}`, piece by piece.
 *
 * Arguments of another form are decoded at their end: some models leave out the object, or name its member differently.
 */
export class CustomInputDecoder {
  /** Text that is not decoded yet. */
  #pending = ''
  #state: 'start' | 'input' | 'other' | 'end' = 'start'

  /** Takes a piece of the arguments. Returns the piece of the input that it completes; never half a surrogate pair. */
  push(piece: string): string {
    if (this.#state === 'end') return ''
    this.#pending += piece
    if (this.#state === 'start') this.#readStart()
    return this.#state === 'input' ? this.#decode() : ''
  }

  /** Returns the rest of the input. The arguments may be incomplete. */
  end(): string {
    const pending = this.#pending
    const state = this.#state
    this.#pending = ''
    this.#state = 'end'
    return state === 'start' || state === 'other' ? inputIn(pending) : ''
  }

  #readStart(): void {
    const start = inputStart.exec(this.#pending)
    if (start) {
      this.#pending = this.#pending.slice(start[0].length)
      this.#state = 'input'
    } else if (this.#pending.length > maxStartLength) {
      this.#state = 'other'
    }
  }

  /** Decodes all complete characters of the string, up to its closing quote. */
  #decode(): string {
    const text = this.#pending
    let decoded = ''
    let at = 0
    for (;;) {
      const from = at
      while (at < text.length && text[at] !== '"' && text[at] !== '\\') at++
      decoded += text.slice(from, at)
      if (at === text.length) break
      if (text[at] === '"') {
        this.#pending = ''
        this.#state = 'end'
        return decoded
      }
      const length = text[at + 1] === 'u' ? 6 : 2
      if (at + length > text.length) break
      decoded += characterOf(text.slice(at, at + length))
      at += length
    }
    // A high surrogate waits for the low one.
    const splits = /[\ud800-\udbff]$/.test(decoded)
    this.#pending = (splits ? JSON.stringify(decoded.slice(-1)).slice(1, -1) : '') + text.slice(at)
    return splits ? decoded.slice(0, -1) : decoded
  }
}

const inputStart = /^\s*\{\s*"input"\s*:\s*"/

/** Longer than the start, however many spaces a model writes. */
const maxStartLength = 64

/** Decodes an escape sequence. An invalid one stays as it is. */
const characterOf = (sequence: string): string => {
  try {
    return JSON.parse(`"${sequence}"`)
  } catch {
    return sequence
  }
}

/**
 * The input in arguments of any form: the member `input` or the only member, if it is a string, else the whole text.
 */
const inputIn = (text: string): string => {
  const value = parsedJson(text)
  if (typeof value === 'string') return value
  if (!isJsonObject(value)) return text
  const { input, ...others } = value
  const members = Object.values(others)
  const only = input ?? (members.length === 1 ? members[0] : undefined)
  if (typeof only === 'string') return only
  return input === undefined && members.length === 0 ? '' : text
}
