import { decodeUtf8 } from '../utf8.ts'
import type { Piece } from './pieces.ts'
import { characterBoundary } from './tokens.ts'
import { ComposedJson, type Json } from './value.ts'

/** Bytes up to which a text is kept as a string: it takes less memory than as bytes, and there may be many. */
const maxShortBytes = 4_096

/** Bytes of a text that one step escapes. */
const bytesPerStep = 2 ** 16

/** One string of several. None is decoded. @param separator source text of JSON, without quotes */
export const joinStrings = (strings: readonly Json[], separator: string): Json => {
  const [first, ...more] = strings
  if (first && more.length === 0) return first
  return new ComposedJson([
    '"',
    ...strings.flatMap((text, index) => (index === 0 ? [contentOf(text)] : [separator, contentOf(text)])),
    '"',
  ])
}

/** The source of a string, without its quotes. */
const contentOf = (text: Json): Piece =>
  text.byteLength <= maxShortBytes ? text.raw.slice(1, -1) : text.bytes.subarray(1, -1)

/** A string that contains the text of a value. */
export const quoteJson = (json: Json): Json =>
  json.byteLength <= bytesPerStep ? new ComposedJson([JSON.stringify(json.raw)]) : quoteUtf8(json.bytes)

/** A string of a long text in UTF-8. It is escaped step by step, while the string is composed. */
export const quoteUtf8 = (bytes: Uint8Array): Json =>
  new ComposedJson(['"', { pieces: { [Symbol.iterator]: () => escaped(bytes) } }, '"'])

function* escaped(bytes: Uint8Array): Generator<string, void> {
  for (let start = 0; start < bytes.length; ) {
    const end = characterBoundary(bytes, start + bytesPerStep)
    yield JSON.stringify(decodeUtf8(bytes.subarray(start, end))).slice(1, -1)
    start = end
  }
}
