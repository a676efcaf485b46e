import type { Clock } from '../../shared/clock.ts'
import { readId } from '../../shared/id.ts'
import { Problem } from '../../shared/problem.ts'
import { unknownOutcomeCode } from '../queue/settle.ts'
import type { VideoTask } from '../tasks/task.ts'
import { failedObject } from '../tasks/view.ts'
import type { VideoDecisionStore } from './store.ts'

/** What a decision needs. */
export interface VideoDecisionOptions {
  readonly store: VideoDecisionStore
  readonly clock: Pick<Clock, 'now'>
}

/**
 * An operator decides that a task is a certain task of the upstream. The gateway polls it from now on, and settles its
 * end as that of any other task. For a task whose create call has an unknown outcome, or that runs for too long.
 *
 * Resolves with the task as it was. Throws Problem 404 for an unknown task, 409 for one that needs no decision or if
 * another task has that id of the upstream, and 400 for a text that is no id.
 *
 * @example
 * await adoptVideoTask('cgt-20300131120000-0123456789abcdefghjk', 'cgt-20300131120000-x7k2p', { store, clock: Date })
 */
export const adoptVideoTask = async (
  id: string,
  upstreamId: string,
  { store, clock }: VideoDecisionOptions,
): Promise<VideoTask> => {
  const known = readId(upstreamId)
  if (known === undefined) throw new Problem(400, 'the upstream id is not valid')
  const task = await store.anyVideoTask(id)
  const adoption = task ? await store.adoptVideoTask(id, known, clock.now()) : 'unknown'
  if (adoption === 'upstream-id-taken') throw new Problem(409, 'another video task has that upstream id')
  if (adoption === 'decided') throw needsNoDecision()
  if (adoption === 'unknown' || !task) throw unknown()
  return task
}

/**
 * An operator gives up a task whose create call has an unknown outcome, or that runs for too long: it ends as `failed`,
 * and what the upstream makes of it belongs to nobody. It is not created again.
 *
 * Resolves with the task as it was. Throws Problem 404 for an unknown task, and 409 for one that needs no decision.
 *
 * @example
 * await releaseVideoTask('cgt-20300131120000-0123456789abcdefghjk', { store, clock: Date })
 */
export const releaseVideoTask = async (id: string, { store, clock }: VideoDecisionOptions): Promise<VideoTask> => {
  const task = await store.anyVideoTask(id)
  if (!task) throw unknown()
  const now = clock.now()
  const error = task.phase === 'submitted' ? ranTooLong : unknownOutcome
  if (!(await store.abandonVideoTask(id, failedObject(task, error, now), now))) throw needsNoDecision()
  return task
}

const unknownOutcome = {
  code: unknownOutcomeCode,
  message: 'it is not known whether the upstream has created the task, and it was given up',
}
const ranTooLong = { code: 'running_too_long', message: 'the task has run for too long, and was given up' }

const unknown = () => new Problem(404, 'there is no such video task')
const needsNoDecision = () => new Problem(409, 'the video task needs no decision')
