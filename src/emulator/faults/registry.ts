import { selects } from '../action-names.ts'
import { textFaultFields } from '../text/faults/faults.ts'
import { callbackFaults, videoFaultFields } from '../video/faults.ts'
import { checkFault, listFaults } from './check.ts'
import type { Fault, FaultHandle, FaultKind, Faults } from './faults.ts'

/** A fault that applies to one call. */
export interface AppliedFault {
  readonly fault: FaultKind
  /** counts the fault at the moment when it takes effect */
  hit(): void
  /** resolves when the `hold` is released */
  readonly released: Promise<void>
}

/** The registry, and the faults of one call. */
export interface FaultRegistry {
  readonly faults: Faults
  readonly faultsFor: (api: string, action: string) => readonly AppliedFault[]
}

/** Creates the fault registry, and the function with which the server looks up the faults of a call. */
export const createFaults = (): FaultRegistry => {
  const active = new Map<number, ReturnType<typeof createFault>>()
  let added = 0

  const add = (fault: Fault): FaultHandle => {
    checkFault(fault)
    const id = ++added
    const entry = createFault(id, fault, () => active.delete(id))
    active.set(id, entry)
    return entry.handle
  }

  const faults: Faults = {
    add,
    clear: () => {
      for (const { handle } of active.values()) handle.remove()
    },
    list: () => [...active.values()].map(({ handle }) => handle),
  }
  const faultsFor = (api: string, action: string) =>
    [...active.values()].flatMap((entry) => entry.apply(api, action) ?? [])
  return { faults, faultsFor }
}

const createFault = (id: number, fault: Fault, unregister: () => void) => {
  const { times = 1, after = 0, probability = 1 } = fault
  const hold = Promise.withResolvers<void>()
  const random = createRandom(id)
  let waiting: { readonly hits: number; resolve(): void }[] = []
  let seen = 0
  let left = times
  let hits = 0

  const hit = (): void => {
    hits++
    for (const one of waiting) if (hits >= one.hits) one.resolve()
    waiting = waiting.filter((one) => hits < one.hits)
  }

  const apply = (api: string, action: string): AppliedFault | undefined => {
    if (!matches(fault, api, action) || seen++ < after || left <= 0 || random() >= probability) return undefined
    left--
    return { fault, hit, released: hold.promise }
  }

  const handle: FaultHandle = {
    id,
    fault,
    get hits() {
      return hits
    },
    waitForHits: (wanted = 1) =>
      new Promise((resolve) => {
        if (hits >= wanted) resolve()
        else waiting.push({ hits: wanted, resolve })
      }),
    release: hold.resolve,
    remove: () => {
      unregister()
      hold.resolve()
    },
  }
  return { handle, apply }
}

const matches = ({ kind, action, api }: Fault, callApi: string, callAction: string): boolean => {
  if (api !== undefined && api !== callApi) return false
  if (listFaults.includes(kind) && !callAction.startsWith('ListAsset')) return false
  // the emulator sends callbacks: faults of received calls do not apply to them
  if (callbackFaults.includes(kind) !== (callAction === 'SendVideoCallback')) return false
  return action === undefined || selects(action, callAction)
}

/** A seeded pseudo-random number generator for [0, 1): mulberry32. */
const createRandom = (seed: number): (() => number) => {
  let state = seed * 0x9e3779b9
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/**
 * A fault registry with default actions: text faults apply to calls that generate, list faults to lists of groups and
 * assets, rate limits to calls that create a video task, and faults of callbacks to callbacks.
 */
export const withDefaultScope = (faults: Faults): Faults => ({
  ...faults,
  add: (fault) => faults.add(withDefaultAction(fault)),
})

const withDefaultAction = (fault: Fault): Fault => {
  if (Object.hasOwn(textFaultFields, fault.kind)) {
    return { ...fault, api: 'text', action: fault.action ?? /^Create(?:ChatCompletion|Completion|Response)$/ }
  }
  if (Object.hasOwn(videoFaultFields, fault.kind)) {
    const action = fault.kind === 'rate-limit' ? 'CreateVideoTask' : 'SendVideoCallback'
    return { ...fault, api: 'video', action: fault.action ?? action }
  }
  return listFaults.includes(fault.kind) ? { ...fault, action: fault.action ?? /^ListAsset/ } : fault
}
