import { createTextSigner } from '../shared/identity/signed-text.ts'
import type { Position } from './order.ts'
import type { ListRequest } from './parameters.ts'

/** Signs and verifies the `NextToken` of lists. */
export interface Cursors {
  /**
   * A token for the rows after a position: URL-safe, at most 1024 characters.
   *
   * @param offsets where the position is in each source; left out when the token would become too long
   */
  issue(request: ListRequest, caller: string, after: Position, offsets?: readonly SourceOffset[]): string
  /**
   * The content of the request's token. Undefined without a token, or when the token was issued for another caller or
   * list.
   */
  redeem(request: ListRequest, caller: string): RedeemedCursor | undefined
}

/**
 * How many rows of a source have an earlier key than a position, and how many rows with its key come up to and
 * including it.
 */
export type SourceOffset = readonly [keyOffset: number, tieRank: number]

/** The content of a valid token. */
export interface RedeemedCursor {
  readonly after: Position
  /** One for each source; empty when they did not fit into the token. */
  readonly offsets: readonly SourceOffset[]
}

/**
 * Creates signed page tokens (HMAC-SHA-256).
 *
 * A token holds a position, so that inserted or deleted rows do not shift a walk. The offsets are only hints where to
 * look for it. Caller, endpoint, filters and sort order are part of the signed text but not of the token, which shows
 * nothing but values from the caller's own list.
 *
 * Throws TypeError without secrets.
 *
 * @param secrets the first signs, all verify
 */
export const createCursors = (secrets: readonly string[]): Cursors => {
  const signer = createTextSigner(secrets)
  return {
    issue(request, caller, after, offsets = []) {
      const token = (content: readonly unknown[]) => signer.sign(JSON.stringify(content), bindingOf(request, caller))
      const full = token([after.key, after.id, ...offsets.flat()])
      return full.length <= 1024 ? full : token([after.key, after.id])
    },
    redeem(request, caller) {
      const token = request.nextToken
      if (token === undefined || token.length > 1024) return undefined
      const text = signer.verify(token, bindingOf(request, caller))
      if (text === undefined) return undefined
      const [key, id, ...numbers] = JSON.parse(text) as [string, string, ...number[]]
      const offsets = numbers.flatMap((keyOffset, index): SourceOffset[] =>
        index % 2 === 0 ? [[keyOffset, numbers[index + 1] ?? 0]] : [],
      )
      return { after: { key, id }, offsets }
    },
  }
}

/** Throws TypeError without a caller: lists of different users would share tokens and cached rows. */
export const requireCaller = (caller: unknown): void => {
  if (typeof caller !== 'string' || caller === '') throw new TypeError('caller must be a text, and not empty')
}

/** What a token is bound to, as one text. The page size is not part of it: it may change from page to page. */
export const bindingOf = ({ endpoint, filter, sortBy, sortOrder }: ListRequest, caller: string): string => {
  const filters = Object.keys(filter)
    .sort()
    .map((name) => {
      const value = filter[name]
      return [name, typeof value === 'string' ? value : [...(value ?? [])].sort()]
    })
  return JSON.stringify(['sluice-cursor-1', caller, endpoint, filters, sortBy, sortOrder])
}
