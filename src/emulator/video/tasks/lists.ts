import { tieBreakerOf } from '../../shared/ids.ts'
import type { VideoSettings } from '../options.ts'
import { invalidField } from '../video-error.ts'
import type { VideoTask } from './task.ts'

const windowMs = 7 * 86_400_000
const statuses = ['queued', 'running', 'cancelled', 'succeeded', 'failed'] as const

/** A page of the tasks that a query selects. */
export interface TaskPage {
  readonly items: readonly VideoTask[]
  readonly total: number
}

/**
 * Selects tasks as `GET …/tasks` does: of the last 7 days, without flex tasks unless the query asks for them.
 * `filter.model` is the name of the create request. The vendor promises no order: here it follows neither ids nor
 * times.
 */
export const listTasks = (
  tasks: readonly VideoTask[],
  query: URLSearchParams,
  now: number,
  { listedAfterMs, listsExpired }: VideoSettings,
): TaskPage => {
  const number = integerOf(query, 'page_num', 1)
  const size = integerOf(query, 'page_size', 20)
  const status = wordOf(query, 'filter.status', statuses)
  const tier = wordOf(query, 'filter.service_tier', ['default', 'flex']) ?? 'default'
  const model = query.get('filter.model') || undefined
  const ids = new Set(query.getAll('filter.task_ids').filter(Boolean))
  const selected = tasks.filter(
    (task) =>
      !task.gone &&
      task.createTime >= now - windowMs &&
      task.createTime + listedAfterMs <= now &&
      task.request.serviceTier === tier &&
      (listsExpired || task.status !== 'expired') &&
      (status === undefined || task.status === status) &&
      (model === undefined || task.requestedModel === model) &&
      (ids.size === 0 || ids.has(task.id)),
  )
  selected.sort((a, b) => tieBreakerOf(a.number) - tieBreakerOf(b.number))
  return { items: selected.slice((number - 1) * size, number * size), total: selected.length }
}

const integerOf = (query: URLSearchParams, name: string, initial: number): number => {
  const given = query.get(name)
  if (given === null || given === '') return initial
  const value = Number(given)
  if (/^\d+$/.test(given) && value >= 1 && value <= 500) return value
  throw invalidField(name, 'it must be from 1 to 500')
}

const wordOf = <Word extends string>(
  query: URLSearchParams,
  name: string,
  words: readonly Word[],
): Word | undefined => {
  const given = query.get(name)
  const known = words.find((word) => word === given)
  if (given === null || given === '' || known !== undefined) return known
  throw invalidField(name, `it must be one of ${words.join(', ')}`)
}
