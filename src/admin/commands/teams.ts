import { toTeamView } from '../../../plugins/admin/views/people.ts'
import { json } from '../arguments.ts'
import type { Command, Commands } from '../command.ts'
import { allItems, requireTeam } from '../context.ts'
import { columns, printJson, time } from '../terminal.ts'

const add: Command['run'] = async ([name], flags, on) => {
  const limits = flags.limits === undefined ? undefined : json(flags.limits, '--limits')
  on.out((await on.operations.teams.add(on.actor, { name, limits })).id)
}

const list: Command['run'] = async (_words, flags, on) => {
  for await (const team of allItems((page) => on.operations.teams.list(on.actor, page))) {
    if (flags.json) printJson(on.out, toTeamView(team))
    else on.out(columns(team.id, team.name, `members ${team.members}`, `created ${time(team.createdAt)}`))
  }
}

const rename: Command['run'] = async ([name = '', newName], _flags, on) => {
  const { id } = await requireTeam(on, name)
  await on.operations.teams.change(on.actor, id, { name: newName })
}

const limits: Command['run'] = async ([name = '', text], _flags, on) => {
  const team = await requireTeam(on, name)
  if (text === undefined) return printJson(on.out, toTeamView(team).limits)
  await on.operations.teams.change(on.actor, team.id, { limits: json(text, 'the limits') })
}

const remove: Command['run'] = async ([name = ''], _flags, on) => {
  const { id } = await requireTeam(on, name)
  await on.operations.teams.remove(on.actor, id)
}

/** The commands of teams. */
export const teamCommands: Commands = {
  'team add': { positionals: [1, 1], flags: ['limits'], run: add },
  'team list': { positionals: [0, 0], switches: ['json'], run: list },
  'team rename': { positionals: [2, 2], run: rename },
  'team limits': { positionals: [1, 2], run: limits },
  'team delete': { positionals: [1, 1], run: remove },
}
