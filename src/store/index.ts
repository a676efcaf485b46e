import type { TokenStore } from '../../plugins/api-token/store.ts'
import type { VerificationStore } from '../../plugins/face-verification/store.ts'
import type { ClaimStore, OwnershipStore } from '../../plugins/ownership/store.ts'
import type { Log } from '../../plugins/shared/problem.ts'
import type { Revision } from '../../plugins/shared/remembered.ts'
import type { TextObjectStore } from '../../plugins/text-generation/object-store.ts'
import type { Places } from '../../plugins/upstream-proxy/places.ts'
import type { AttemptStore, SessionStore } from '../../plugins/web-session/store.ts'
import { attempts } from './attempts.ts'
import { audit } from './audit.ts'
import { claims } from './claims.ts'
import { type Database, sql } from './database.ts'
import { groups } from './groups.ts'
import { migrate } from './migrations.ts'
import { pending } from './pending.ts'
import { openPostgres } from './postgres.ts'
import { rateLimits } from './rate-limits.ts'
import { readRevision, tellingRaises } from './revision.ts'
import { readSecret } from './secrets.ts'
import { sessions } from './sessions.ts'
import { openSqlite } from './sqlite.ts'
import { textObjects } from './text-objects.ts'
import { tokens } from './tokens.ts'
import { type UsageRecords, usage } from './usage.ts'
import { users } from './users.ts'
import { verifications } from './verifications.ts'

export type { AuditEntry, AuditFilter, NewAuditEntry } from './audit.ts'
export { StoreError } from './error.ts'
export type { AdoptionRefusedError } from './groups.ts'
export type { OpenClaim } from './pending.ts'
export type { Token } from './tokens.ts'
export type { Usage, UsageFilter } from './usage.ts'
export type { User } from './users.ts'

export interface StoreOptions {
  /** Longest time for one question to PostgreSQL, waiting for a connection included. Milliseconds, default 3,000. */
  readonly deadlineMs?: number
  /** Milliseconds since 1970. Default the system's clock. */
  readonly now?: () => number
  /** Told when usage cannot be written, and when some of it is lost. Default: nobody is. */
  readonly log?: Log
}

type Records = ReturnType<typeof users> &
  ReturnType<typeof tokens> &
  ReturnType<typeof groups> &
  ReturnType<typeof pending> &
  Omit<UsageRecords, 'closeUsage'> &
  ReturnType<typeof audit>

/**
 * Answers the questions of the plugins, and those of an administrator. Rejects in time: with StoreError when the database cannot be asked, with TypeError for text
 * that it would not keep (NUL, lone surrogates).
 */
export interface Store
  extends OwnershipStore,
    ClaimStore,
    TokenStore,
    TextObjectStore,
    Omit<SessionStore, 'userByName'>,
    AttemptStore,
    VerificationStore,
    Records {
  revision(): Promise<number>
  /** Says what has changed since that revision, where it is known; one question either way. */
  revision(since: number | undefined): Promise<number | Revision>
  /** Places under the upstream's limits, the same for all processes. */
  readonly places: Places
  /** A random secret, made at its first use, the same for all processes and for good. */
  secret(name: string): Promise<string>
  /** Makes or updates the tables; safe in several processes at once. Rejects when the database is newer than the program. */
  migrate(): Promise<void>
  /** Resolves when the database answers, within a second; else rejects. */
  ready(): Promise<void>
  /** Writes usage that has not been written yet, if the database takes it, and ends all connections, within 3 seconds each. */
  close(): Promise<void>
}

const readyMs = 1_000

/**
 * A store on `sqlite:PATH`, `sqlite::memory:` or `postgres://…`. Nothing is opened before the first question, so a database that is not there yet is
 * no error here. Throws TypeError for any other address.
 */
export const openStore = (url: string, { deadlineMs = 3_000, now = Date.now, log }: StoreOptions = {}): Store => {
  const told = new Set<() => void>()
  const database = tellingRaises(openDatabase(url, deadlineMs), () => {
    for (const raised of told) raised()
  })
  const { closeUsage, ...used } = usage(database, { log })
  return {
    ...users(database),
    ...tokens(database),
    ...groups(database),
    ...claims(database),
    ...pending(database),
    ...used,
    ...textObjects(database),
    ...audit(database),
    ...sessions(database),
    ...attempts(database),
    ...verifications(database),
    places: rateLimits(database),
    onRaise: (raised) => void told.add(raised),
    revision: ((since?: number) => readRevision(database, since)) as Store['revision'],
    secret: (name) => readSecret(database, name),
    migrate: () => database.exclusively(() => migrate(now())),
    ready: async () => {
      await database.query(sql`select 1 as ready`, Math.min(readyMs, deadlineMs))
    },
    close: async () => {
      await closeUsage()
      await database.close()
    },
  }
}

const openDatabase = (url: string, deadlineMs: number): Database => {
  if (/^postgres(ql)?:\/\//.test(url)) return openPostgres(url, { deadlineMs })
  const [, path] = /^sqlite:(.+)$/.exec(url) ?? []
  if (path === undefined) throw new TypeError('a store is at sqlite:PATH or postgres://…')
  return openSqlite(path)
}
