import type { AdminActor } from '../../plugins/admin/operations/actor.ts'
import { createOperations, type Operations } from '../../plugins/admin/operations/operations.ts'
import type { SystemReports } from '../../plugins/admin/operations/system.ts'
import type { AdminUser, PageOf, PageRequest, Team } from '../../plugins/admin/store.ts'
import type { UserImportTools } from '../../plugins/admin/user-import/user-import.ts'
import { createToken, hashToken, tokenStart } from '../../plugins/api-token/token.ts'
import type { Clock } from '../../plugins/shared/clock.ts'
import { createDocumentSigner, type DocumentSigner } from '../../plugins/shared/consent/signature.ts'
import { parseLimits } from '../../plugins/usage-limits/limit.ts'
import { hashPassword } from '../../plugins/web-session/password.ts'
import type { Problems } from '../config/environment/reader.ts'
import { createAdminVideos } from '../operators/videos.ts'
import type { Store } from '../store/index.ts'
import { CommandRejectedError, SettingsError } from './arguments.ts'
import { byAdmin } from './audit.ts'

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
  /** The address that browsers use, for the links of invitations. Default `http://localhost`. */
  readonly publicUrl?: () => string
  /** Reads the secrets that sign exports of consents. Default: none are configured, so the store's. */
  readonly sessionSecrets?: () => readonly string[] | Problems
  /** Reads what is known of the server. Default: nothing is. */
  readonly reports?: () => Promise<SystemReports | Problems>
  /** How the user has called the command, for its usage text. Default `admin`. */
  readonly program?: string
}

/** What a command works with: the operations, which it performs as `actor`. */
export interface CommandContext extends AdminContext {
  readonly operations: Operations
  readonly actor: AdminActor
  /** Records many events, as `actor.record` does. */
  readonly recordAll: UserImportTools['recordAll']
}

/** Audit entries in one transaction: others wait for it. */
const entriesAtOnce = 500

export const withOperations = (context: AdminContext): CommandContext => {
  const { store, clock, audit = true } = context
  const recordAll: UserImportTools['recordAll'] = async (events) => {
    if (!audit) return
    const entries = events.map(({ event, affected }) => byAdmin({ ...event, user: affected }, clock.now()))
    for (let from = 0; from < entries.length; from += entriesAtOnce)
      await store.recordAudit(entries.slice(from, from + entriesAtOnce))
  }
  return {
    ...context,
    operations: createOperations(
      store,
      {
        videos: createAdminVideos(store, clock),
        consentSigner: () => consentSigner(context),
        ...reportsOf(context),
      },
      {
        clock,
        hashPassword,
        createToken,
        hashToken,
        tokenStart,
        parseLimits,
      },
    ),
    recordAll,
    actor: {
      kind: 'operator',
      // No id or token is printed without an audit entry.
      async record(event, affected) {
        if (audit) await store.recordAudit([byAdmin({ ...event, user: affected }, clock.now())])
      },
      // Who can run commands can read the database.
      read: () => {},
    },
  }
}

/** Reads the reports when a command needs one. It then throws SettingsError for settings that are not valid. */
const reportsOf = ({ reports = async () => ({}) }: AdminContext): SystemReports => {
  const read = async (): Promise<SystemReports> => {
    const known = await reports()
    if ('problems' in known) throw new SettingsError(known.problems.join('\n'))
    return known
  }
  return {
    upstreams: async () => (await read()).upstreams?.() ?? [],
    settings: async () => (await read()).settings?.() ?? {},
  }
}

/** The signer of the server, from the same secrets. Throws SettingsError for a setting that is not valid. */
const consentSigner = async ({ store, sessionSecrets = () => [] }: AdminContext): Promise<DocumentSigner> => {
  const secrets = sessionSecrets()
  if ('problems' in secrets) throw new SettingsError(secrets.problems.join('\n'))
  return createDocumentSigner(secrets.length > 0 ? secrets : [await store.secret('session')])
}

/** The user of that name. Throws CommandRejectedError. */
export const requireUser = async ({ store }: Pick<AdminContext, 'store'>, name: string): Promise<AdminUser> => {
  const user = name === '' ? undefined : await store.adminUserByName(name)
  if (!user) throw new CommandRejectedError(`there is no user named ${name}`)
  return user
}

/** The team of that name. Throws CommandRejectedError. */
export const requireTeam = async ({ store }: Pick<AdminContext, 'store'>, name: string): Promise<Team> => {
  const team = name === '' ? undefined : await store.teamByName(name)
  if (!team) throw new CommandRejectedError(`there is no team named ${name}`)
  return team
}

/** All items of a list, page by page. */
export async function* allItems<Item>(readPage: (page: PageRequest) => Promise<PageOf<Item>>): AsyncGenerator<Item> {
  let page = await readPage({ limit: 200 })
  yield* page.items
  while (page.next) {
    page = await readPage({ limit: 200, after: page.next })
    yield* page.items
  }
}
