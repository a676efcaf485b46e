import type { Json } from '../../shared/json/json.ts'
import { Problem } from '../../shared/problem.ts'

const keysAtAnyDepth = ['groupid', 'groupids']
const decidingKeys = new Set([...keysAtAnyDepth, 'grouptype', 'projectname', 'name', 'id', 'filter'])

/**
 * A longer key, without its separators, cannot fold to a deciding key: folding never shortens it. A character may have
 * two UTF-16 units.
 */
const maxKeyLength = 2 * Math.max(...[...decidingKeys].map((key) => key.length))

/** `_`, `-`, and every character that NFKC maps to one of them. */
const separators = /[_\-\ufe33\ufe34\ufe4d-\ufe4f\ufe63\uff0d\uff3f]+/g

const asciiOnly = /^[\0-\x7f]*$/

/**
 * Folds a key as the most lenient upstream might: without separators, case and compatibility forms (NFKC). Returns an
 * empty string for a key that is too long to match.
 */
export const foldKey = (key: string): string => {
  const letters = key.replace(separators, '')
  if (letters.length > maxKeyLength) return ''
  return (asciiOnly.test(letters) ? letters : letters.normalize('NFKC')).toLowerCase()
}

/** A member whose key decides about ownership, at least at one depth. */
export interface DecidingMember {
  /** The folded key. */
  readonly meant: string
  readonly key: string
  readonly value: Json
  /** Index of the object that contains it, in document order. 0 is the outermost object. */
  readonly object: number
}

const cache = new WeakMap<Json, readonly DecidingMember[]>()

/** All members whose keys decide about ownership, in any spelling. The result is cached, so each key is folded once. */
export const ownershipMembersOf = (json: Json): readonly DecidingMember[] => {
  let found = cache.get(json)
  if (!found) {
    found = findDeciding(json)
    cache.set(json, found)
  }
  return found
}

const findDeciding = (json: Json): readonly DecidingMember[] => {
  const found: DecidingMember[] = []
  let index = 0
  for (const object of json.objects()) {
    for (const { key, value } of object.members()) {
      const meant = foldKey(key)
      if (decidingKeys.has(meant)) found.push({ meant, key, value, object: index })
    }
    index++
  }
  return found
}

/**
 * Throws Problem 400 for a body that contains a deciding key twice, in any spelling: the gateway would check one value,
 * and the upstream might use the other.
 */
export const rejectDuplicateKeys = (json: Json): void => {
  const deciding = ownershipMembersOf(json)
  rejectDuplicates(deciding)
  for (const { meant, value, object } of deciding) {
    if (object === 0 && meant === 'filter' && value.isObject) rejectDuplicates(ownershipMembersOf(value))
  }
}

const rejectDuplicates = (deciding: readonly DecidingMember[]): void => {
  const seen = new Set<string>()
  for (const { meant, key, object } of deciding) {
    if (object > 0 && !keysAtAnyDepth.includes(meant)) continue
    const position = `${object} ${meant}`
    if (seen.has(position)) throw standsTwice(key)
    seen.add(position)
  }
}

/**
 * Throws Problem 400 for a body in which any object has a key twice: for a body that the gateway keeps and sends later,
 * so that its sender learns of it at once.
 */
export const rejectAllDuplicateKeys = (json: Json): void => {
  rejectDuplicateKeys(json)
  for (const object of json.objects()) {
    const seen = new Set<string>()
    for (const { key } of object.members()) {
      if (seen.has(key)) throw standsTwice(key)
      seen.add(key)
    }
  }
}

const standsTwice = (key: string): Problem => new Problem(400, `${key} stands twice in the body`)

/**
 * Throws Problem 400 for a body whose id, in any spelling, differs from the id in the path: the upstream might use the
 * one in the body.
 */
export const rejectOtherId = (json: Json, id: string): void => {
  const own = ownershipMembersOf(json).find(({ meant, object }) => object === 0 && meant === 'id')
  if (own && own.value.string() !== id) throw new Problem(400, 'Id must be that of the path')
}
