import type { AdminToken } from '../../../plugins/admin/store.ts'
import { toTokenView } from '../../../plugins/admin/views/people.ts'
import { isoTime } from '../../../plugins/admin/views/time.ts'
import { CommandRejectedError, instant, json, UsageError, wordOf } from '../arguments.ts'
import type { Command, Commands, Flags } from '../command.ts'
import { allItems, requireUser } from '../context.ts'
import { columns, printJson, time } from '../terminal.ts'

/** The fields of a token, from flags. `-` takes a value away. */
const fieldsOf = (flags: Flags, now: number): Readonly<Record<string, unknown>> => ({
  label: flags.label === '-' ? null : flags.label,
  expires_at: expiryOf(flags.expires, now),
  scopes: flags.scopes?.split(','),
  models: flags.models === '-' ? null : flags.models?.split(','),
  limits: flags.limits === undefined ? undefined : flags.limits === '-' ? null : json(flags.limits, '--limits'),
})

const expiryOf = (text: string | undefined, now: number): string | null | undefined => {
  if (text === undefined) return undefined
  if (text === '-') return null
  const at = instant(text, '--expires')
  if (at <= now) throw new UsageError('--expires must be in the future')
  return isoTime(at)
}

const add: Command['run'] = async ([name = ''], flags, on) => {
  const fields = fieldsOf(flags, on.clock.now())
  const { id } = await requireUser(on, name)
  on.out((await on.operations.tokens.add(on.actor, id, fields)).secret)
}

const list: Command['run'] = async ([name], flags, on) => {
  const query = {
    search: flags.search,
    user: name === undefined ? undefined : (await requireUser(on, name)).id,
    state: wordOf(flags.state, ['valid', 'expired', 'revoked'], '--state'),
    usedSince: instantOf(flags, 'used-since'),
    unusedSince: instantOf(flags, 'unused-since'),
  }
  for await (const token of allItems((page) => on.operations.tokens.listAll(on.actor, query, page)))
    if (flags.json) printJson(on.out, toTokenView(token))
    else on.out(lineOfToken(token))
}

const instantOf = (flags: Flags, flag: 'used-since' | 'unused-since'): number | undefined => {
  const text = flags[flag]
  return text === undefined ? undefined : instant(text, `--${flag}`)
}

const lineOfToken = ({ id, userName, label = '-', start, createdAt, expiresAt, revokedAt }: AdminToken): string => {
  const end = expiresAt === undefined ? 'never expires' : `expires ${time(expiresAt)}`
  const revoked = revokedAt === undefined ? 'not revoked' : `revoked ${time(revokedAt)}`
  return columns(id, userName, label, `${start}…`, `created ${time(createdAt)}`, end, revoked)
}

const change: Command['run'] = async ([id = ''], flags, on) => {
  const fields = fieldsOf(flags, on.clock.now())
  if (Object.values(fields).every((value) => value === undefined)) throw new UsageError('nothing is to be changed')
  await orUnknown(id, on.operations.tokens.change(on.actor, id, fields))
}

const rotate: Command['run'] = async ([id = ''], { overlap }, on) => {
  const seconds = overlap === undefined ? undefined : Number(overlap)
  on.out((await orUnknown(id, on.operations.tokens.rotate(on.actor, id, { overlap_seconds: seconds }))).secret)
}

const revoke: Command['run'] = ([id = ''], _flags, on) => orUnknown(id, on.operations.tokens.revoke(on.actor, id))

/** The message names the id. */
const orUnknown = <Result>(id: string, result: Promise<Result>): Promise<Result> =>
  result.catch((error: { readonly status?: unknown }) => {
    throw error.status === 404 ? new CommandRejectedError(`there is no token ${id}`) : error
  })

/** The commands of tokens. */
export const tokenCommands: Commands = {
  'token add': { positionals: [1, 1], flags: ['label', 'expires', 'scopes', 'models', 'limits'], run: add },
  'token list': {
    positionals: [0, 1],
    flags: ['search', 'state', 'used-since', 'unused-since'],
    switches: ['json'],
    run: list,
  },
  'token change': { positionals: [1, 1], flags: ['label', 'expires', 'scopes', 'models', 'limits'], run: change },
  'token rotate': { positionals: [1, 1], flags: ['overlap'], run: rotate },
  'token revoke': { positionals: [1, 1], run: revoke },
}
