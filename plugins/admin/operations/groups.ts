import { readId } from '../../shared/id.ts'
import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import { checkFields, fault, type Input, readLine, readReference, readWord } from '../fields.ts'
import type { OperationTools } from '../operation-tools.ts'
import type { PendingGroup, PendingGroupStore } from '../pending-groups.ts'
import type { AdminStore, PageOf, PageRequest } from '../store.ts'
import { type AdminActor, readBy } from './actor.ts'

/** Types of groups. */
const groupTypes = ['AIGC', 'LivenessFace'] as const

/** Operations on groups whose creation or renaming has an unknown outcome. They throw Problem. */
export interface GroupOperations {
  pending(actor: AdminActor, page: PageRequest): Promise<PageOf<PendingGroup>>
  /** Fields: `user`, `group_id`. */
  adopt(actor: AdminActor, id: string, input: Input): Promise<void>
  release(actor: AdminActor, id: string): Promise<void>
  /** Gives a user a group of the upstream. Fields: `user`, `group_id`, `type`, `name`, `account`?. */
  give(actor: AdminActor, input: Input): Promise<void>
}

/** The message when the store fails. */
const unavailable = 'pending groups could not be read or changed'

export const createGroupOperations = (
  store: PendingGroupStore & Pick<AdminStore, 'adminUser'>,
  { clock }: Pick<OperationTools, 'clock'>,
): GroupOperations => ({
  pending: async (actor, page) => readBy(actor, 'groups', storeCall(store.pendingGroups(page), unavailable)),

  async adopt(actor, id, input) {
    checkFields(input, ['user', 'group_id'])
    const user = readReference(input.user, 'user')
    const group = readId(input.group_id)
    if (group === undefined) throw fault('group_id', groupIdForm)
    const claim = await storeCall(store.pendingGroup(id), unavailable)
    if (!claim) throw nothingPending()
    // The users of a host app are not in the store.
    if (claim.user !== user && !(await storeCall(store.adminUser(user), unavailable)))
      throw fault('user', 'there is no such user')
    const outcome = await storeCall(store.adoptPendingGroup(id, { user, group }), unavailable)
    if (outcome !== 'adopted') throw failures[outcome]()
    await actor.record({ action: 'group.adopt', target: { kind: 'group', id: group } }, user)
  },

  async release(actor, id) {
    if (!(await storeCall(store.dropClaim(id), unavailable))) throw nothingPending()
    await actor.record({ action: 'group.release', target: { kind: 'claim', id } })
  },

  async give(actor, input) {
    checkFields(input, ['user', 'group_id', 'type', 'name', 'account'])
    const user = readReference(input.user, 'user')
    const id = readId(input.group_id)
    if (id === undefined) throw fault('group_id', groupIdForm)
    const type = readWord(groupTypes)(input.type, 'type')
    const name = readLine(64)(input.name, 'name')
    const account = input.account === undefined ? undefined : readLine(64)(input.account, 'account')
    if (!(await storeCall(store.adminUser(user), unavailable))) throw fault('user', 'there is no such user')
    const group = { id, user, type, name, ...(account !== undefined && { account }), createdAt: clock.now() }
    const failure = await storeCall(store.adoptGroup(group), unavailable)
    if (failure === 'group taken') throw failures['group-taken']()
    if (failure === 'name taken') throw failures['name-taken']()
    await actor.record({ action: 'group.adopt', target: { kind: 'group', id } }, user)
  },
})

const groupIdForm = 'a group id has 1 to 256 characters, and no control characters, spaces, or any of / \\ ? # % , "'

const nothingPending = () => new Problem(404, 'nothing is pending with that id')

const failures = {
  unknown: nothingPending,
  renames: () => new Problem(409, 'a group is renamed, and none is created: release it'),
  'other-group': () => new Problem(409, 'the upstream has created another group'),
  'group-taken': () => new Problem(409, 'the group has an owner already'),
  'name-taken': () => new Problem(409, 'the user has a group of that type and name already'),
}
