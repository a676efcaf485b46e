/** The third argument of a reviver: the source text of the number. */
interface ReviverContext {
  readonly source?: string
}

/**
 * Finds numbers that `JSON.stringify` might write differently: many digits, less than a millionth, an exponent, a
 * trailing zero, or minus zero.
 */
const fragile = /[:,[]\s*-?(?:0\.0{6}|(?=[\d.]{16})\d|\d+(?:\.\d*0(?!\d)|(?:\.\d+)?[eE]))|[:,[]\s*-0(?!\.)/

/** A faster test, which matches every text that `fragile` matches: it looks for digits first. */
const mayBeFragile = /\d(?:[.eE]|\d{15})|-0/

/**
 * `JSON.parse` without loss: `JSON.stringify` writes all numbers of the result back unchanged, also those above 2^53.
 *
 * A number that would change becomes a raw JSON object (`JSON.rawJSON`), which is frozen; `numberOf` reads it. Throws
 * SyntaxError.
 */
export const parseLossless = (text: string): unknown =>
  mayBeFragile.test(text) && fragile.test(text)
    ? JSON.parse(text, keepNumber as Parameters<typeof JSON.parse>[1])
    : JSON.parse(text)

/** The same; undefined for a text that is not JSON. */
export const parseOrUndefined = (text: string): unknown => {
  try {
    return parseLossless(text)
  } catch {
    return undefined
  }
}

const keepNumber = (_key: string, value: unknown, context?: ReviverContext): unknown =>
  typeof value === 'number' && context?.source !== undefined && String(value) !== context.source
    ? rawJSON(context.source)
    : value

/** The number in a value of `parseLossless`, also if it is raw JSON; NaN for any other value. */
export const numberOf = (value: unknown): number => {
  if (typeof value === 'number') return value
  return isRawJSON(value) ? Number(value.rawJSON) : Number.NaN
}

const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(text: string): unknown
  isRawJSON(value: unknown): value is { readonly rawJSON: string }
}
