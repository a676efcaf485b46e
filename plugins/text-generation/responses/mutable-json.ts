import { StreamError } from '../protocol/assembly.ts'

/** A JSON object of the Responses protocol. Unknown members stay in it. */
export type MutableObject = Record<string, unknown>

/** Whether a value is a JSON object. Frozen objects are none: `parseLossless` represents long numbers so. */
export const isMutableObject = (value: unknown): value is MutableObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !Object.isFrozen(value)

export const isNonEmptyString = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** Maximum of items in a response, of parts in an item, and of commands in a call. */
export const maxEntries = 1024

/** Reads an index of an event; undefined when absent. Throws StreamError unless it is a whole number from 0 to 1023. */
export const readPosition = (event: MutableObject, name: string): number | undefined => {
  const value = event[name]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return requireBounded(value)
  throw new StreamError(`upstream sent an event whose ${name} is not an index`)
}

/** Returns the position. Throws StreamError above 1023. */
export const requireBounded = (position: number): number => {
  if (position < maxEntries) return position
  throw new StreamError(`upstream sent more than ${maxEntries} items, or parts of one`)
}

/** The array in a member. Created when there is none. */
export const arrayIn = (object: MutableObject, name: string): unknown[] => {
  const value = object[name]
  if (Array.isArray(value)) return value
  const array: unknown[] = []
  object[name] = array
  return array
}

/** Appends a delta to a text member. Engines represent the result as a rope, so that many deltas take linear time. */
export const append = (object: MutableObject, name: string, delta: unknown): void => {
  if (typeof delta !== 'string') return
  const value = object[name]
  object[name] = typeof value === 'string' ? value + delta : delta
}

/**
 * Merges an added item or part with what deltas have built before it came. An empty member does not replace a built
 * one.
 */
export const mergeBuilt = (added: MutableObject, built: MutableObject): MutableObject => {
  const merged = { ...added }
  for (const name of builtMembers) if (isEmpty(merged[name]) && !isEmpty(built[name])) merged[name] = built[name]
  return merged
}

const builtMembers = ['text', 'refusal', 'annotations', 'logprobs', 'content', 'summary', 'arguments', 'input', 'code']

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
