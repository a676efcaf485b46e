import assert from 'node:assert/strict'
import { type Account, type Fixture, upstreamAsset } from './fixture.ts'

export const users = ['ann', 'bob', 'eve'] as const

export interface ModelGroup {
  readonly id: string
  readonly owner: string
  readonly account: Account
  isDeleted: boolean
}

/** An asset, under the id that the gateway has given it. */
export interface ModelAsset {
  readonly id: string
  readonly owner: string
  readonly group: ModelGroup
  name: string
  isDeleted: boolean
  /** Whether it has been shown as active: then it stays so. */
  isActive: boolean
  /** As it was shown first. */
  createTime: string | undefined
  /** Of the last rename. The upstream may have changed it later. */
  updateTime: string
}

/** A request whose response has not ended, and the assets that its call has named, by own id. */
export interface OpenRequest {
  readonly placed: ReadonlyMap<string, string>
  end(): Promise<void>
}

/** What users have, by own ids, and what the upstream may have of it. */
export class Model {
  readonly fixture: Fixture
  readonly groups: ModelGroup[] = []
  readonly assets: ModelAsset[] = []
  readonly open: OpenRequest[] = []
  /** Number of video tasks so far. */
  tasks = 0
  /** All ids that the upstream has ever given to assets: no caller sees one. */
  readonly hidden = new Set<string>()

  constructor(fixture: Fixture) {
    this.fixture = fixture
  }

  groupsOf(user: string): readonly ModelGroup[] {
    return this.groups.filter(({ owner, isDeleted }) => owner === user && !isDeleted)
  }

  assetsOf(user: string): readonly ModelAsset[] {
    return this.assets.filter((asset) => asset.owner === user && exists(asset))
  }

  /** The asset, if it exists and is the user's. */
  own(user: string, id: string): ModelAsset | undefined {
    return this.assetsOf(user).find((asset) => asset.id === id)
  }

  /** Whether the user has, or had, the asset. */
  had(user: string, id: string): boolean {
    return this.assets.some((asset) => asset.id === id && asset.owner === user)
  }

  /** Whether there can be slots for all these assets, on their accounts, beside those that requests use. */
  hasRoomFor(ids: readonly string[]): boolean {
    const needed = new Set([...ids, ...this.open.flatMap(({ placed }) => [...placed.keys()])])
    return this.fixture.accounts.every((account) => {
      const own = [...needed].filter((id) => this.accountOf(id) === account)
      return own.length <= account.slots || !ids.some((id) => this.accountOf(id) === account)
    })
  }

  accountOf(id: string): Account | undefined {
    return this.assets.find((asset) => asset.id === id)?.group.account
  }

  /** The own ids of the assets at the upstream that have these ids. Throws for one that is not there. */
  ownIdsOf(upstreamIds: readonly string[]): readonly string[] {
    return upstreamIds.map((id) => {
      const found = upstreamAsset(this.fixture.accounts, id)
      assert.ok(found, `the upstream has no asset ${id}`)
      return ownIdIn(found.name)
    })
  }

  /**
   * Throws unless all that the upstream has is of an asset that exists, once, in its group, on its account, and from its
   * file.
   */
  checkUpstream(): void {
    for (const account of this.fixture.accounts) this.#checkAccount(account)
    for (const { placed } of this.open) {
      for (const [own, upstreamId] of placed) {
        const asset = this.assets.find(({ id }) => id === own)
        if (asset && exists(asset))
          assert.ok(asset.group.account.emulator.library.asset(upstreamId), `an asset in use is gone: ${own}`)
      }
    }
  }

  #checkAccount(account: Account): void {
    const { library } = account.emulator
    const found = library.assets()
    for (const { id } of found) this.hidden.add(id)
    assert.ok(found.length <= account.slots, `${found.length} assets at the upstream`)
    assert.equal(new Set(found.map(({ name }) => ownIdIn(name))).size, found.length, 'an asset is there twice')
    for (const { name, groupId, url } of found) {
      const own = this.assets.find(({ id }) => id === ownIdIn(name))
      assert.ok(own && exists(own), `the upstream has ${name}, which nobody has`)
      assert.equal(groupId, own.group.id, 'the group of an asset')
      assert.equal(own.group.account, account, 'the account of an asset')
      assert.ok(url.includes(`/originals/${own.id}.png`), `${own.id} was created from ${url}`)
    }
  }

  /** Throws when a response has an id of the upstream, or of an asset of another user, that the request has not named. */
  checkNoLeak(user: string, text: string, named: readonly string[]): void {
    const leaks = (id: string) => text.includes(id) && !named.includes(id)
    for (const id of this.hidden) assert.ok(!leaks(id), `shows the id of the upstream ${id}`)
    for (const { id, owner } of this.assets)
      assert.ok(owner === user || !leaks(id), `shows the asset ${id} of ${owner}`)
  }
}

export const exists = ({ isDeleted, group }: ModelAsset): boolean => !isDeleted && !group.isDeleted

const ownIdIn = (name: string): string => name.replace(/-\d+$/, '')
