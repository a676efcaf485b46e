import { StreamError } from '../assembly.ts'

/** A JSON object of the Responses protocol. Members that nobody here knows stay in it. */
export type MutableObject = Record<string, unknown>

/** Numbers that are kept as they were written are objects as well, but frozen: nothing can be put together in one. */
export const isMutableObject = (value: unknown): value is MutableObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !Object.isFrozen(value)

export const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** How many items an answer may have, parts an item, commands a call. */
export const maxEntries = 1024

/** A position that an event names; undefined when it names none. Throws StreamError for one that cannot be, or lies beyond the bound. */
export const positionIn = (event: MutableObject, name: string): number | undefined => {
  const value = event[name]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return within(value)
  throw new StreamError(`upstream sent an event whose ${name} is no position`)
}

/** The position itself. Throws StreamError beyond the bound. */
export const within = (position: number): number => {
  if (position < maxEntries) return position
  throw new StreamError(`upstream sent more than ${maxEntries} items, or parts of one`)
}

/** The list in a member, put there when there is none. */
export const listIn = (fields: MutableObject, name: string): unknown[] => {
  const value = fields[name]
  if (Array.isArray(value)) return value
  const list: unknown[] = []
  fields[name] = list
  return list
}

/** Adds a delta to what a member has come to. A rope in every engine, so that the whole is linear. */
export const append = (fields: MutableObject, name: string, delta: unknown): void => {
  if (typeof delta !== 'string') return
  const value = fields[name]
  fields[name] = typeof value === 'string' ? value + delta : delta
}

/** What has been put together by deltas that came before their item, or part, was announced stays where the announcement is empty. */
export const announced = (announcement: MutableObject, built: MutableObject): MutableObject => {
  const whole = { ...announcement }
  for (const name of builtUp) if (isEmpty(whole[name]) && !isEmpty(built[name])) whole[name] = built[name]
  return whole
}

const builtUp = ['text', 'refusal', 'annotations', 'logprobs', 'content', 'summary', 'arguments', 'input', 'code']

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
