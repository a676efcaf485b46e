import type { Json } from '../../shared/json/json.ts'

const isProject = (key: string): boolean => key.toLowerCase() === 'projectname'

/**
 * Removes `ProjectName` from a body, at the top level and in `Filter`. Returns the same object if there is none.
 *
 * The project belongs to the account, so a caller must not choose it.
 */
export const withoutProjectName = (json: Json): Json => {
  const filter = json.get('Filter')
  const stripped = filter?.without(isProject)
  return (stripped && stripped !== filter ? json.with('Filter', stripped) : json).without(isProject)
}
