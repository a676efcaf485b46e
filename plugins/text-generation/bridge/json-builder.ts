import { composeJson, type Json, type Piece } from '../../shared/json.ts'
import type { JsonPath } from './json-path.ts'

/** Members of an object by key; undefined ones are left out. */
export type Members = Readonly<Record<string, Json | undefined>>

/** An object of values that stay as they were written. */
export const object = (members: Members): Json => {
  const pieces: Piece[] = []
  for (const [key, value] of Object.entries(members)) {
    if (value) pieces.push(`${pieces.length === 0 ? '{' : ','}${JSON.stringify(key)}:`, value)
  }
  return composeJson(pieces.length === 0 ? ['{}'] : [...pieces, '}'])
}

export const array = (elements: readonly Json[]): Json =>
  composeJson(['[', ...elements.flatMap((element, nth) => (nth === 0 ? [element] : [',', element])), ']'])

/** A member that says something: `null` counts as absent, which is what it means in both protocols. */
export const given = (json: Json, key: string): Json | undefined => {
  const value = json.get(key)
  return value?.is('null') ? undefined : value
}

/** The members that nobody here knows, which are passed on as they are. */
export const others = (json: Json, known: readonly string[]): Members =>
  Object.fromEntries(json.members().flatMap(({ key, value }) => (known.includes(key) ? [] : [[key, value]])))

/** The string of a member. Throws TextProblem 400 when it is anything else. */
export const stringAt = (json: Json, key: string, place: JsonPath): Json => {
  const value = given(json, key)
  if (!value?.isString) throw place.at(key).invalid('must be a string')
  return value
}

/** Throws TextProblem 400 for members that say something a chat completion cannot: all but `null`, and what `harmless` takes for no demand. */
export const refuse = (
  json: Json,
  keys: readonly string[],
  place: JsonPath,
  harmless: readonly string[] = [],
): void => {
  for (const key of keys) {
    const value = given(json, key)
    if (value && !harmless.includes(JSON.stringify(value.value()))) throw place.at(key).unsupported(value.string())
  }
}
