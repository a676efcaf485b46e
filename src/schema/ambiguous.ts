import type { Json } from '../../plugins/shared/json.ts'
import { Problem } from '../../plugins/shared/problem.ts'

/** A key as the most lenient reader would see it: case, compatibility forms and separators folded. */
export const foldKey = (key: string): string => key.normalize('NFKC').toLowerCase().replace(/[_-]/g, '')

const everywhere = new Set(['groupid', 'groupids'])
const outermost = new Set(['groupid', 'grouptype', 'projectname', 'name', 'id', 'filter'])

/**
 * Throws Problem 400 for a body in which a key that decides about ownership stands twice, in whatever spelling: the gateway would check
 * one, and the upstream might take the other (reading 31).
 */
export const refuseAmbiguous = (json: Json): void => {
  refuseIn(json, outermost)
  for (const { key, value } of json.members()) {
    if (foldKey(key) === 'filter') refuseIn(value, outermost)
  }
  for (const object of json.objects()) refuseIn(object, everywhere)
}

const refuseIn = (object: Json, watched: ReadonlySet<string>): void => {
  const seen = new Set<string>()
  for (const { key } of object.members()) {
    const folded = foldKey(key)
    if (!watched.has(folded)) continue
    if (seen.has(folded)) throw new Problem(400, `${key} stands twice in the body`)
    seen.add(folded)
  }
}

/** Throws Problem 400 for a body with an id of its own, in whatever spelling, that is not the one in the path: an upstream might prefer it. */
export const refuseOtherId = (json: Json, id: string): void => {
  const own = json.members().find(({ key }) => foldKey(key) === 'id')
  if (own && own.value.string() !== id) throw new Problem(400, 'Id must be that of the path')
}
