/**
 * Works on items in their order, up to `lanes` of them at once, so that those that take long delay the others less.
 * Resolves when all are done.
 *
 * Rejects with the first error of `work`; the other lanes go on.
 */
export const inLanes = async <Item>(
  items: Iterable<Item>,
  lanes: number,
  work: (item: Item) => Promise<void>,
): Promise<void> => {
  const rest = Iterator.from(items)
  const lane = async (): Promise<void> => {
    for (let next = rest.next(); !next.done; next = rest.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}
