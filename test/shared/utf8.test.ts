import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { decodeUtf8 } from '../../plugins/shared/text.ts'

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

test('any bytes are decoded as in the standard: a BOM is kept, and invalid UTF-8 is replaced', () => {
  const byte = fc.oneof(fc.nat(255), fc.constantFrom(0xef, 0xbb, 0xbf, 0xe2, 0x82, 0xf0, 0x9f, 0xed, 0xa0, 0xc0, 0x80))
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 12 }), fc.nat(4), (bytes, before) => {
      const within = Uint8Array.of(...Array.from({ length: before }, () => 0x61), ...bytes).subarray(before)
      expect(decodeUtf8(within)).toBe(decoder.decode(within))
    }),
    { numRuns: 2_000 },
  )
})
