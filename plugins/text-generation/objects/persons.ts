import { accessDenied } from '../../shared/audit.ts'
import { notAuthorized } from '../../shared/consent/not-authorized.ts'
import type { AssetOwners } from '../../shared/media/asset-ownership.ts'
import type { UsedAsset } from '../../shared/media/asset-uses.ts'
import { TextProblem } from '../protocol/problem.ts'
import type { TextObject } from './store.ts'

/** An object that a request refers to, and the field that names it. */
export interface ReferencedObject {
  readonly object: TextObject
  readonly param: string
}

/** Persons of one request, with those of what it continues. */
const maxPersons = 100

/**
 * The groups of the persons that a request shows: by its own assets, and by the objects that it continues. What it
 * creates shows them too.
 *
 * Throws TextProblem 400 for more than an object may show.
 */
export const personsIn = (assets: readonly UsedAsset[], referenced: readonly ReferencedObject[]): readonly string[] => {
  if (assets.length === 0 && referenced.length === 0) return nobody
  const persons = new Set<string>()
  for (const { group, showsPerson } of assets) if (showsPerson && group !== undefined) persons.add(group)
  for (const { object } of referenced) for (const person of object.persons ?? []) persons.add(person)
  if (persons.size > maxPersons)
    throw new TextProblem(400, `request shows more than ${maxPersons} persons, with what it continues`, {
      param: 'input',
    })
  return persons.size === 0 ? nobody : [...persons]
}

const nobody: readonly string[] = []

/**
 * Requires that the persons whom the objects show still consent: their upstream would use their assets again. Rejects
 * with TextProblem 403, as for a request that names such an asset itself. Asks only about objects that show a person.
 */
export const requireConsents = async (
  referenced: readonly ReferencedObject[],
  assets: Pick<AssetOwners, 'areConsented'> | undefined,
): Promise<void> => {
  const asked = new Set<string>()
  for (const { object, param } of referenced) {
    const persons = object.persons?.filter((person) => !asked.has(person)) ?? []
    if (persons.length === 0) continue
    if ((await assets?.areConsented?.(persons)) === false) {
      const { status, message } = notAuthorized('asset', object.id)
      const event = accessDenied(object.kind, object.id)
      throw new TextProblem(status, message, { param, code: 'asset_not_found', event })
    }
    for (const person of persons) asked.add(person)
  }
}
