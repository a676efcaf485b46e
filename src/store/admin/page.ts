import type { PageOf, PagePlace } from '../../../plugins/admin/store.ts'

/** A page of at most `limit` items, oldest first, from rows of which there is one more if the list goes on. */
export const pageOf = <Item extends { readonly id: string; readonly createdAt: number }>(
  rows: readonly Item[],
  limit: number,
): PageOf<Item> => {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return rows.length > limit && last ? { items, next: { key: last.createdAt, id: last.id } } : { items }
}

/** The time after which a page of a list by time begins. */
export const timeOf = (place: PagePlace | undefined): number =>
  typeof place?.key === 'number' ? place.key : Number.MIN_SAFE_INTEGER
