import type { AssetBatchRecords } from '../../plugins/admin/asset-batches.ts'
import type { ConsentRecords } from '../../plugins/admin/consents.ts'
import type { AdminStore } from '../../plugins/admin/store.ts'
import type { UserImportStore } from '../../plugins/admin/user-import/store.ts'
import type { TokenStore } from '../../plugins/api-token/store.ts'
import type {
  AccountUseStore,
  AssetBatchStore,
  AssetWatchStore,
  PictureStore,
  SlottedAssetStore,
} from '../../plugins/asset-library/index.ts'
import type { EventStore } from '../../plugins/events/store.ts'
import type { DeliveryStore } from '../../plugins/events/webhooks/delivery-store.ts'
import type { WebhookStore } from '../../plugins/events/webhooks/webhook-store.ts'
import type { VerificationStore } from '../../plugins/face-verification/store.ts'
import type { FileStore } from '../../plugins/file-storage/store.ts'
import type { IdempotencyStore } from '../../plugins/idempotency/store.ts'
import type { OidcUserStore } from '../../plugins/oidc-login/store.ts'
import type { ShareStore } from '../../plugins/ownership/share-store.ts'
import type { ClaimStore, OwnershipStore } from '../../plugins/ownership/store.ts'
import type { LeaseStore } from '../../plugins/shared/background/lease-store.ts'
import { type Clock, systemClock } from '../../plugins/shared/clock.ts'
import type { ConsentStore } from '../../plugins/shared/consent/store.ts'
import type { Revision } from '../../plugins/shared/identity/revision-clock.ts'
import { SpaceCheck } from '../../plugins/shared/no-space.ts'
import { checkSecrets } from '../../plugins/shared/plugin/options.ts'
import type { Log } from '../../plugins/shared/problem.ts'
import type { TextObjectStore } from '../../plugins/text-generation/objects/store.ts'
import type { StoredResponseStore } from '../../plugins/text-generation/objects/stored/store.ts'
import type { RateLimitStore } from '../../plugins/upstream-proxy/rate-limit/store.ts'
import type { LimitStore } from '../../plugins/usage-limits/store.ts'
import type { VideoDecisionStore } from '../../plugins/video-generation/decisions/store.ts'
import type { VideoQueue } from '../../plugins/video-generation/store/queue.ts'
import type { OwnAccountStore } from '../../plugins/web-session/account/store.ts'
import type { AttemptStore, SessionStore } from '../../plugins/web-session/store.ts'
import { createAdminTokenStore } from './admin/admin-tokens.ts'
import { createAdminUserStore } from './admin/admin-users.ts'
import { createTeamStore } from './admin/teams.ts'
import { createUserImportStore } from './admin/user-import.ts'
import { type AuditRecords, createAuditStore } from './audit/records.ts'
import { consentPages } from './consents/consent-pages.ts'
import { createConsentStore } from './consents/consents.ts'
import { notifyOnCommit, withoutDisk } from './database/database.ts'
import { openDatabase } from './database/kinds.ts'
import { raisesRevision, readRevision } from './database/revision.ts'
import { sql } from './database/statement.ts'
import { createDeliveryStore } from './events/deliveries.ts'
import { addsEvents, createEventStore, type EventRecords } from './events/events.ts'
import { createWebhookStore } from './events/webhooks.ts'
import { createVerificationStore } from './face-verifications.ts'
import { createFileStore } from './files.ts'
import { createIdempotencyStore } from './idempotency.ts'
import { createLeaseStore, writeProbe } from './leases.ts'
import { accountUse } from './library/account-use.ts'
import { createAssetBatchStore } from './library/asset-batches.ts'
import { createAssetWatchStore } from './library/asset-watches.ts'
import { createClaimStore } from './library/claims.ts'
import { createFirstAccountStore, type FirstAccountRecords } from './library/first-account.ts'
import { createGroupStore, type GroupRecords } from './library/groups.ts'
import { type OpenClaimRecords, openClaims } from './library/open-claims.ts'
import { createPictureStore } from './library/pictures.ts'
import { createShareStore } from './library/shares.ts'
import type { AssetSlotRecords } from './library/slots/slot-use.ts'
import { createSlottedAssetStore } from './library/slots/slotted-assets.ts'
import { createLimitStore } from './limits/limits.ts'
import { createMetricCountStore, type MetricCountRecords } from './metrics/metric-counts.ts'
import { countMissing, migrate } from './migrations/migrate.ts'
import { createOverdueStore, type OverdueRecords } from './overdue.ts'
import { createRateLimitStore, type RateLimitRecords, rateLimitUse } from './rate-limits.ts'
import { readSecret } from './secrets.ts'
import { createStoredResponseStore } from './text/stored-responses.ts'
import { createTextObjectStore } from './text/text-objects.ts'
import { addsUsage, createUsageStore, type UsageRecords } from './usage/usage.ts'
import { type ActivityRecords, createActivityStore } from './users/activity.ts'
import { createAttemptStore } from './users/attempts.ts'
import { createHostUserStore, type HostUserRecords } from './users/host-users.ts'
import { createInvitationStore } from './users/invitations.ts'
import { createOidcUserStore } from './users/oidc-users.ts'
import { createOwnAccountStore } from './users/own-accounts.ts'
import { createSessionStore } from './users/sessions.ts'
import { createTokenStore, type TokenRecords } from './users/tokens.ts'
import { createUserStore, type UserRecords } from './users/users.ts'
import { type VideoSlotRecords, videoSlotUse } from './video/slot-use.ts'
import { createSqlVideoQueue } from './video-queue.ts'

export type { ChainKey, ChainPlace } from './audit/chain.ts'
export type { KeyRange } from './audit/chain-check.ts'
export type { AuditEntry, AuditFilter, AuditPosition, NewAuditEntry } from './audit/entry.ts'
export type { AuditReport, VerifyAuditOptions } from './audit/verify.ts'
export { StoreError } from './database/error.ts'
export type { AdoptionFailure } from './library/groups.ts'
export type { OpenClaim } from './library/open-claims.ts'
export type { MetricCount, MetricObservations } from './metrics/metric-counts.ts'
export type { Usage, UsageFilter } from './usage/usage.ts'
export type { Token } from './users/tokens.ts'
export type { User } from './users/users.ts'

/** Options of `openStore`. */
export interface StoreOptions {
  /**
   * Deadline of a PostgreSQL query, including the wait for a connection, and of a write on SQLite that waits for other
   * processes. Milliseconds, default 3,000.
   */
  readonly deadlineMs?: number
  /** Default: the system clock. */
  readonly clock?: Pick<Clock, 'now'>
  /** Receives an error when usage cannot be written or is lost. Default: no log. */
  readonly log?: Log
  /**
   * Keys of the audit trail's chain, of at least 16 characters: the first signs new entries, the others verify older
   * ones. Default: a secret that the database keeps, which proves nothing against someone who has the database.
   */
  readonly auditKeys?: readonly string[]
}

type Records = UserRecords &
  HostUserRecords &
  TokenRecords &
  GroupRecords &
  AccountUseStore &
  FirstAccountRecords &
  OpenClaimRecords &
  Omit<UsageRecords, 'closeUsage' | 'rollUpUsage'> &
  Omit<ActivityRecords, 'closeUses'> &
  AuditRecords &
  RateLimitRecords &
  VideoSlotRecords &
  AssetSlotRecords &
  MetricCountRecords &
  OverdueRecords &
  EventRecords

/**
 * The store of the gateway: the ports of all plugins, and the queries of the admin commands.
 *
 * Every method rejects within its deadline: with StoreError when the database request fails, with TypeError for text
 * that a database would not store unchanged (NUL, lone surrogates).
 */
export interface Store
  extends OwnershipStore,
    ClaimStore,
    Omit<TokenStore, 'noteUse'>,
    TextObjectStore,
    StoredResponseStore,
    Omit<SessionStore, 'userByName' | 'noteUse'>,
    AttemptStore,
    AdminStore,
    Pick<UserImportStore, 'rejectedUsers' | 'importUsers'>,
    OidcUserStore,
    OwnAccountStore,
    VerificationStore,
    Omit<VideoQueue, 'videoAssetUses'>,
    Required<Pick<VideoQueue, 'videoAssetUses'>>,
    VideoDecisionStore,
    LeaseStore,
    EventStore,
    AssetWatchStore,
    AssetBatchStore,
    PictureStore,
    SlottedAssetStore,
    ShareStore,
    ConsentStore,
    AssetBatchRecords,
    ConsentRecords,
    Required<FileStore>,
    WebhookStore,
    DeliveryStore,
    Records {
  revision(): Promise<number>
  /** With the changes since that revision, if the store still has them. Both forms cost one query. */
  revision(since: number | undefined): Promise<number | Revision>
  /** Slots under the upstream's rate limits, shared by all processes. */
  readonly rateLimits: RateLimitStore
  /** Idempotency keys and the responses that are kept for them. */
  readonly idempotency: IdempotencyStore
  /** The use of limits, shared by all processes. */
  readonly limits: LimitStore
  /** A random secret. The first call creates it; from then on it is the same for all processes. */
  secret(name: string): Promise<string>
  /**
   * Creates or updates the tables. Several processes may call it at once. Rejects when the database is newer than the
   * program.
   */
  migrate(): Promise<void>
  /**
   * Resolves when the database responds within a second. Rejects otherwise, and while it has no room: then `hasNoSpace`
   * is true of the error.
   *
   * It writes, to find that out: every ten seconds at most, and every second while the database has no room.
   */
  ready(): Promise<void>
  /**
   * Writes the buffered usage if the database is reachable, then closes all connections. Each step takes at most 3
   * seconds.
   */
  close(): Promise<void>
}

const readyMs = 1_000
/** Of migrations that a database does not have: an index of 10,000,000 rows takes a minute. */
const migrationMs = 3_600_000

/**
 * Creates a store on `sqlite:PATH`, `sqlite::memory:` or `postgres://…`. Throws TypeError for any other address.
 *
 * The first query opens the connection, so the database need not be reachable yet.
 *
 * @example
 * const store = openStore('sqlite:data/sluice.db')
 * await store.migrate()
 */
export const openStore = (url: string, options: StoreOptions = {}): Store => {
  const { deadlineMs = 3_000, clock = systemClock, log, auditKeys = [] } = options
  if (auditKeys.length > 0) checkSecrets(auditKeys)
  const readyDeadlineMs = Math.min(readyMs, deadlineMs)
  const [raiseListeners, eventListeners] = [new Set<() => void>(), new Set<() => void>()]
  const opened = openDatabase(url, { deadlineMs, onError: (error) => space.note(error) })
  const space = new SpaceCheck(() => writeProbe(opened, readyDeadlineMs), { clock })
  const database = notifyOnCommit(opened, (statements) => {
    if (raisesRevision(statements)) for (const raised of raiseListeners) raised()
    if (addsEvents(statements)) for (const added of eventListeners) added()
    if (addsUsage(statements)) rollUpUsage()
  })
  /** For what many requests share, and a power failure may undo. */
  const unsynced = withoutDisk(database)
  const { closeUsage, rollUpUsage, ...usageRecords } = createUsageStore(database, { log })
  const { closeUses, ...activityRecords } = createActivityStore(unsynced, { log })
  const adminUsers = createAdminUserStore(database)
  return {
    ...adminUsers,
    ...createTeamStore(database),
    ...createUserImportStore(database),
    ...createAdminTokenStore(database),
    ...createInvitationStore(database),
    ...createOidcUserStore(database),
    ...createOwnAccountStore(database),
    ...createUserStore(database, adminUsers),
    ...createHostUserStore(database),
    ...createTokenStore(database),
    ...createGroupStore(database),
    ...accountUse(database),
    ...createClaimStore(database),
    ...openClaims(database),
    ...createFirstAccountStore(database),
    ...usageRecords,
    ...activityRecords,
    ...createTextObjectStore(database),
    ...createStoredResponseStore(database),
    ...createAuditStore(database, { secrets: auditKeys, clock }),
    ...createSessionStore(database),
    ...createAttemptStore(database),
    ...createVerificationStore(database, clock),
    ...createSqlVideoQueue(database),
    ...createLeaseStore(unsynced),
    ...createAssetWatchStore(database),
    ...createAssetBatchStore(database),
    ...createPictureStore(database),
    ...createSlottedAssetStore(database),
    ...createShareStore(database),
    ...createConsentStore(database),
    ...consentPages(database),
    ...createWebhookStore(database),
    ...createDeliveryStore(database),
    ...createEventStore(database, (added) => void eventListeners.add(added)),
    ...createFileStore(database),
    ...rateLimitUse(database),
    ...videoSlotUse(database),
    ...createMetricCountStore(unsynced),
    ...createOverdueStore(database),
    rateLimits: createRateLimitStore(unsynced),
    idempotency: createIdempotencyStore(database),
    limits: createLimitStore(unsynced, { log }),
    onRaise: (raised) => void raiseListeners.add(raised),
    revision: ((since?: number) => readRevision(database, since)) as Store['revision'],
    secret: (name) => readSecret(database, name),
    migrate: async () => {
      let missing = 0
      await database.exclusively(function* () {
        missing = yield* countMissing()
      })
      if (missing > 0) await database.exclusively(() => migrate(clock.now()), migrationMs)
      // Of rows that there were before: a version without roll-ups has written them, or a process that was killed.
      rollUpUsage()
    },
    ready: async () => {
      await database.query(sql`select 1 as ready`, { deadlineMs: readyDeadlineMs })
      await space.check()
    },
    requireRoom: () => space.require(),
    close: async () => {
      await Promise.all([closeUsage(), closeUses()])
      await database.close()
    },
  }
}
