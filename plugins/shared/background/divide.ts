/**
 * What a failed call for several items means.
 *
 * - `item`: it has failed for what one of them is. A call without that one succeeds.
 * - `unclear`: that, or no call succeeds now.
 * - `all`: no call succeeds now.
 */
export type FailureScope = 'item' | 'unclear' | 'all'

/** What the calls of several batches share. */
export interface DivideBudget {
  /** Calls beyond one for each batch. */
  calls: number
  /** Whether a call has succeeded. */
  works: boolean
}

export interface DivideOptions<Item> {
  /** A call for several items. It must be safe to call it again for items of a call that has failed. */
  readonly call: (items: readonly Item[]) => Promise<void>
  readonly scopeOf: (error: unknown) => FailureScope
  /** Receives each item for which a call fails, if that has nothing to do with the others. */
  readonly onFailed: (item: Item, error: unknown) => void
  /** Default: 64 calls. */
  readonly budget?: DivideBudget
}

/**
 * Makes one call for a batch. If it fails for what one of the items is, the batch is halved, down to the items for
 * which it fails: no item keeps the others from their call.
 *
 * After an unclear failure, one item at random is tried alone. Only if that succeeds is the rest divided, so something
 * that is down gets two calls for a batch.
 *
 * Resolves with the items for which no call was left. Rejects with the error of the batch if nothing succeeds.
 */
export const divide = async <Item>(
  batch: readonly Item[],
  { call, scopeOf, onFailed, budget = { calls: 64, works: false } }: DivideOptions<Item>,
): Promise<readonly Item[]> => {
  const left: Item[] = []

  const callFor = async (items: readonly Item[]): Promise<void> => {
    await call(items)
    budget.works = true
  }

  const attempt = async (items: readonly Item[]): Promise<void> => {
    const [first, ...others] = items
    if (first === undefined) return
    try {
      await callFor(items)
    } catch (error) {
      const scope = scopeOf(error)
      if (scope === 'all') throw error
      if (others.length > 0) return divideRest(scope === 'unclear' ? await withoutProbe(items, error) : items)
      if (scope === 'unclear' && !budget.works) throw error
      onFailed(first, error)
    }
  }

  /**
   * Tries one of the items, if no call has succeeded yet. Returns the others. Rejects with the error of all if it fails
   * too.
   */
  const withoutProbe = async (items: readonly Item[], error: unknown): Promise<readonly Item[]> => {
    if (budget.works) return items
    const index = Math.floor(Math.random() * items.length)
    if (budget.calls-- <= 0) throw error
    await callFor(items.slice(index, index + 1)).catch(() => {
      throw error
    })
    return items.toSpliced(index, 1)
  }

  const divideRest = async (items: readonly Item[]): Promise<void> => {
    const middle = Math.ceil(items.length / 2)
    for (const half of [items.slice(0, middle), items.slice(middle)]) {
      if (half.length === 0) continue
      if (budget.calls-- > 0) await attempt(half)
      else left.push(...half)
    }
  }

  await attempt(batch)
  return left
}
