import type { Json } from '../../plugins/shared/json.ts'
import { Problem } from '../../plugins/shared/problem.ts'

const everywhere = ['groupid', 'groupids']
const outermost = new Set([...everywhere, 'grouptype', 'projectname', 'name', 'id', 'filter'])

/** No character becomes less than one, nor a separator with anything else: a key for which more is left has other letters. Each may be two units of UTF-16. */
const longest = 2 * Math.max(...[...outermost].map((key) => key.length))

/** Every character that NFKC makes `_` or `-`. */
const separators = /[_\-\ufe33\ufe34\ufe4d-\ufe4f\ufe63\uff0d\uff3f]+/g

const ascii = /^[\0-\x7f]*$/

/** A key as the most lenient reader would see it: case, compatibility forms and separators folded. Empty for one that is too long to decide anything. */
export const foldKey = (key: string): string => {
  const letters = key.replace(separators, '')
  if (letters.length > longest) return ''
  return (ascii.test(letters) ? letters : letters.normalize('NFKC')).toLowerCase()
}

/** A member that decides about ownership, if only in one of the objects that it may stand in. */
export interface DecidingMember {
  /** Its key, folded. */
  readonly meant: string
  readonly key: string
  readonly value: Json
  /** Which of the objects it stands in, in their order: 0 is the outermost. */
  readonly object: number
}

const known = new WeakMap<Json, readonly DecidingMember[]>()

/** All members whose keys decide about ownership, in whatever spelling. Every key is folded once, however often this is asked. */
export const decidingIn = (json: Json): readonly DecidingMember[] => {
  let found = known.get(json)
  if (!found) {
    found = search(json)
    known.set(json, found)
  }
  return found
}

const search = (json: Json): readonly DecidingMember[] => {
  const found: DecidingMember[] = []
  let nth = 0
  for (const object of json.objects()) {
    for (const { key, value } of object.members()) {
      const meant = foldKey(key)
      if (outermost.has(meant)) found.push({ meant, key, value, object: nth })
    }
    nth++
  }
  return found
}

/**
 * Throws Problem 400 for a body in which a key that decides about ownership stands twice, in whatever spelling: the gateway would check
 * one, and the upstream might take the other.
 */
export const refuseDuplicateKeys = (json: Json): void => {
  const deciding = decidingIn(json)
  refuseTwice(deciding)
  for (const { meant, value, object } of deciding) {
    if (object === 0 && meant === 'filter' && value.isObject) refuseTwice(decidingIn(value))
  }
}

const refuseTwice = (deciding: readonly DecidingMember[]): void => {
  const seen = new Set<string>()
  for (const { meant, key, object } of deciding) {
    if (object > 0 && !everywhere.includes(meant)) continue
    const place = `${object} ${meant}`
    if (seen.has(place)) throw new Problem(400, `${key} stands twice in the body`)
    seen.add(place)
  }
}

/** Throws Problem 400 for a body with an id of its own, in whatever spelling, that is not the one in the path: an upstream might prefer it. */
export const refuseOtherId = (json: Json, id: string): void => {
  const own = decidingIn(json).find(({ meant, object }) => object === 0 && meant === 'id')
  if (own && own.value.string() !== id) throw new Problem(400, 'Id must be that of the path')
}
