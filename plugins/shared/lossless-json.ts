/** Context that engines hand to a reviver: the number as it was written. */
interface Written {
  readonly source?: string
}

/**
 * Where a number may stand that JavaScript would not write back as it came: one of many digits, below a millionth, with an exponent or with a zero at its end,
 * and minus zero.
 */
const fragile = /[:,[]\s*-?(?:0\.0{6}|(?=[\d.]{16})\d|\d+(?:\.\d*0(?!\d)|(?:\.\d+)?[eE]))|[:,[]\s*-0(?!\.)/

/** Found wherever that finds something, and much faster where there is nothing: digits are what it looks at first. */
const mayBeFragile = /\d(?:[.eE]|\d{15})|-0/

/**
 * `JSON.parse` whose numbers `JSON.stringify` writes back as they came, beyond 2^53 too: those that would change become raw JSON, which is opaque and frozen
 * (see `numberIn`). Throws SyntaxError.
 */
export const parseLossless = (text: string): unknown =>
  mayBeFragile.test(text) && fragile.test(text)
    ? JSON.parse(text, keepNumber as Parameters<typeof JSON.parse>[1])
    : JSON.parse(text)

const keepNumber = (_key: string, value: unknown, written?: Written): unknown =>
  typeof value === 'number' && written?.source !== undefined && String(value) !== written.source
    ? rawJSON(written.source)
    : value

/** The number that a parsed value is, also one that was kept as it was written; NaN for anything else. */
export const numberOf = (value: unknown): number => {
  if (typeof value === 'number') return value
  return isRawJSON(value) ? Number(value.rawJSON) : Number.NaN
}

const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(text: string): unknown
  isRawJSON(value: unknown): value is { readonly rawJSON: string }
}
