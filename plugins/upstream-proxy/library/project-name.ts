import type { Json } from '../../shared/json.ts'

const isProject = (key: string): boolean => key.toLowerCase() === 'projectname'

/** A body without `ProjectName`, at the top and inside `Filter`: callers know no projects. Itself when there is none. */
export const withoutProjectName = (json: Json): Json => {
  const filter = json.get('Filter')
  const stripped = filter?.without(isProject)
  return (stripped && stripped !== filter ? json.with('Filter', stripped) : json).without(isProject)
}
