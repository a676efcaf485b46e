import { parsedJson } from '../json/parsed.ts'
import type { RawResponse } from './upstream-error.ts'

/** One statement of an error. */
export interface ErrorDetail {
  /** Path of the field; empty when the error names none. */
  readonly field: string
  /** Machine-readable code or type; empty when the error has none. */
  readonly code: string
  readonly message: string
}

/**
 * Collects the statements of an error response.
 *
 * It reads the protocol's error (`{"error":{"message","param"}}`), the same members without `error`, a list of strings,
 * and the validation lists of frameworks (`{"detail":[{"loc","msg"}]}`). Some vendors put such JSON into a message, as
 * a string. Empty for a body that is too long to be an error.
 */
export const errorDetails = ({ bytes }: Pick<RawResponse, 'bytes'>): readonly ErrorDetail[] =>
  bytes.length > maxErrorBytes ? [] : detailsOf(jsonOrText(new TextDecoder().decode(bytes)), noDetail, 0)

/** Maximum size of an error body that is parsed. */
const maxErrorBytes = 2 ** 16

const noDetail: ErrorDetail = { field: '', code: '', message: '' }

const detailsOf = (value: unknown, outer: ErrorDetail, depth: number): readonly ErrorDetail[] => {
  if (typeof value === 'string') {
    const parsedText = value.startsWith('{') ? jsonOrText(value) : value
    return typeof parsedText === 'string' ? [{ ...outer, message: parsedText }] : detailsOf(parsedText, outer, depth)
  }
  if (typeof value !== 'object' || value === null || depth > 4) return []
  if (Array.isArray(value)) return value.flatMap((each) => detailsOf(each, outer, depth + 1))
  const { error, detail, message, msg, param, loc, code, type } = value as Readonly<Record<string, unknown>>
  const field = Array.isArray(loc) ? loc.filter((step) => step !== 'body').join('.') : String(param ?? '')
  const inner = { field, code: String(code ?? type ?? ''), message: '' }
  return [error, detail, message, msg].flatMap((member) => detailsOf(member, inner, depth + 1))
}

/** The value of a text; the text itself if it is not JSON. */
const jsonOrText = (text: string): unknown => {
  const value = parsedJson(text)
  return value === undefined ? text : value
}
