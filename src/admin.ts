import { parseArgs } from 'node:util'
import { createToken, hashToken } from '../plugins/api-token/token.ts'
import type { AuditEvent } from '../plugins/shared/audit.ts'
import { type Clock, systemClock } from '../plugins/shared/clock.ts'
import { readId } from '../plugins/shared/id.ts'
import { adoptVideoTask, releaseVideoTask } from '../plugins/video-generation/tasks/decisions.ts'
import { hashPassword } from '../plugins/web-session/password.ts'
import { CommandRejectedError, date, instant, plainText, UsageError } from './admin/arguments.ts'
import { auditFilterOf, byAdmin, printAudit } from './admin/audit.ts'
import { printVerification } from './admin/audit-verification.ts'
import { helpOf } from './admin/help.ts'
import { columns, time } from './admin/terminal.ts'
import { printUsage } from './admin/usage.ts'
import { printVideos, videoListStatusOf } from './admin/videos.ts'
import { readAdminConfig } from './config/database.ts'
import { openStore, type Store, type User } from './store/index.ts'

/** The dependencies of a command. */
export interface AdminContext {
  readonly store: Store
  /** Prints a line of the result. */
  readonly out: (line: string) => void
  /** Prints a line of an error message. */
  readonly err: (line: string) => void
  /** Reads standard input to its end. */
  readonly stdin: () => Promise<string>
  readonly clock: Pick<Clock, 'now'>
  /** Whether commands write to the audit trail. Default true. */
  readonly audit?: boolean
  /** The configured keys of the audit trail. Default: none, so its key is in the store. */
  readonly auditKeys?: readonly string[]
  /** How the user has called the command, for its usage text. Default `admin`. */
  readonly program?: string
}

type TextFlag = 'password' | 'label' | 'expires' | 'type' | 'name' | 'status' | 'upstream-id'
type Flag = TextFlag | 'user' | 'action' | 'since' | 'until' | 'head'
/** Flags without a value. */
type Switch = 'json' | 'csv'
type Flags = Readonly<Partial<Record<Flag, string> & Record<Switch, boolean>>>
type Command = (positionals: readonly string[], flags: Flags, on: AdminContext) => Promise<void>

/**
 * Migrates the store, runs one command, and returns the exit status: 0, 1 when the command failed, 2 for wrong usage.
 * Never rejects.
 */
export const runAdmin = async (args: readonly string[], surroundings: AdminContext): Promise<number> => {
  try {
    const { entry, positionals, flags } = parseCommand(args)
    if (!entry.worksOffline) await surroundings.store.migrate()
    await entry.run(positionals, flags, surroundings)
    return 0
  } catch (error) {
    surroundings.err(error instanceof Error ? error.message : String(error))
    if (error instanceof UsageError) surroundings.err(helpOf(surroundings.program ?? 'admin'))
    return error instanceof UsageError ? 2 : 1
  }
}

/** Finds the command by the first arguments, and parses the others. */
const parseCommand = (
  args: readonly string[],
): { entry: CommandEntry; positionals: readonly string[]; flags: Flags } => {
  for (const [name, entry] of Object.entries(commands)) {
    const named = name.split(' ')
    if (!named.every((word, index) => word === args[index])) continue
    const { positionals, flags } = parseFlags(args.slice(named.length), entry)
    if (positionals.length < entry.positionals[0] || positionals.length > entry.positionals[1])
      throw new UsageError('wrong number of arguments')
    return { entry, positionals, flags }
  }
  throw new UsageError(args.length === 0 ? 'a command is missing' : 'there is no such command')
}

const parseFlags = (
  args: readonly string[],
  { flags: known, switches = [] }: Pick<CommandEntry, 'flags' | 'switches'>,
): { positionals: readonly string[]; flags: Flags } => {
  const options = {
    ...Object.fromEntries(known.map((flag) => [flag, { type: 'string' as const }])),
    ...Object.fromEntries(switches.map((name) => [name, { type: 'boolean' as const }])),
  }
  try {
    const { positionals, values } = parseArgs({ args: [...args], options, allowPositionals: true })
    return { positionals, flags: values as Flags }
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'the arguments cannot be read')
  }
}

/** Commands call it before they print a result: no id or token is printed without an audit entry. */
const record = async ({ store, clock, audit = true }: AdminContext, event: AuditEvent): Promise<void> => {
  if (audit) await store.recordAudit([byAdmin(event, clock.now())])
}

const addUser: Command = async ([name = ''], { password }, on) => {
  const { store, out, stdin, clock } = on
  const text = plainText(name, 'a user’s name', 128)
  const hash = password === undefined ? undefined : await hashPassword(await passwordOf(password, stdin))
  const id = await store.addUser({ name: text, password: hash, createdAt: clock.now() })
  if (id === undefined) throw new CommandRejectedError(`there is a user named ${name} already`)
  await record(on, { action: 'user.create', user: id })
  out(id)
}

const listUsers: Command = async (_words, _flags, { store, out }) => {
  for (const { id, name, createdAt, disabledAt, password } of await store.listUsers()) {
    const state = disabledAt === undefined ? 'enabled' : `disabled ${time(disabledAt)}`
    out(columns(id, name, state, password === undefined ? 'no password' : 'password', `created ${time(createdAt)}`))
  }
}

const setPassword: Command = async ([name = ''], { password }, on) => {
  const { store, stdin } = on
  if (password === undefined) throw new UsageError('--password is missing')
  const { name: known } = await requireUser(store, name)
  await store.setPassword(known, await hashPassword(await passwordOf(password, stdin)))
  await record(on, { action: 'user.password', name: known })
}

const disableUser: Command = async ([name = ''], _flags, on) => {
  if (!(await on.store.disableUser(name, on.clock.now()))) throw unknownUser(name)
  await record(on, { action: 'user.disable', name })
}

const enableUser: Command = async ([name = ''], _flags, on) => {
  if (!(await on.store.enableUser(name))) throw unknownUser(name)
  await record(on, { action: 'user.enable', name })
}

const addToken: Command = async ([name = ''], flags, on) => {
  const { store, out, clock } = on
  const expiresAt = flags.expires === undefined ? undefined : instant(flags.expires, '--expires')
  const label = flags.label === undefined ? undefined : plainText(flags.label, 'a label', 128)
  const { id: user } = await requireUser(store, name)
  const token = createToken()
  const start = token.slice(0, 9)
  const id = await store.addToken({ user, hash: hashToken(token), start, label, expiresAt, createdAt: clock.now() })
  await record(on, { action: 'token.create', user, target: { kind: 'token', id } })
  out(token)
}

const listTokens: Command = async ([name], _flags, { store, out }) => {
  const user = name === undefined ? undefined : (await requireUser(store, name)).id
  for (const token of await store.listTokens(user)) {
    const { id, userName, label = '-', start, createdAt, expiresAt, revokedAt } = token
    const end = expiresAt === undefined ? 'never expires' : `expires ${time(expiresAt)}`
    const revoked = revokedAt === undefined ? 'not revoked' : `revoked ${time(revokedAt)}`
    out(columns(id, userName, label, `${start}…`, `created ${time(createdAt)}`, end, revoked))
  }
}

const revokeToken: Command = async ([id = ''], _flags, on) => {
  const { store, clock } = on
  const user = (await store.listTokens()).find((token) => token.id === id)?.user
  if ((await store.revokeToken(id, clock.now())) === undefined)
    throw new CommandRejectedError(`there is no token ${id}`)
  await record(on, { action: 'token.revoke', user, target: { kind: 'token', id } })
}

const adoptGroup: Command = async ([userName = '', groupId], flags, on) => {
  const { store, clock } = on
  const { type, name: groupName } = flags
  if (type !== 'AIGC' && type !== 'LivenessFace') throw new UsageError('--type must be AIGC or LivenessFace')
  if (groupName === undefined) throw new UsageError('--name is missing')
  const id = readId(groupId)
  if (id === undefined) {
    throw new CommandRejectedError(
      'a group id has 1 to 256 characters, and no control characters, spaces, or any of / \\ ? # % ,',
    )
  }
  const name = plainText(groupName, 'a group’s name', 64)
  const { id: user } = await requireUser(store, userName)
  const failure = await store.adoptGroup({ id, user, type, name, createdAt: clock.now() })
  if (failure === 'group taken') throw new CommandRejectedError(`the group ${id} has an owner already`)
  if (failure === 'name taken') throw new CommandRejectedError(`${userName} has a group of that type and name already`)
  await record(on, { action: 'group.adopt', user, target: { kind: 'group', id } })
}

const listPending: Command = async (_words, _flags, { store, out }) => {
  for (const claim of await store.openClaims()) {
    const { id, user, userName = user, type, name, state, renames, group, createdAt, dueAt } = claim
    const what = renames === undefined ? 'new' : `renames ${renames}`
    const made = group === undefined || group === renames ? [] : [`made ${group}`]
    out(columns(id, userName, type, name, state, what, `since ${time(createdAt)}`, `due ${time(dueAt)}`, ...made))
  }
}

const releaseClaim: Command = async ([id = ''], _flags, on) => {
  if (!(await on.store.dropClaim(id))) throw new CommandRejectedError(`nothing is pending with the id ${id}`)
  await record(on, { action: 'group.release', target: { kind: 'claim', id } })
}

const listAudit: Command = (_words, flags, { store, out }) => printAudit(store, auditFilterOf(flags), out)

const verifyAudit: Command = ([file], { head }, on) => printVerification({ file, head }, on)

const listVideos: Command = async (_words, { user, status }, { store, clock, out }) => {
  const userId = user === undefined ? undefined : (await requireUser(store, user)).id
  await printVideos({ store, clock }, { user: userId, status: videoListStatusOf(status) }, out)
}

const decideVideo =
  (action: 'video.adopt' | 'video.release'): Command =>
  async ([id = ''], { 'upstream-id': upstreamId }, on) => {
    if (action === 'video.adopt' && upstreamId === undefined) throw new UsageError('--upstream-id is missing')
    const { user } = await (upstreamId === undefined ? releaseVideoTask(id, on) : adoptVideoTask(id, upstreamId, on))
    await record(on, { action, user, target: { kind: 'video', id } })
  }

const listUsage: Command = async ([name], flags, { store, out }) => {
  const since = flags.since === undefined ? undefined : date(flags.since, '--since')
  const until = flags.until === undefined ? undefined : date(flags.until, '--until')
  if (since !== undefined && until !== undefined && since > until) throw new UsageError('--since is after --until')
  const user = name === undefined ? undefined : (await requireUser(store, name)).id
  if (flags.json && flags.csv) throw new UsageError('--json and --csv exclude each other')
  const format = flags.json ? 'json' : flags.csv ? 'csv' : 'columns'
  printUsage(await store.listUsage({ user, since, until }), format, out)
}

interface CommandEntry {
  /** Minimum and maximum number of positional arguments. */
  readonly positionals: readonly [number, number]
  readonly flags: readonly Flag[]
  /** Default: none. */
  readonly switches?: readonly Switch[]
  /** The command migrates the store itself, if it needs it. Default: it is migrated before. */
  readonly worksOffline?: boolean
  readonly run: Command
}

const commands: Readonly<Record<string, CommandEntry>> = {
  'user add': { positionals: [1, 1], flags: ['password'], run: addUser },
  'user list': { positionals: [0, 0], flags: [], run: listUsers },
  'user disable': { positionals: [1, 1], flags: [], run: disableUser },
  'user enable': { positionals: [1, 1], flags: [], run: enableUser },
  'user password': { positionals: [1, 1], flags: ['password'], run: setPassword },
  'token add': { positionals: [1, 1], flags: ['label', 'expires'], run: addToken },
  'token list': { positionals: [0, 1], flags: [], run: listTokens },
  'token revoke': { positionals: [1, 1], flags: [], run: revokeToken },
  'group adopt': { positionals: [2, 2], flags: ['type', 'name'], run: adoptGroup },
  'group pending': { positionals: [0, 0], flags: [], run: listPending },
  'group release': { positionals: [1, 1], flags: [], run: releaseClaim },
  'video adopt': { positionals: [1, 1], flags: ['upstream-id'], run: decideVideo('video.adopt') },
  'video list': { positionals: [0, 0], flags: ['user', 'status'], run: listVideos },
  'video release': { positionals: [1, 1], flags: [], run: decideVideo('video.release') },
  usage: { positionals: [0, 1], flags: ['since', 'until'], switches: ['json', 'csv'], run: listUsage },
  'audit verify': { positionals: [0, 1], flags: ['head'], worksOffline: true, run: verifyAudit },
  audit: { positionals: [0, 0], flags: ['user', 'action', 'since', 'until'], run: listAudit },
}

const requireUser = async (store: Store, name: string): Promise<User> => {
  const user = await store.userByName(name)
  if (!user) throw unknownUser(name)
  return user
}

const unknownUser = (name: string) => new CommandRejectedError(`there is no user named ${name}`)

const passwordOf = async (flag: string, stdin: () => Promise<string>): Promise<string> => {
  const password = flag === '-' ? (await stdin()).replace(/\r?\n$/, '') : flag
  if (password === '') throw new CommandRejectedError('the password is empty')
  return password
}

/** Runs one command on the configured database, and exits with its status. `program`: see `AdminContext`. */
export const adminCommand = async (args: readonly string[], program = 'admin'): Promise<void> => {
  if (args.includes('--help')) {
    console.log(helpOf(program))
    return
  }
  const config = readAdminConfig(process.env)
  if ('problems' in config) {
    for (const problem of config.problems) console.error(problem)
    process.exit(2)
  }
  const store = openStore(config.store.url, { auditKeys: config.audit.keys })
  const stdin = async () => {
    const chunks: Uint8Array[] = []
    for await (const chunk of process.stdin) chunks.push(chunk)
    return Buffer.concat(chunks).toString('utf8')
  }
  const status = await runAdmin(args, {
    store,
    out: console.log,
    err: console.error,
    stdin,
    clock: systemClock,
    audit: config.audit.keepMs > 0,
    auditKeys: config.audit.keys,
    program,
  })
  await store.close()
  // A database connection that does not respond would keep the event loop alive.
  process.exit(status)
}

if (import.meta.main) await adminCommand(process.argv.slice(2))
