import { Problem } from '../../shared/problem.ts'

const maxPageSize = 100

/**
 * Reads which page a caller wants of what the gateway itself keeps. `after`: `NextToken`; undefined: the first page.
 * Throws Problem 400 for a wrong `MaxResults`.
 */
export const readPageRequest = (
  query: URLSearchParams,
): { readonly after: string | undefined; readonly limit: number } => {
  const size = query.get('MaxResults') || '10'
  if (!/^[1-9]\d{0,2}$/.test(size) || Number(size) > maxPageSize)
    throw new Problem(400, `MaxResults must be an integer from 1 to ${maxPageSize}`)
  return { after: query.get('NextToken') || undefined, limit: Number(size) }
}

/** A `NextToken` that no page has returned: an empty page would say that nothing follows. */
export const wrongNextToken = () => new Problem(400, 'NextToken must be that of the page before')
