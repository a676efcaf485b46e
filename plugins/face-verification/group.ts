import { refused } from '../shared/audit.ts'
import { Problem } from '../shared/problem.ts'
import { type FaceContext, fromStore } from './context.ts'
import type { Verification } from './store.ts'

const type = 'LivenessFace'
/** More groups of one name than anybody makes within a minute. */
const mostNames = 100

/** A group of which nobody may learn through this task: it is somebody else's. */
export class ForeignGroup extends Problem {}

/**
 * Makes a group the creator's own, under a name that says when; any number of times, at once too. Throws ForeignGroup when it has another
 * owner, and Problem 500 when it cannot be recorded.
 */
export const recordGroup = async (
  { store, clock, log, audit }: Pick<FaceContext, 'store' | 'clock' | 'log' | 'audit'>,
  { id: verification, user }: Verification,
  id: string,
): Promise<void> => {
  const createdAt = clock.now()
  const minute = new Date(createdAt).toISOString().slice(0, 16).replace('T', ' ')
  for (let number = 1; number <= mostNames; number++) {
    const owner = await fromStore(store.group(id), unrecordedGroup)
    if (owner?.user === user && owner.type === type) return
    if (owner) {
      log.error({ verification, user, group: id }, 'the group of a face verification is not its creator’s')
      throw new ForeignGroup(500, unrecordedGroup, { event: { ...refused('group', id), user } })
    }
    const name = `Face ${minute}${number === 1 ? '' : ` (${number})`}`
    const taken = await fromStore(store.adoptGroup({ id, user, type, name, createdAt }), unrecordedGroup)
    if (taken === undefined) {
      log.info({ verification, user, group: id }, 'face verified')
      audit.note({ action: 'group.adopt', user, target: { kind: 'group', id }, reason: `verification ${verification}` })
      return
    }
  }
  throw new Problem(500, unrecordedGroup, { cause: new Error(`${mostNames} groups of one name`) })
}

const unrecordedGroup = 'failed to record the group of a face verification'
