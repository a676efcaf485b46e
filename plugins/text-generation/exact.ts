/** Context that engines hand to a reviver: the number as it was written. */
interface Written {
  readonly source?: string
}

/** Where a number may stand that JavaScript would not write back as it came: long, with an exponent, with a zero at its end, or minus zero. */
const fragile = /[:,[]\s*(?:-?\d+(?:\d{15}|\.\d{15}|\.\d*0(?!\d)|(?:\.\d+)?[eE])|-0)/

/**
 * `JSON.parse` whose numbers `JSON.stringify` writes back as they came, beyond 2^53 too: those that would change become raw JSON, which is opaque. Throws
 * SyntaxError.
 */
export const parseExact = (text: string): unknown =>
  fragile.test(text) ? JSON.parse(text, keepNumber as Parameters<typeof JSON.parse>[1]) : JSON.parse(text)

const keepNumber = (_key: string, value: unknown, written?: Written): unknown =>
  typeof value === 'number' && written?.source !== undefined && String(value) !== written.source
    ? rawJson(written.source)
    : value

const rawJson = (source: string): unknown => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(source)
