import assert from 'node:assert/strict'
import type { Library } from '../../src/emulator/index.ts'
import type { User } from '../support/gateway.ts'
import type { Settled } from './list-request.ts'

export type GroupType = 'AIGC' | 'LivenessFace'

/** A group as it has to be: who owns it, what the gateway wrote down of it, and what the upstream has. */
export interface ModelGroup {
  readonly id: string
  readonly type: GroupType
  /** Index of its user; undefined: nobody's, or nobody's any more. */
  owner: number | undefined
  /** Whose it ever was. */
  readonly maker: number | undefined
  /** Of the gateway's record. */
  name: string
  description: string | undefined
  /** The upstream's CreateTime once a list has learnt it. */
  recordedAt: number
  /** What the upstream has; undefined: nothing any more. */
  upstream: { name: string; description: string } | undefined
}

export interface ModelAsset {
  readonly id: string
  readonly group: string
  name: string
  /** Whether the gateway wrote down where it lies. */
  readonly recorded: boolean
  gone: boolean
}

/** Where a token's walk stands. */
export interface ModelToken {
  readonly text: string
  readonly user: number
  /** Endpoint, filters and sort. */
  readonly bound: string
  readonly after: Place
  /** What it was the answer to. */
  readonly asked: Settled
}

export interface Place {
  readonly key: number | string
  readonly id: string
}

/** A plain account of who owns what. */
export class Model {
  readonly users: readonly User[]
  readonly groups = new Map<string, ModelGroup>()
  readonly assets = new Map<string, ModelAsset>()
  readonly tokens: ModelToken[] = []
  /** Names that are taken by a creation or renaming whose outcome is unknown. */
  readonly blocked = new Set<string>()
  readonly #library: Library

  constructor(users: readonly User[], library: Library) {
    this.users = users
    this.#library = library
  }

  groupsOf(user: number, type?: GroupType): ModelGroup[] {
    return [...this.groups.values()].filter((group) => group.owner === user && (!type || group.type === type))
  }

  /** Groups that exist, or did, and are not this user's. */
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

  /** Whether a creation or renaming of whose end nobody knows holds the name, or a group has it; undefined: neither. */
  holderOf(user: number, type: GroupType, name: string): 'unsettled' | 'taken' | undefined {
    if (this.blocked.has(blockedName(user, type, name))) return 'unsettled'
    return this.groupsOf(user, type).some((group) => group.name === name) ? 'taken' : undefined
  }

  block(user: number, type: GroupType, name: string): void {
    this.blocked.add(blockedName(user, type, name))
  }

  /** What went away upstream, by whoever's hand. */
  loseGroup(group: ModelGroup): void {
    group.upstream = undefined
    for (const asset of this.assets.values()) if (asset.group === group.id) asset.gone = true
  }

  /** Ids upstream that nobody has accounted for yet. */
  newGroups(): string[] {
    return this.#library.groups().flatMap(({ id }) => (this.groups.has(id) ? [] : [id]))
  }

  newAssets(): string[] {
    return this.#library.assets().flatMap(({ id }) => (this.assets.has(id) ? [] : [id]))
  }

  /** Throws unless the upstream holds exactly what it has to hold. */
  checkUpstream(): void {
    const groups = this.#library.groups().map(({ id, type, name, description }) => ({ id, type, name, description }))
    const expectedGroups = [...this.groups.values()].flatMap(({ id, type, upstream }) =>
      upstream ? [{ id, type, ...upstream }] : [],
    )
    assert.deepEqual(groups.toSorted(byId), expectedGroups.toSorted(byId), 'groups upstream')
    const assets = this.#library.assets().map(({ id, groupId: group, name }) => ({ id, group, name }))
    const expectedAssets = [...this.assets.values()].flatMap(({ id, group, name, gone }) =>
      gone ? [] : [{ id, group, name }],
    )
    assert.deepEqual(assets.toSorted(byId), expectedAssets.toSorted(byId), 'assets upstream')
  }
}

const blockedName = (user: number, type: GroupType, name: string): string => JSON.stringify([user, type, name])

const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1)
