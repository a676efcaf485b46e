import { type ListRequest, type ListRules, readListRequest } from '../../plugins/pagination-normalizer/index.ts'
import { readJson } from '../../plugins/shared/json/json.ts'
import { Problem } from '../../plugins/shared/problem.ts'

export const rules: ListRules = {
  endpoint: 'things',
  filters: {
    GroupType: { kind: 'word', words: ['AIGC', 'LivenessFace'], default: 'AIGC' },
    GroupIds: { kind: 'list' },
    Name: { kind: 'text', max: 64 },
    Statuses: { kind: 'list', words: ['Active', 'Processing', 'Failed'] },
  },
  sortBy: ['CreateTime', 'UpdateTime', 'GroupId'],
}

/** Reads a list request from a query string and a body (JSON text or value). */
export const read = (query: string, body?: unknown): ListRequest =>
  readListRequest(
    rules,
    new URLSearchParams(query),
    body === undefined ? undefined : readJson(typeof body === 'string' ? body : JSON.stringify(body)),
  )

/** The message of the 400 for an invalid list request. */
export const rejectionOf = (query: string, body?: unknown): string => {
  try {
    read(query, body)
  } catch (error) {
    if (error instanceof Problem && error.status === 400) return error.message
    throw error
  }
  throw new Error(`${query} ${JSON.stringify(body)} was not rejected`)
}

export const defaults: ListRequest = {
  endpoint: 'things',
  filter: { GroupType: 'AIGC' },
  sortBy: 'CreateTime',
  sortOrder: 'Desc',
  pageSize: 10,
  pageNumber: 1,
  nextToken: undefined,
}
