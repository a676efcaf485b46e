import type { Frame } from './events.ts'
import type { RelayOptions } from './relay.ts'

/** What goes through, of frames as they come and of what is put between and behind them. */
export interface Passage {
  /** What is to be sent for some frames; undefined for nothing. Throws what `onFrame` threw, unless there is something to send first. */
  pass(frames: readonly Frame[]): Uint8Array | undefined
  /** Throws what `onFrame` threw, now that what came before it has been sent. */
  check(): void
  /** A comment for between two frames. */
  comment(): Uint8Array
  /** Something for after the last frame, which is closed first if the stream ended within it. */
  append(bytes: Uint8Array): Uint8Array
}

export const createPassage = (onFrame: RelayOptions['onFrame']): Passage => {
  let failure: { readonly error: unknown } | undefined
  let closing = ''
  /** Whether the stream's own start has been passed or dropped, and whether a comment has been put before it. */
  let begun = false
  let preceded = false

  const passOne = (frame: Frame): Uint8Array | null => {
    const instead = onFrame?.(frame)
    const first = !begun
    begun = true
    if (instead === null) return null
    if (frame.closing) closing = instead ? '\n\n' : frame.closing
    if (instead) return instead
    // A byte order mark is none anywhere but at the start: it would become part of a field's name.
    return first && preceded && isMarked(frame.bytes) ? frame.bytes.subarray(3) : frame.bytes
  }

  return {
    pass(frames) {
      const parts: Uint8Array[] = []
      try {
        for (const frame of frames) {
          const bytes = passOne(frame)
          if (bytes && bytes.length > 0) parts.push(bytes)
        }
      } catch (error) {
        if (parts.length === 0) throw error
        failure = { error }
      }
      return parts.length === 0 ? undefined : join(parts)
    },
    check() {
      if (failure) throw failure.error
    },
    comment() {
      if (!begun) preceded = true
      return keepAlive
    },
    append: (bytes) => (closing === '' ? bytes : join([encoder.encode(closing), bytes])),
  }
}

const encoder = new TextEncoder()
const keepAlive = encoder.encode(': keep-alive\n\n')

const isMarked = (bytes: Uint8Array): boolean => bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf

const join = (parts: readonly Uint8Array[]): Uint8Array => {
  const [only] = parts
  if (only && parts.length === 1) return only
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
