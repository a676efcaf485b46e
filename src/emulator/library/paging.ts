import { ArkError, invalid, missing } from '../api/ark-error.ts'
import type { Fields } from '../shared/fields.ts'
import { sha256 } from '../shared/hash.ts'

/** The position of a cursor: after the item with this sort key and tieBreaker. */
export interface CursorPosition {
  readonly key: number | string
  readonly tieBreaker: number
}

/** The requested page of a sorted list, in one of two exclusive modes (vendor pages 2318272, 2318273). */
export type PageRequest =
  | { readonly mode: 'page'; readonly number: number; readonly size: number }
  | { readonly mode: 'cursor'; readonly size: number; readonly after?: CursorPosition }

/**
 * Reads PageNumber and PageSize, or MaxResults and NextToken; default: cursor mode, 10 items. An empty NextToken counts
 * as absent. `queryHash` is the hash of filter and sort: a token that was issued for another one is rejected.
 */
export const readPageRequest = (fields: Fields, queryHash: string, maxDepth: number): PageRequest => {
  const number = fields.integer('PageNumber', 1, Number.MAX_SAFE_INTEGER)
  const size = fields.integer('PageSize', 1, 100)
  const maxResults = fields.integer('MaxResults', 1, 100)
  const token = fields.text('NextToken', Number.POSITIVE_INFINITY) || undefined
  if (number === undefined && size === undefined) {
    return {
      mode: 'cursor',
      size: maxResults ?? 10,
      ...(token === undefined ? {} : { after: positionOf(token, queryHash) }),
    }
  }
  if (maxResults !== undefined || token !== undefined) {
    throw new ArkError(
      400,
      'InvalidParameter',
      'PageNumber and PageSize cannot be combined with MaxResults and NextToken.',
    )
  }
  if (number === undefined) throw missing('PageNumber')
  if (size === undefined) throw missing('PageSize')
  if (number * size > maxDepth) throw invalid('PageNumber', `PageNumber times PageSize must be at most ${maxDepth}.`)
  return { mode: 'page', number, size }
}

/** A short hash of a filter and a sort. */
export const queryHashOf = (...parts: readonly unknown[]): string => sha256(JSON.stringify(parts)).slice(0, 16)

/** The opaque token of a cursor position. */
export const tokenOf = ({ key, tieBreaker }: CursorPosition, queryHash: string): string => {
  const payload = JSON.stringify([queryHash, key, tieBreaker])
  return Buffer.from(checksum(payload) + payload).toString('base64url')
}

const positionOf = (token: string, queryHash: string): CursorPosition => {
  const text = Buffer.from(token, 'base64url').toString()
  const payload = text.slice(16)
  if (text.slice(0, 16) !== checksum(payload)) throw invalid('NextToken', 'NextToken is invalid.')
  const [given, key, tieBreaker] = JSON.parse(payload) as [string, number | string, number]
  if (given !== queryHash) throw invalid('NextToken', 'NextToken belongs to another filter or sort.')
  return { key, tieBreaker }
}

const checksum = (payload: string): string => sha256(`cursor ${payload}`).slice(0, 16)
