import type { Claim, ClaimStore, Group, OwnershipStore, WantedClaim } from '../../plugins/ownership/index.ts'

type Method = keyof OwnershipStore | keyof ClaimStore

/** A store in memory for tests. Methods in `failing` reject. */
export class MemoryStore implements OwnershipStore, ClaimStore {
  readonly owned = new Map<string, Group>()
  readonly assetGroups = new Map<string, string>()
  readonly open = new Map<string, Claim>()
  /** The called methods, in order. */
  readonly calls: Method[] = []
  /** Methods that reject. */
  readonly failing = new Set<Method>()
  /** Open claims whose call has renamed the group. */
  readonly #done = new Set<string>()
  #revision = 0
  #claims = 0

  add(group: Partial<Group> & Pick<Group, 'id' | 'user'>): Group {
    const full = { type: 'AIGC', name: group.id, createdAt: 0, ...group }
    this.owned.set(full.id, full)
    return full
  }

  raise(): void {
    this.#revision++
  }

  #note(method: Method): void {
    this.calls.push(method)
    if (this.failing.has(method)) throw new Error(`the store's secret reason against ${method}`)
  }

  async groupsOf(user: string, type?: string) {
    this.#note('groupsOf')
    return [...this.owned.values()].filter((group) => group.user === user && (!type || group.type === type))
  }

  async group(id: string) {
    this.#note('group')
    return this.owned.get(id)
  }

  async groupOfAsset(asset: string) {
    this.#note('groupOfAsset')
    return this.assetGroups.get(asset)
  }

  async recordAsset(asset: string, group: string) {
    this.#note('recordAsset')
    this.assetGroups.set(asset, group)
  }

  async removeGroup({ id }: Pick<Group, 'id'>) {
    this.#note('removeGroup')
    this.owned.delete(id)
    for (const [asset, group] of this.assetGroups) if (group === id) this.assetGroups.delete(asset)
    this.raise()
  }

  async dateGroups(groups: readonly { id: string; createdAt: number }[]) {
    this.#note('dateGroups')
    for (const { id, createdAt } of groups) {
      const group = this.owned.get(id)
      if (group) this.owned.set(id, { ...group, createdAt, dated: 1 })
    }
  }

  async describeGroup({ id }: Pick<Group, 'id'>, description: string) {
    this.#note('describeGroup')
    const group = this.owned.get(id)
    if (group) this.owned.set(id, { ...group, description })
    this.raise()
  }

  async revision() {
    this.#note('revision')
    return this.#revision
  }

  #taken({ user, type, name }: Pick<Claim, 'user' | 'type' | 'name'>, except?: string): boolean {
    const same = (other: { user: string; type: string; name: string }) =>
      other.user === user && other.type === type && other.name === name
    return (
      [...this.owned.values()].some((group) => group.id !== except && same(group)) ||
      [...this.open.values()].some((claim) => claim.state === 'pending' && same(claim))
    )
  }

  #renamed(group: string | undefined): boolean {
    return [...this.open.values()].some(
      ({ id, renames }) => renames !== undefined && renames === group && !this.#done.has(id),
    )
  }

  async claim(wanted: WantedClaim) {
    this.#note('claim')
    if (this.#taken(wanted, wanted.renames) || this.#renamed(wanted.renames)) return undefined
    const isNamed = wanted.renames !== undefined && this.owned.get(wanted.renames)?.name === wanted.name
    const claim: Claim = { id: String(++this.#claims), ...wanted, state: isNamed ? 'unresolved' : 'pending' }
    this.open.set(claim.id, claim)
    return claim
  }

  async confirm(claim: Claim, { id, createdAt }: { id: string; createdAt: number }) {
    this.#note('confirm')
    this.open.delete(claim.id)
    const present = this.owned.get(id)
    if (this.#taken(claim, claim.renames) || (present && present.id !== claim.renames)) {
      this.open.set(claim.id, { ...claim, state: 'unresolved' })
      this.#done.add(claim.id)
      return false
    }
    const { user, type, name, description = present?.description } = claim
    this.owned.set(id, { id, user, type, name, description, createdAt })
    this.raise()
    return true
  }

  async release(claim: Claim) {
    this.#note('release')
    this.open.delete(claim.id)
  }

  async claimOutcome(id: string) {
    this.#note('claimOutcome')
    return this.open.has(id) ? ('open' as const) : undefined
  }

  async hasUnresolved({ user, type, name, renames }: Pick<Claim, 'user' | 'type' | 'name' | 'renames'>) {
    this.#note('hasUnresolved')
    if (this.#renamed(renames)) return true
    return [...this.open.values()].some(
      (claim) =>
        claim.state === 'pending' &&
        claim.endedAt !== undefined &&
        claim.user === user &&
        claim.type === type &&
        claim.name === name,
    )
  }

  async postpone(claim: Claim, endedAt: number, dueAt: number) {
    this.#note('postpone')
    const open = this.open.get(claim.id)
    if (open) this.open.set(claim.id, { ...open, endedAt, dueAt })
  }

  async markUnresolved(claim: Claim, dueAt: number) {
    this.#note('markUnresolved')
    if (this.open.has(claim.id)) this.open.set(claim.id, { ...claim, state: 'unresolved', dueAt })
  }

  async lease(now: number, until: number) {
    this.#note('lease')
    const due = [...this.open.values()].filter((claim) => claim.dueAt <= now)
    const leased = due.map((claim) => ({ ...claim, dueAt: until }))
    for (const claim of leased) this.open.set(claim.id, claim)
    return leased
  }

  async adopt(claim: Claim, group: { id: string; createdAt: number }) {
    this.#note('adopt')
    const rival = [...this.open.values()].some(
      (other) =>
        other.id !== claim.id &&
        other.type === claim.type &&
        other.name === claim.name &&
        (other.user !== claim.user || other.endedAt === undefined),
    )
    if (rival) return 'rival'
    if (this.owned.has(group.id) || this.#taken(claim, undefined) !== (claim.state === 'pending')) return 'taken'
    return (await this.confirm(claim, group)) ? 'adopted' : 'taken'
  }

  async nextDue() {
    this.#note('nextDue')
    const due = [...this.open.values()].map((claim) => claim.dueAt)
    return due.length === 0 ? undefined : Math.min(...due)
  }
}
