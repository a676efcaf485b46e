import type { AssetBatchRecords } from '../asset-batches.ts'
import type { AuditPageStore } from '../audit-pages.ts'
import type { ConsentRecords } from '../consents.ts'
import type { OperationTools } from '../operation-tools.ts'
import type { PendingGroupStore } from '../pending-groups.ts'
import type { AdminStore } from '../store.ts'
import type { UsageSumStore } from '../usage-sums.ts'
import type { UserImportStore } from '../user-import/store.ts'
import type { AdminVideos } from '../videos.ts'
import { type AssetBatchOperations, createAssetBatchOperations } from './asset-batches.ts'
import { type AuditOperations, createAuditOperations } from './audit.ts'
import { type ConsentOperations, type ConsentParts, createConsentOperations } from './consents.ts'
import { createGroupOperations, type GroupOperations } from './groups.ts'
import { createSystemOperations, type SystemOperations, type SystemReports } from './system.ts'
import { createTeamOperations, type TeamOperations } from './teams.ts'
import { createTokenOperations, type TokenOperations } from './tokens.ts'
import { createUsageOperations, type UsageOperations } from './usage.ts'
import { createUserOperations, type UserOperations } from './users.ts'
import { createVideoOperations, type VideoOperations } from './videos.ts'

/** Everything that operators do: the routes and the command line only read arguments and show results. */
export interface Operations {
  readonly users: UserOperations
  readonly teams: TeamOperations
  readonly tokens: TokenOperations
  readonly usage: UsageOperations
  readonly audit: AuditOperations
  readonly groups: GroupOperations
  readonly assetBatches: AssetBatchOperations
  readonly consents: ConsentOperations
  readonly videos: VideoOperations
  readonly system: SystemOperations
}

/** The store port of `admin`. */
export type OperationsStore = AdminStore &
  UsageSumStore &
  AuditPageStore &
  PendingGroupStore &
  Partial<UserImportStore> &
  Partial<AssetBatchRecords> &
  Partial<ConsentRecords>

/** What operations are about besides the store. */
export interface OperationParts extends SystemReports, ConsentParts {
  /** The video tasks of all users. */
  readonly videos: AdminVideos
}

export const createOperations = (store: OperationsStore, parts: OperationParts, tools: OperationTools): Operations => ({
  users: createUserOperations(store, tools),
  teams: createTeamOperations(store, tools),
  tokens: createTokenOperations(store, tools),
  usage: createUsageOperations(store),
  audit: createAuditOperations(store),
  groups: createGroupOperations(store, tools),
  assetBatches: createAssetBatchOperations(store, tools),
  consents: createConsentOperations(store, parts, tools),
  videos: createVideoOperations(parts.videos),
  system: createSystemOperations(parts),
})
