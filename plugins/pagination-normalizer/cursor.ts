import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Position } from './order.ts'
import type { ListRequest } from './parameters.ts'

/** Makes and reads the NextToken of one caller's lists. */
export interface Cursors {
  /**
   * The token for what comes after a position: URL-safe, at most 1024 characters.
   *
   * @param places where to look for the position, left out where there is no room for it
   */
  issue(request: ListRequest, caller: string, after: Position, places?: readonly SourceOffset[]): string
  /** What the request's token says; undefined when it has none, or one that was not issued for just this caller and list. */
  redeem(request: ListRequest, caller: string): RedeemedCursor | undefined
}

/** How many rows of a source have an earlier key than a position, and how many of its key come up to it. */
export type SourceOffset = readonly [before: number, level: number]

export interface RedeemedCursor {
  readonly after: Position
  /** By source; empty when the token had no room for them. */
  readonly places: readonly SourceOffset[]
}

const macBytes = 16

/**
 * Tokens carry a position, not an offset, so that a walk is not shifted by what comes and goes. They are bound to caller, endpoint, filters and
 * sort by their signature alone, and hold nothing but what the last item showed.
 *
 * @param secrets the first signs, all verify
 */
export const createCursors = (secrets: readonly [string, ...string[]]): Cursors => {
  const sign = (secret: string, text: string, bound: string): Buffer =>
    createHmac('sha256', secret).update(`${bound}\n${text}`).digest().subarray(0, macBytes)

  return {
    issue(request, caller, after, places = []) {
      const token = (content: readonly unknown[]) => {
        const text = JSON.stringify(content)
        return Buffer.concat([sign(secrets[0], text, bindingOf(request, caller)), Buffer.from(text)]).toString(
          'base64url',
        )
      }
      const full = token([after.key, after.id, ...places.flat()])
      return full.length <= 1024 ? full : token([after.key, after.id])
    },
    redeem(request, caller) {
      const token = request.nextToken
      if (token === undefined || token.length > 1024 || !/^[\w-]+$/.test(token)) return undefined
      const bytes = Buffer.from(token, 'base64url')
      // Unused bits of the last character could be changed unseen.
      if (bytes.length <= macBytes || bytes.toString('base64url') !== token) return undefined
      const text = bytes.subarray(macBytes).toString()
      const mac = bytes.subarray(0, macBytes)
      const bound = bindingOf(request, caller)
      if (!secrets.some((secret) => timingSafeEqual(sign(secret, text, bound), mac))) return undefined
      const [key, id, ...numbers] = JSON.parse(text) as [string, string, ...number[]]
      const places = numbers.flatMap((before, nth): SourceOffset[] =>
        nth % 2 === 0 ? [[before, numbers[nth + 1] ?? 0]] : [],
      )
      return { after: { key, id }, places }
    },
  }
}

/** All that a token must not be carried over to. Page size is not in it: it may change from page to page. */
export const bindingOf = ({ endpoint, filter, sortBy, sortOrder }: ListRequest, caller: string): string => {
  const filters = Object.keys(filter)
    .sort()
    .map((name) => {
      const value = filter[name]
      return [name, typeof value === 'string' ? value : [...(value ?? [])].sort()]
    })
  return JSON.stringify(['sluice-cursor-1', caller, endpoint, filters, sortBy, sortOrder])
}
