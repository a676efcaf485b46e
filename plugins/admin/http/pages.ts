import { success } from '../../shared/http/no-store.ts'
import type { TextSigner } from '../../shared/identity/signed-text.ts'
import { fault } from '../fields.ts'
import type { PagePlace, PageRequest } from '../store.ts'

/** The parameters of a list. */
export const pageParameters = ['limit', 'cursor'] as const

const maxLimit = 200
const defaultLimit = 50
/** The place of a sum of usage has two ids and a model. */
const maxCursorLength = 8_192

/** A page of a list that a request asks for, and the cursor of the next one. */
export interface CursorPage<Place> {
  readonly limit: number
  readonly after?: Place
  /** Null: there is no next page. */
  nextCursor(next: Place | undefined): string | null
}

/**
 * Reads `limit` (1 to 200, default 50) and `cursor`. Throws Problem 400 for another number, and for a cursor that was
 * not given for the same list and the same filters.
 *
 * @param list name of the list, with the id in its path
 */
export const readPage = <Place = PagePlace>(
  { limit, cursor, ...filters }: Readonly<Record<string, string>>,
  list: readonly string[],
  signer: TextSigner,
): CursorPage<Place> => {
  const number = limit === undefined ? defaultLimit : Number(/^\d{1,3}$/.exec(limit)?.[0])
  if (!(number >= 1 && number <= maxLimit)) throw fault('limit', `limit must be an integer from 1 to ${maxLimit}`)
  const named = Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1))
  const binding = JSON.stringify(['sluice-admin-1', ...list, named])
  const text = cursor === undefined || cursor.length > maxCursorLength ? undefined : signer.verify(cursor, binding)
  if (cursor !== undefined && text === undefined) throw fault('cursor', 'cursor is not one of this list')
  return {
    limit: number,
    ...(text !== undefined && { after: JSON.parse(text) as Place }),
    nextCursor: (next) => (next === undefined ? null : signer.sign(JSON.stringify(next), binding)),
  }
}

/** What the store is asked for. */
export const pageRequest = ({ limit, after }: CursorPage<PagePlace>): PageRequest => ({ limit, after })

/** The response with a page: the items by their name, and `next_cursor`. */
export const pageResponse = <Item, Place>(
  name: string,
  { items, next }: { readonly items: readonly Item[]; readonly next?: Place },
  page: CursorPage<Place>,
  toView: (item: Item) => object,
): Response => success({ [name]: items.map(toView), next_cursor: page.nextCursor(next) })
