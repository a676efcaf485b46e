import { toPendingGroupView } from '../../../plugins/admin/views/decisions.ts'
import { UsageError } from '../arguments.ts'
import type { Command, Commands } from '../command.ts'
import { allItems, requireUser } from '../context.ts'
import { columns, printJson, time } from '../terminal.ts'

/** Gives a user a group that no pending creation needs to stand for. */
const adopt: Command['run'] = async ([userName = '', groupId], flags, on) => {
  const { type, name: groupName, account } = flags
  if (type !== 'AIGC' && type !== 'LivenessFace') throw new UsageError('--type must be AIGC or LivenessFace')
  if (groupName === undefined) throw new UsageError('--name is missing')
  const { id: user } = await requireUser(on, userName)
  const group = { user, group_id: groupId, type, name: groupName, ...(account !== undefined && { account }) }
  await on.operations.groups.give(on.actor, group)
}

const pending: Command['run'] = async (_words, flags, on) => {
  for await (const claim of allItems((page) => on.operations.groups.pending(on.actor, page))) {
    if (flags.json) {
      printJson(on.out, toPendingGroupView(claim))
      continue
    }
    const { id, user, userName = user, type, name, state, renames, account, group, createdAt, dueAt } = claim
    const what = renames === undefined ? 'new' : `renames ${renames}`
    const made = group === undefined || group === renames ? [] : [`made ${group}`]
    const where = account === undefined ? [] : [`on ${account}`]
    on.out(
      columns(
        id,
        userName,
        type,
        name,
        state,
        what,
        `since ${time(createdAt)}`,
        `due ${time(dueAt)}`,
        ...made,
        ...where,
      ),
    )
  }
}

const release: Command['run'] = ([id = ''], _flags, on) => on.operations.groups.release(on.actor, id)

/** The commands of groups. */
export const groupCommands: Commands = {
  'group adopt': { positionals: [2, 2], flags: ['type', 'name', 'account'], run: adopt },
  'group pending': { positionals: [0, 0], switches: ['json'], run: pending },
  'group release': { positionals: [1, 1], run: release },
}
