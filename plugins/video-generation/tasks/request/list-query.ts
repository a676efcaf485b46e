import { rejectParameter } from '../problem.ts'
import type { VideoStatus } from '../statuses.ts'
import type { VideoServiceTier } from '../task.ts'
import type { VideoTaskFilter } from '../tasks.ts'

/** A page of a list, and what it lists. */
export interface VideoListQuery {
  readonly filter: VideoTaskFilter
  readonly offset: number
  readonly limit: number
}

const statuses: readonly VideoStatus[] = ['queued', 'running', 'cancelled', 'succeeded', 'failed', 'expired']
const tiers: readonly VideoServiceTier[] = ['default', 'flex']

const maxPageSize = 500
/** The vendor has 500. The gateway's lists have no end. */
const maxPage = 1_000_000
const maxIds = 500
const maxModelLength = 256

/**
 * Reads the query of a list: `page_num`, `page_size`, and the filters `filter.status`, `filter.task_ids` (repeated),
 * `filter.model` and `filter.service_tier` (default `default`, as the vendor has it).
 *
 * A parameter without a value counts as absent, and unknown ones are ignored. Throws VideoProblem 400 for an invalid
 * value, and for a parameter of one value that is given twice.
 */
export const readListQuery = (query: URLSearchParams): VideoListQuery => {
  const limit = integerOf(query, 'page_size', maxPageSize) ?? 20
  const page = integerOf(query, 'page_num', maxPage) ?? 1
  const ids = query.getAll('filter.task_ids').filter((id) => id !== '')
  if (ids.length > maxIds) rejectParameter('filter.task_ids', `must be at most ${maxIds} ids`)
  const model = parameterOf(query, 'filter.model')
  if (model !== undefined && model.length > maxModelLength) rejectParameter('filter.model', 'is too long')
  // No database stores NUL.
  if (model?.includes('\0')) rejectParameter('filter.model', 'must not contain NUL')
  return {
    filter: {
      status: wordOf(query, 'filter.status', statuses),
      serviceTier: wordOf(query, 'filter.service_tier', tiers) ?? 'default',
      model,
      ids: ids.length === 0 ? undefined : [...new Set(ids)],
    },
    offset: (page - 1) * limit,
    limit,
  }
}

const parameterOf = (query: URLSearchParams, name: string): string | undefined => {
  const values = query.getAll(name)
  if (values.length > 1) rejectParameter(name, 'is given more than once')
  return values[0] === '' ? undefined : values[0]
}

const integerOf = (query: URLSearchParams, name: string, max: number): number | undefined => {
  const value = parameterOf(query, name)
  if (value === undefined) return undefined
  const number = /^\d{1,9}$/.test(value) ? Number(value) : 0
  return number >= 1 && number <= max ? number : rejectParameter(name, `must be an integer from 1 to ${max}`)
}

const wordOf = <Word extends string>(
  query: URLSearchParams,
  name: string,
  words: readonly Word[],
): Word | undefined => {
  const value = parameterOf(query, name)
  if (value === undefined) return undefined
  return words.find((word) => word === value) ?? rejectParameter(name, `must be one of ${words.join(', ')}`)
}
