import type { Fault, FaultHandle, FaultKind, Faults } from './faults.ts'

/** A fault that strikes a certain call. */
export interface Strike {
  readonly fault: FaultKind
  /** counts it, at the moment at which it takes effect */
  hit(): void
  /** resolves when a hold is released */
  readonly released: Promise<void>
}

const LIST_KINDS: readonly string[] = ['foreign', 'missing-field', 'no-data', 'repeat-cursor']

/** A switchboard and the question that the server asks of it for each call. */
export function createFaults() {
  const live = new Map<number, ReturnType<typeof createFault>>()
  let added = 0

  function add(fault: Fault): FaultHandle {
    const id = ++added
    const made = createFault(id, fault, () => live.delete(id))
    live.set(id, made)
    return made.handle
  }

  const faults: Faults = {
    add,
    clear: () => {
      for (const { handle } of live.values()) handle.remove()
    },
    list: () => [...live.values()].map(({ handle }) => handle),
  }
  const strikes = (shape: string, action: string) =>
    [...live.values()].flatMap((made) => made.strike(shape, action) ?? [])
  return { faults, strikes }
}

function createFault(id: number, fault: Fault, off: () => void) {
  const { times = 1, after = 0, probability = 1 } = fault
  const gate = Promise.withResolvers<void>()
  const dice = createDice(id)
  let waiting: { readonly hits: number; resolve(): void }[] = []
  let seen = 0
  let left = times
  let hits = 0

  function hit(): void {
    hits++
    for (const one of waiting) if (hits >= one.hits) one.resolve()
    waiting = waiting.filter((one) => hits < one.hits)
  }

  function strike(shape: string, action: string): Strike | undefined {
    if (!matches(fault, shape, action) || seen++ < after || left <= 0 || dice() >= probability) return undefined
    left--
    return { fault, hit, released: gate.promise }
  }

  const handle: FaultHandle = {
    id,
    fault,
    get hits() {
      return hits
    },
    struck: (wanted = 1) =>
      new Promise((resolve) => {
        if (hits >= wanted) resolve()
        else waiting.push({ hits: wanted, resolve })
      }),
    release: gate.resolve,
    remove: () => {
      off()
      gate.resolve()
    },
  }
  return { handle, strike }
}

function matches({ kind, action, shape }: Fault, gotShape: string, got: string): boolean {
  if (shape !== undefined && shape !== gotShape) return false
  if (LIST_KINDS.includes(kind) && !got.startsWith('List')) return false
  if (action === undefined) return true
  return typeof action === 'string'
    ? action === got
    : new RegExp(action.source, action.flags.replace(/[gy]/g, '')).test(got)
}

/** Numbers from 0 to 1 that look random and repeat with their seed (mulberry32). */
function createDice(seed: number): () => number {
  let state = seed * 0x9e3779b9
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
