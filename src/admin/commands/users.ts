import type { AdminUser } from '../../../plugins/admin/store.ts'
import { toUserView } from '../../../plugins/admin/views/people.ts'
import { isoTime } from '../../../plugins/admin/views/time.ts'
import { publicBase } from '../../../plugins/shared/http/origin.ts'
import { CommandRejectedError, json, UsageError, wordOf } from '../arguments.ts'
import type { Command, Commands } from '../command.ts'
import { allItems, type CommandContext, requireTeam, requireUser } from '../context.ts'
import { columns, printJson, time } from '../terminal.ts'

const passwordOf = async (flag: string, { stdin }: CommandContext): Promise<string> => {
  const password = flag === '-' ? (await stdin()).replace(/\r?\n$/, '') : flag
  if (password === '') throw new CommandRejectedError('the password is empty')
  return password
}

const linkOf = ({ publicUrl = () => 'http://localhost' }: CommandContext, secret: string): string =>
  `${publicBase(publicUrl)}/console#/invitation/${secret}`

const add: Command['run'] = async ([name = ''], flags, on) => {
  const team = flags.team === undefined ? undefined : (await requireTeam(on, flags.team)).id
  const password = flags.password === undefined ? undefined : await passwordOf(flags.password, on)
  const { user, invitation } = await on.operations.users.add(on.actor, {
    ...{ name, password, team, role: flags.role, external_id: flags['external-id'] },
    ...{ service: flags.service, invite: flags.invite },
    limits: flags.limits === undefined ? undefined : json(flags.limits, '--limits'),
  })
  on.out(user.id)
  if (invitation) on.out(linkOf(on, invitation.secret))
}

const list: Command['run'] = async (_words, flags, on) => {
  const filter = {
    search: flags.search,
    role: wordOf(flags.role, ['user', 'admin'], '--role'),
    state: wordOf(flags.state, ['enabled', 'disabled'], '--state'),
    team: flags.team === undefined ? undefined : (await requireTeam(on, flags.team)).id,
  }
  for await (const user of allItems((page) => on.operations.users.list(on.actor, filter, page)))
    if (flags.json) printJson(on.out, toUserView(user))
    else on.out(lineOfUser(user))
}

const lineOfUser = ({ id, name, createdAt, disabledAt, login, role, service, teamName }: AdminUser): string => {
  const state = disabledAt === undefined ? 'enabled' : `disabled ${time(disabledAt)}`
  const special = [...(role === 'admin' ? ['admin'] : []), ...(service ? ['service'] : [])]
  const team = teamName === undefined ? [] : [`team ${teamName}`]
  return columns(
    id,
    name,
    state,
    login === 'none' ? 'no password' : login,
    `created ${time(createdAt)}`,
    ...special,
    ...team,
  )
}

const show: Command['run'] = async ([name = ''], _flags, on) => {
  const { id } = await requireUser(on, name)
  printJson(on.out, toUserView(await on.operations.users.get(on.actor, id)))
}

/** Changes a user of a name. */
const change = async (name: string, input: Readonly<Record<string, unknown>>, on: CommandContext): Promise<void> => {
  const { id } = await requireUser(on, name)
  await on.operations.users.change(on.actor, id, input)
}

const setPassword: Command['run'] = async ([name = ''], { password }, on) => {
  if (password === undefined) throw new UsageError('--password is missing')
  await change(name, { password: await passwordOf(password, on) }, on)
}

const setTeam: Command['run'] = async ([name = '', team = ''], _flags, on) =>
  change(name, { team: team === '-' ? null : (await requireTeam(on, team)).id }, on)

const update: Command['run'] = async ([name = ''], flags, on) => {
  const externalId = flags['external-id']
  if (flags.name === undefined && externalId === undefined) throw new UsageError('--name or --external-id is missing')
  await change(name, { name: flags.name, external_id: externalId === '-' ? null : externalId }, on)
}

const limits: Command['run'] = async ([name = '', text], _flags, on) => {
  if (text !== undefined) return change(name, { limits: json(text, 'the limits') }, on)
  printJson(on.out, toUserView(await requireUser(on, name)).limits)
}

const invite: Command['run'] = async ([name = ''], _flags, on) => {
  const { id } = await requireUser(on, name)
  const { secret, expiresAt } = await on.operations.users.invite(on.actor, id)
  on.out(columns(linkOf(on, secret), `expires ${isoTime(expiresAt)}`))
}

const logOut: Command['run'] = async ([name = ''], _flags, on) => {
  const { id } = await requireUser(on, name)
  await on.operations.users.endSessions(on.actor, id)
}

/** The commands of users. */
export const userCommands: Commands = {
  'user add': {
    positionals: [1, 1],
    flags: ['password', 'role', 'team', 'external-id', 'limits'],
    switches: ['service', 'invite'],
    run: add,
  },
  'user list': { positionals: [0, 0], flags: ['search', 'role', 'team', 'state'], switches: ['json'], run: list },
  'user show': { positionals: [1, 1], run: show },
  'user disable': { positionals: [1, 1], run: ([name = ''], _flags, on) => change(name, { disabled: true }, on) },
  'user enable': { positionals: [1, 1], run: ([name = ''], _flags, on) => change(name, { disabled: false }, on) },
  'user password': { positionals: [1, 1], flags: ['password'], run: setPassword },
  'user role': { positionals: [2, 2], run: ([name = '', role], _flags, on) => change(name, { role }, on) },
  'user team': { positionals: [2, 2], run: setTeam },
  'user change': { positionals: [1, 1], flags: ['name', 'external-id'], run: update },
  'user limits': { positionals: [1, 2], run: limits },
  'user invite': { positionals: [1, 1], run: invite },
  'user logout': { positionals: [1, 1], run: logOut },
}
