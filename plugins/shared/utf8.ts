import { Buffer } from 'node:buffer'

const { utf8Slice } = Buffer.prototype

/**
 * Decodes as `TextDecoder` does with `ignoreBOM`: a byte order mark is left in, and what is no UTF-8 is replaced. At a third of its cost for a short text, and without the `buffer` of the
 * bytes, which the runtime makes for the first who asks for it, at the cost of everything else that is done with an event.
 */
export const decodeUtf8 = (bytes: Uint8Array): string => utf8Slice.call(bytes, 0, bytes.length)
