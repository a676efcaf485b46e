import { Buffer } from 'node:buffer'

const { utf8Slice } = Buffer.prototype

/**
 * Decodes UTF-8 like `TextDecoder` with `ignoreBOM`: a byte order mark remains, and invalid bytes become U+FFFD.
 *
 * It takes a third of the time for a short text. It also does not access the `buffer` of the bytes, which the runtime
 * creates at the first access for as much time as the rest of an event takes.
 */
export const decodeUtf8 = (bytes: Uint8Array): string => utf8Slice.call(bytes, 0, bytes.length)
