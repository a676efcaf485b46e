import { FieldProblem } from '../../shared/field-problem.ts'
import type { TaskEstimate } from '../tasks/task-estimate.ts'
import { type FieldNames, nameIn } from './problem.ts'

/** Whether a request asks only what would happen. Throws FieldProblem 400 for anything but true and false. */
export const asksForDryRun = (query: URLSearchParams): boolean => {
  const [value = 'false', more] = query.getAll('dry_run')
  if (more === undefined && (value === 'true' || value === 'false')) return value === 'true'
  throw new FieldProblem(400, 'dry_run must be true or false', { param: 'dry_run' })
}

/** An estimate with the fields of the caller's request. */
export const withCallerNames = (estimate: TaskEstimate, names: FieldNames): TaskEstimate => ({
  ...estimate,
  references: estimate.references.map((each) => ({ ...each, param: nameIn(each.param, names) })),
  violations: estimate.violations.map((each) => ({ ...each, param: nameIn(each.param, names) })),
})
