import { nextTurn, Pace } from '../../shared/background/turns.ts'
import { composeArray, composeObject, type Json, toJson } from '../../shared/json/json.ts'
import type { VideoTaskView } from './tasks.ts'

/** Lists that are read and composed at once for one user. */
export const listsAtOnce = 2
/** Tasks of a list that are composed in a turn of the event loop. */
const tasksPerTurn = 32

/** The body of a list of tasks. */
export const composeList = async (tasks: readonly VideoTaskView[], total: number): Promise<string> => {
  const items: Json[] = []
  const pace = new Pace(tasksPerTurn)
  for (const { body } of tasks) {
    if (pace.isDue()) await nextTurn()
    const error = body.get('error')
    items.push(error?.isObject ? body.with('failure_reason', error) : body)
  }
  return composeObject({ items: composeArray(items), total: toJson(total) }).raw
}
