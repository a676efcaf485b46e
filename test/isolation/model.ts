import assert from 'node:assert/strict'
import type { Library } from '../../src/emulator/index.ts'
import type { User } from '../support/gateway.ts'
import type { ResolvedRequest } from './list-request.ts'

export type GroupType = 'AIGC' | 'LivenessFace'

/** The expected state of a group: its owner, the record of the gateway, and the state of the upstream. */
export interface ModelGroup {
  readonly id: string
  readonly type: GroupType
  /** Index of the user who owns it. Undefined: it has no owner, or no longer has one. */
  owner: number | undefined
  /** Index of the user who ever owned it. */
  readonly creator: number | undefined
  /** As the gateway's record has it. */
  name: string
  description: string | undefined
  /** The upstream's CreateTime, from the first list that showed it on. */
  recordedAt: number
  /** As the upstream has it. Undefined: the upstream has deleted it. */
  upstream: { name: string; description: string } | undefined
}

export interface ModelAsset {
  readonly id: string
  readonly group: string
  name: string
  /** Whether the gateway has recorded the group of the asset. */
  readonly recorded: boolean
  deleted: boolean
}

/** A group that its owner lends. */
export interface ModelShare {
  readonly id: string
  readonly group: string
  /** Index of the user who lends it. */
  readonly owner: number
  /** Index of a user, or the team of the model. */
  readonly borrower: number | 'team'
  access: 'read' | 'use'
  expiresAt: number | undefined
}

/** Who has asked for a withdrawal or a deletion. */
export type ModelAct =
  | { readonly by: 'owner'; readonly user: number; readonly at: number }
  | { readonly by: 'person'; readonly linkFrom: number }

/** What the ledger has of the person of a group. */
export interface ModelConsent {
  readonly group: string
  /** Index of the user who owned the group when the ledger got it. */
  readonly owner: number
  withdrawal: ModelAct | undefined
  deletion: ModelAct | undefined
  usedAt: number | undefined
  readonly uses: { readonly task: string; readonly user: number; readonly assets: readonly string[] }[]
  readonly links: { readonly secret: string; readonly madeBy: number }[]
}

/** A text response that the upstream stores. */
export interface ModelResponse {
  readonly id: string
  /** Index of its user. */
  readonly user: number
  /** Groups of the persons that it shows, with what it continues. */
  readonly persons: readonly string[]
}

export type Scope = 'own' | 'shared' | 'all'

/** A NextToken and the position after which its next page begins. */
export interface ModelToken {
  readonly text: string
  readonly user: number
  /** Endpoint, filters and sort. */
  readonly bound: string
  readonly after: Position
  /** The request whose response contained the token. */
  readonly request: ResolvedRequest
}

export interface Position {
  readonly key: number | string
  readonly id: string
}

/** The expected owner and state of every group and asset. */
export class Model {
  readonly users: readonly User[]
  readonly groups = new Map<string, ModelGroup>()
  readonly assets = new Map<string, ModelAsset>()
  readonly tokens: ModelToken[] = []
  /** Names of creations and renamings whose result is unknown. */
  readonly blocked = new Set<string>()
  /** Those that no step has ended. They may have expired, or their group may have another owner. */
  shares: ModelShare[] = []
  /** The ids of groups that are lent or were. */
  readonly everLent = new Set<string>()
  /** The ledger, by group. A group of a person may be missing. */
  readonly consents = new Map<string, ModelConsent>()
  readonly responses: ModelResponse[] = []
  /** The users who are in the team. */
  readonly team = new Set<number>()
  readonly #library: Library
  readonly #now: () => number

  constructor(users: readonly User[], library: Library, now: () => number) {
    this.users = users
    this.#library = library
    this.#now = now
  }

  /** The shares that have not ended. */
  openShares(): ModelShare[] {
    return this.shares.filter(
      ({ group, owner, expiresAt }) =>
        this.groups.get(group)?.owner === owner && (expiresAt === undefined || this.#now() < expiresAt),
    )
  }

  hasWithdrawn(id: string): boolean {
    return this.consents.get(id)?.withdrawal !== undefined
  }

  /** Whether a user reads the consent of the person of a group: the owner, or the last one of a group that is gone. */
  readsConsent(user: number, id: string): boolean {
    const group = this.groups.get(id)
    if (group?.type !== 'LivenessFace') return false
    return (group.owner ?? this.consents.get(id)?.owner) === user
  }

  /** The entry of the ledger, which is made if the group has an owner. */
  ledgerOf(id: string): ModelConsent | undefined {
    const known = this.consents.get(id)
    const owner = this.groups.get(id)?.owner
    if (known || owner === undefined) return known
    const made = {
      group: id,
      owner,
      withdrawal: undefined,
      deletion: undefined,
      usedAt: undefined,
      uses: [],
      links: [],
    }
    this.consents.set(id, made)
    return made
  }

  /** What a user may do with a group of another user. */
  accessOf(user: number, id: string): 'read' | 'use' | undefined {
    const found = this.openShares().filter(
      ({ group, owner, borrower }) =>
        group === id && owner !== user && (borrower === user || (borrower === 'team' && this.team.has(user))),
    )
    return found.find(({ access }) => access === 'use')?.access ?? found[0]?.access
  }

  readsGroup(user: number, id: string): boolean {
    return this.ownsGroup(user, id) || this.accessOf(user, id) !== undefined
  }

  readsAsset(user: number, id: string): boolean {
    return this.readsGroup(user, this.assets.get(id)?.group ?? '')
  }

  /** The groups that a list with this scope takes. */
  groupsIn(scope: Scope, user: number, type?: GroupType): ModelGroup[] {
    const lent = [...this.groups.values()].filter(
      (group) => this.accessOf(user, group.id) !== undefined && (!type || group.type === type),
    )
    return [...(scope === 'shared' ? [] : this.groupsOf(user, type)), ...(scope === 'own' ? [] : lent)]
  }

  groupsOf(user: number, type?: GroupType): ModelGroup[] {
    return [...this.groups.values()].filter((group) => group.owner === user && (!type || group.type === type))
  }

  /** Groups, existing or deleted, that the user does not own. */
  othersGroups(user: number): ModelGroup[] {
    return [...this.groups.values()].filter((group) => group.owner !== user)
  }

  ownsGroup(user: number, id: unknown, type?: GroupType): boolean {
    const group = this.groups.get(String(id))
    return group !== undefined && group.owner === user && (!type || group.type === type)
  }

  ownsAsset(user: number, id: string): boolean {
    return this.ownsGroup(user, this.assets.get(id)?.group)
  }

  assetsOf(user: number): ModelAsset[] {
    return [...this.assets.values()].filter((asset) => this.ownsAsset(user, asset.id))
  }

  othersAssets(user: number): ModelAsset[] {
    return [...this.assets.values()].filter((asset) => !this.ownsAsset(user, asset.id))
  }

  /** Why the name is not free: a creation or renaming with an unknown result holds it, or a group has it. Undefined: it is free. */
  holderOf(user: number, type: GroupType, name: string): 'pending' | 'taken' | undefined {
    if (this.blocked.has(blockedName(user, type, name))) return 'pending'
    return this.groupsOf(user, type).some((group) => group.name === name) ? 'taken' : undefined
  }

  block(user: number, type: GroupType, name: string): void {
    this.blocked.add(blockedName(user, type, name))
  }

  /** The upstream has deleted the group and its assets. */
  removeGroup(group: ModelGroup): void {
    group.upstream = undefined
    for (const asset of this.assets.values()) if (asset.group === group.id) asset.deleted = true
  }

  /** Ids of the upstream that the model does not have yet. */
  newGroups(): string[] {
    return this.#library.groups().flatMap(({ id }) => (this.groups.has(id) ? [] : [id]))
  }

  newAssets(): string[] {
    return this.#library.assets().flatMap(({ id }) => (this.assets.has(id) ? [] : [id]))
  }

  /** Throws unless the upstream holds exactly the expected groups and assets. */
  checkUpstream(): void {
    const groups = this.#library.groups().map(({ id, type, name, description }) => ({ id, type, name, description }))
    const expectedGroups = [...this.groups.values()].flatMap(({ id, type, upstream }) =>
      upstream ? [{ id, type, ...upstream }] : [],
    )
    assert.deepEqual(groups.toSorted(byId), expectedGroups.toSorted(byId), 'groups upstream')
    const assets = this.#library.assets().map(({ id, groupId: group, name }) => ({ id, group, name }))
    const expectedAssets = [...this.assets.values()].flatMap(({ id, group, name, deleted }) =>
      deleted ? [] : [{ id, group, name }],
    )
    assert.deepEqual(assets.toSorted(byId), expectedAssets.toSorted(byId), 'assets upstream')
  }
}

const blockedName = (user: number, type: GroupType, name: string): string => JSON.stringify([user, type, name])

const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1)
