import type { LeaseStore } from '../../shared/background/lease-store.ts'

/**
 * Where an asset is at the upstream.
 *
 * - `absent`: the upstream does not have it.
 * - `creating`: a call that creates it has begun, and its outcome is not recorded.
 * - `present`: it has it, as `upstreamId`.
 * - `deleting`: a call that deletes it has begun, and its outcome is not recorded.
 */
export type SlotState = 'absent' | 'creating' | 'present' | 'deleting'

/** What the caller of an asset sees of its processing. */
export type SlottedStatus = 'Processing' | 'Active' | 'Failed'

/** An account of the library, as records have it. */
export interface SlotAccount {
  /** In records of assets and of slots. Empty: the first account, or the only one. */
  readonly key: string
  /** In records of groups, of which those of the first account may also name none. Empty: the only one. */
  readonly name: string
}

/** An asset with an id of the gateway's own, which is at the upstream only while it has a slot. Times: see `Clock`. */
export interface SlottedAsset {
  /** For life. */
  readonly id: string
  /** Owner of the group. */
  readonly user: string
  readonly group: string
  /** The account of the group, for life: `key` of `SlotAccount`. */
  readonly account: string
  readonly state: SlotState
  /** Undefined unless `present` or `deleting`. */
  readonly upstreamId?: string
  /** Calls that have created it, or have tried to: with the id, the name that the upstream knows it by. */
  readonly attempts: number
  /** Until then, a call of `creating` or `deleting` belongs to the process that has begun it. */
  readonly leaseUntil: number
  readonly status: SlottedStatus
  /** Whether the asset that the upstream has now is known to be active there. */
  readonly isReady: boolean
  readonly name: string
  readonly createdAt: number
  readonly updatedAt: number
  /** When a task has used it last. */
  readonly usedAt: number
  /** When its user has deleted it: it is in no list any more. */
  readonly removedAt?: number
  /** Key of the original in the file storage. Undefined: it cannot be created again, so it keeps its slot. */
  readonly original?: string
  /** The members of the request that has created it, as JSON, without group, address and name. */
  readonly body: string
  /** What the upstream has said about it last, as JSON. */
  readonly item: string
}

export type NewSlottedAsset = Pick<
  SlottedAsset,
  'id' | 'user' | 'group' | 'account' | 'name' | 'createdAt' | 'body' | 'original'
>

/** An asset that the upstream had before it had an id of the gateway's own: that of the upstream becomes its id. */
export type AdoptedAsset = Pick<
  SlottedAsset,
  'id' | 'name' | 'status' | 'createdAt' | 'updatedAt' | 'body' | 'item'
> & {
  /** The id that it gets when an asset of another account has its own. */
  readonly otherId: string
}

/** A video task or a request that needs assets, and waits for their slots. */
export interface SlotNeed {
  /** Of the task, or of the use. Both sort by time. */
  readonly id: string
  /**
   * The user of a request, which waits for its turn: first goes who has the fewest slots in use, and then who has
   * waited longest. Undefined: it is a video task, which the queue of videos has let in.
   */
  readonly user?: string | undefined
  /** Until then it counts among those that wait, unless it claims again. */
  readonly waitUntil: number
}

/** The assets of one request, from before they are at the upstream until it ends. */
export interface AssetUse {
  readonly id: string
  readonly user: string
  readonly assets: readonly string[]
  readonly now: number
  /** How long the use counts if it has to wait, and is not begun again. */
  readonly waitUntil: number
  /** How long its assets keep their slots if it need not wait, and is not renewed. */
  readonly leaseUntil: number
}

/** What an account has of its slots, for metrics. */
export interface SlotCounts {
  /** Assets that have one. */
  readonly used: number
  /** Video tasks and requests that wait for one. */
  readonly waiting: number
}

/**
 * Who wants a slot of an account, and under which rules. An asset of a person has a slot too, from its creation to its
 * deletion.
 */
export interface SlotClaim {
  readonly id: string
  /** All that is counted, and what loses its slot, is on this account. */
  readonly account: SlotAccount
  /** How many assets the account may have at once. */
  readonly slots: number
  /** Slots of a user, on each account, that others do not take while they can take another one. */
  readonly floor: number
  /** Slots of a user at most, on each account. */
  readonly cap: number
  /** What waits for the asset. It takes no slot from an asset that something older needs. Undefined: nothing waits. */
  readonly need?: SlotNeed | undefined
  readonly now: number
  readonly leaseUntil: number
}

/**
 * What became of a claim.
 *
 * - `claimed`: the asset is `creating`, and the caller creates it. `occupied`: the slots that are taken, with this one.
 *   `freed`: see `freedSlots`.
 * - `evict`: there is no slot. The caller deletes the victim, which is `deleting` now, and claims again.
 * - `full`: nothing can be evicted now. `capped`: nothing of the user, who has as many slots as a user may have.
 * - `other`: the asset is not `absent`, or not of the account.
 */
export type SlotClaimOutcome =
  | { readonly outcome: 'claimed'; readonly asset: SlottedAsset; readonly occupied: number; readonly freed: number }
  | { readonly outcome: 'evict'; readonly victim: SlottedAsset }
  | { readonly outcome: 'full' | 'capped' | 'other' }

/** Who wants a slot for an asset of a person, which is to be created. Nobody can take that slot away. */
export interface PersonSlotClaim extends Omit<SlotClaim, 'need'> {
  /** Of the claim: it ends with `releasePersonSlot`, or at `leaseUntil`. */
  readonly id: string
  readonly user: string
  /** Slots of the user that assets of persons may have. */
  readonly maxPersons: number
}

/**
 * What became of it: as for `SlotClaimOutcome`.
 *
 * - `capped`: assets of persons, and those that tasks use, have all slots that the user may have.
 * - `full`: there is no slot, or the user has the floor and others could not have theirs: at least one slot each.
 */
export type PersonSlotOutcome =
  | { readonly outcome: 'claimed' | 'full' | 'capped' }
  | { readonly outcome: 'evict'; readonly victim: SlottedAsset }

/** A page of a list, and what it is cut from. */
export interface SlottedList {
  readonly groups: readonly string[]
  readonly name?: string | undefined
  readonly statuses?: readonly string[] | undefined
  readonly sortBy: 'CreateTime' | 'UpdateTime' | 'GroupId'
  readonly descending: boolean
  readonly limit: number
  /** Rows to leave out. */
  readonly offset?: number
  /** The last row of the page before. */
  readonly after?: { readonly key: string | number; readonly id: string } | undefined
}

/**
 * Store port: the assets of a library that is larger than its slots. Each change is one transaction, and intents are
 * recorded before the calls of the upstream that they are about.
 */
export interface SlottedAssetStore extends LeaseStore {
  slottedAssets(ids: readonly string[]): Promise<readonly SlottedAsset[]>
  /** Whether it is the upstream's id of an asset of the account that has another one. */
  isHiddenId(id: string, account: SlotAccount): Promise<boolean>
  /** Rows of the list, and how many it has. Without those that have been deleted. */
  listSlottedAssets(list: SlottedList): Promise<{ readonly assets: readonly SlottedAsset[]; readonly total: number }>
  /** Adds an asset that is absent. False: there is one with this id. */
  addSlottedAsset(asset: NewSlottedAsset): Promise<boolean>
  /** Which of these groups have assets that are not known yet. */
  unadoptedGroups(groups: readonly string[]): Promise<readonly string[]>
  /** Adds the assets that the upstream has of a group, unless that was done before. No two have the same id. */
  adoptAssets(
    group: { readonly id: string; readonly user: string; readonly account: string },
    assets: readonly AdoptedAsset[],
  ): Promise<void>
  /** Claims a slot for an asset, or chooses the one that makes room for it. */
  claimSlot(claim: SlotClaim): Promise<SlotClaimOutcome>
  /** Makes room for something that is no slotted asset: chooses a victim as `claimSlot` does. */
  claimVictim(
    claim: Omit<SlotClaim, 'id' | 'slots' | 'need' | 'cap'> & { readonly user: string },
  ): Promise<SlottedAsset | undefined>
  /** Claims a slot for an asset of a person, or chooses the one that makes room for it. */
  claimPersonSlot(claim: PersonSlotClaim): Promise<PersonSlotOutcome>
  /** Something is gone that took a slot of the account. All processes see it. */
  noteFreedSlot(account: SlotAccount): Promise<void>
  /** How often that was noted. A refusal of the upstream from before the latest one says nothing any more. */
  freedSlots(account: SlotAccount): Promise<number>
  /** How many slots the account has, where its upstream says so: for operators, through any process. */
  noteSlotLimit(account: SlotAccount, slots: number): Promise<void>
  /** The asset was not created, or not recorded. `recordAsset` ends the claim of one that is. */
  releasePersonSlot(id: string): Promise<void>
  /** The slots of the account that each user has with assets of persons, by the id of the user. */
  personSlots(account: SlotAccount, now: number): Promise<ReadonlyMap<string, number>>
  /** The upstream has created it. False: the claim has ended. */
  confirmCreated(asset: SlottedAsset, upstreamId: string, dueAt: number): Promise<boolean>
  /** The upstream has not created it. What its user has deleted is forgotten, with its original. */
  releaseSlot(asset: SlottedAsset, now: number, dueAt: number | undefined): Promise<void>
  /** The upstream does not have it any more. What its user has deleted is forgotten, with its original. */
  confirmDeleted(asset: SlottedAsset, now: number): Promise<void>
  /** Takes over a call without an outcome whose lease has ended. False: another process has. */
  takeOver(asset: SlottedAsset, now: number, leaseUntil: number): Promise<boolean>
  /** What the upstream says about an asset that it has. */
  noteUpstreamItem(
    asset: SlottedAsset,
    note: Pick<SlottedAsset, 'status' | 'isReady' | 'item'> & {
      readonly at: number
      readonly dueAt: number | undefined
    },
  ): Promise<void>
  /** Its user has deleted it: it leaves the lists, and is to be deleted upstream. False: it was deleted before. */
  removeSlottedAsset(id: string, now: number): Promise<boolean>
  /** The upstream does not take an asset that has never been active. @param item with `Error`, as JSON */
  failSlottedAsset(id: string, item: string, now: number): Promise<void>
  renameSlottedAsset(id: string, name: string, now: number): Promise<void>
  /** The file storage has the original now. */
  keepOriginal(id: string, key: string): Promise<boolean>
  /** A task uses them now. */
  touchSlottedAssets(ids: readonly string[], now: number): Promise<void>
  /**
   * Begins a use, or goes on with one that waits. `isHeld`: the upstream has all its assets, and none of them loses its
   * slot until the use ends. Otherwise what something younger needs cannot take those that it has.
   */
  beginAssetUse(use: AssetUse): Promise<{ readonly assets: readonly SlottedAsset[]; readonly isHeld: boolean }>
  /** The uses go on. */
  renewAssetUses(ids: readonly string[], leaseUntil: number): Promise<void>
  endAssetUse(id: string): Promise<void>
  /** Removes uses, and waits for slots, that ended without a word: their processes have ended. */
  sweepAssetUses(now: number): Promise<void>
  countSlots(account: SlotAccount, now: number): Promise<SlotCounts>
  /** Those of the account about which something is to be done: processing, calls without an outcome, deletions. */
  dueSlottedAssets(account: SlotAccount, now: number, max: number): Promise<readonly SlottedAsset[]>
  postponeSlottedAsset(id: string, dueAt: number | undefined): Promise<void>
}
