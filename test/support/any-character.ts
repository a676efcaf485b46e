import fc from 'fast-check'

const surrogates = { first: 0xd800, count: 0x800 }

/**
 * Any character, as the unit `binary` of fast-check, for `fc.string`. That one makes a map of all 1.1 million characters, which takes a second and stays in the memory of the process.
 */
export const anyCharacter: fc.Arbitrary<string> = fc.nat({ max: 0x10ffff - surrogates.count }).map(
  (nth) => String.fromCodePoint(nth < surrogates.first ? nth : nth + surrogates.count),
  (text) => {
    const code = typeof text === 'string' ? (text.codePointAt(0) ?? -1) : -1
    const isCharacter = code >= 0 && String.fromCodePoint(code) === text
    if (!isCharacter || (code >= surrogates.first && code < surrogates.first + surrogates.count))
      throw new Error('it is not one character')
    return code < surrogates.first ? code : code - surrogates.count
  },
)
