import { accessDenied } from '../shared/audit.ts'
import { Problem } from '../shared/problem.ts'
import { storeCall } from '../shared/store-call.ts'
import type { FaceContext } from './context.ts'
import type { Verification } from './store.ts'

const type = 'LivenessFace'
/** Names that are tried for a group. No user verifies so many faces within a minute. */
const maxNames = 100

/** The group of a task belongs to another user. The response must not name it. */
export class ForeignGroupError extends Problem {}

/**
 * Records the task's creator as the owner of a group, under a name that contains the current minute, and the consent of
 * the person. Idempotent, also when calls run concurrently.
 *
 * Throws ForeignGroupError when the group has another owner, and Problem 500 when it cannot be recorded.
 */
export const recordGroup = async (
  context: Pick<FaceContext, 'store' | 'clock' | 'log' | 'audit' | 'consents'>,
  task: Verification,
  id: string,
): Promise<void> => {
  await recordOwner(context, task, id)
  const { consents, clock } = context
  const consent = { group: id, verification: task.id, at: clock.now() }
  if (consents) await storeCall(consents.recordConsent(consent), unrecordedGroup)
}

const recordOwner = async (
  { store, clock, log, audit }: Pick<FaceContext, 'store' | 'clock' | 'log' | 'audit'>,
  { id: verification, user, account }: Verification,
  id: string,
): Promise<void> => {
  const createdAt = clock.now()
  const minute = new Date(createdAt).toISOString().slice(0, 16).replace('T', ' ')
  for (let number = 1; number <= maxNames; number++) {
    const owner = await storeCall(store.group(id), unrecordedGroup)
    if (owner?.user === user && owner.type === type) return
    if (owner) {
      log.error({ verification, user, group: id }, 'the group of a face verification belongs to another user')
      throw new ForeignGroupError(500, unrecordedGroup, { event: { ...accessDenied('group', id), user } })
    }
    const name = `Face ${minute}${number === 1 ? '' : ` (${number})`}`
    const conflict = await storeCall(
      store.adoptGroup({ id, user, type, name, createdAt, ...(account !== undefined && { account }) }),
      unrecordedGroup,
    )
    if (conflict === undefined) {
      log.info({ verification, user, group: id }, 'face verified')
      audit.note({ action: 'group.adopt', user, target: { kind: 'group', id }, reason: `verification ${verification}` })
      return
    }
  }
  throw new Problem(500, unrecordedGroup, { cause: new Error(`all ${maxNames} names for the group are taken`) })
}

const unrecordedGroup = 'failed to record the group of a face verification'
