/** Numbers that depend on the seed alone. */
export interface Random {
  /** From 0 to below 1. */
  next(): number
  /** An integer of a range. */
  integer(from: number, to: number): number
  /** True with a probability. */
  chance(probability: number): boolean
  pick<Item>(items: readonly Item[]): Item
}

/** Mulberry32. */
export const randomFrom = (seed: number): Random => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const integer = (from: number, to: number) => from + Math.floor(next() * (to - from + 1))
  return {
    next,
    integer,
    chance: (probability) => next() < probability,
    pick: (items) => {
      const item = items[integer(0, items.length - 1)]
      if (item === undefined) throw new Error('nothing to pick')
      return item
    },
  }
}
