import { Problem } from '../shared/problem.ts'

/** Whether somebody wants events of a type. */
export type TypeFilter = (type: string) => boolean

const maxTypes = 50
const pattern = /^[a-z_]{1,40}\.(?:\*|[a-z_]{1,40})$/

/** Types of events, and families such as `video.*`, without duplicates. Throws Problem 400 that names the field. */
export const readTypes = (types: readonly unknown[], field: string): readonly string[] => {
  const valid = types.filter((type): type is string => typeof type === 'string' && pattern.test(type))
  if (valid.length !== types.length || valid.length === 0 || valid.length > maxTypes) {
    throw new Problem(400, `${field} must be 1 to ${maxTypes} types of events such as video.succeeded or video.*`)
  }
  return [...new Set(valid)]
}

/** The filter of a query: `types=video.*,asset.active`, also repeated. Throws Problem 400. */
export const readTypeFilter = (query: URLSearchParams): TypeFilter => {
  if (!query.has('types')) return () => true
  const types = new Set(
    readTypes(
      query.getAll('types').flatMap((text) => text.slice(0, maxQueryCharacters).split(',')),
      'types',
    ),
  )
  return (type) => types.has(type) || types.has(`${type.split('.', 1)[0]}.*`)
}

const maxQueryCharacters = 8_192
