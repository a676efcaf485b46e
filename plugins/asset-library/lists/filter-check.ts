import { ListChangedError } from '../../pagination-normalizer/index.ts'
import type { Clock } from '../../shared/clock.ts'
import { declareOwned } from '../../shared/owned-id.ts'
import {
  type Caller,
  itemsOf,
  type ListQuery,
  type Upstream,
  UpstreamRejectedError,
} from '../../upstream-proxy/index.ts'
import { assetStatuses } from '../schema/lists.ts'

/** How long the result of a check is valid. Milliseconds. */
const validMs = 600_000

/** A group that no user owns and no upstream creates: its date is before the service. */
export const nobodysGroup = declareOwned('group', { id: 'group-19700101000000-00000' })

const nobodysGroupOn = (account: string | undefined): typeof nobodysGroup =>
  account === undefined ? nobodysGroup : declareOwned('group', { id: nobodysGroup.id, account })

/** What a list asks for. */
type Filter = Pick<ListQuery, 'groupType' | 'groups' | 'statuses'>

/**
 * Checks that the upstream applies the filters of an asset list. Only then a total counts the caller's assets that
 * match: a page that is full of them does not show what the total counts beyond it.
 */
export class FilterCheck {
  readonly #upstream: Upstream
  readonly #clock: Pick<Clock, 'now'>
  /** By account, filter, type of the groups, and statuses. */
  readonly #validUntil = new Map<string, number>()
  readonly #running = new Map<string, Promise<void>>()

  constructor(upstream: Upstream, clock: Pick<Clock, 'now'>) {
    this.#upstream = upstream
    this.#clock = clock
  }

  /**
   * Asks the upstream whether `total`, above 0, may count assets that the list did not ask for, unless that was done
   * recently for such a list of any user. Throws ListChangedError if it may.
   */
  check(filter: Filter, total: number, { headers, user }: Caller): Promise<void> | undefined {
    // Other requests wait for the same check, so it does not end with this one.
    const caller = { headers, user }
    const { groupType, statuses = [] } = filter
    const [{ account }] = filter.groups
    const of = account === undefined ? groupType : `${account} ${groupType}`
    const groups = this.#once(`${of} groups`, () => this.#checkGroups(groupType, account, caller))
    const others = assetStatuses.filter((status) => !statuses.includes(status))
    if (statuses.length === 0 || others.length === 0) return groups
    const key = `${of} without ${others}`
    const applied = this.#once(key, () => this.#checkStatuses(filter, others, total, caller))
    return groups && applied ? Promise.all([groups, applied]).then(() => undefined) : (groups ?? applied)
  }

  /** The upstream has listed assets that a request did not ask for: earlier checks are no longer valid. */
  distrust(): void {
    this.#validUntil.clear()
  }

  #once(key: string, check: () => Promise<void>): Promise<void> | undefined {
    if (this.#clock.now() < (this.#validUntil.get(key) ?? 0)) return undefined
    const running = this.#running.get(key)
    if (running) return running
    const started = check()
      .then(() => void this.#validUntil.set(key, this.#clock.now() + validMs))
      .finally(() => this.#running.delete(key))
    this.#running.set(key, started)
    return started
  }

  /** Lists a group that does not exist. */
  async #checkGroups(groupType: string, account: string | undefined, caller: Caller): Promise<void> {
    const { items, total } = await this.#count({ groupType, groups: [nobodysGroupOn(account)] }, caller)
    if (items > 0 || total !== 0) throw new ListChangedError('the upstream lists assets of a group that does not exist')
  }

  /**
   * Counts the assets with other statuses, and if there are some, those with any: an upstream that ignores statuses
   * counts the same each time.
   */
  async #checkStatuses(filter: Filter, others: readonly string[], total: number, caller: Caller): Promise<void> {
    const rest = await this.#count({ ...filter, statuses: others }, caller)
    if (rest.total === 0) return
    const all = await this.#count({ ...filter, statuses: undefined }, caller)
    if (all.total !== total + Number(rest.total)) throw new ListChangedError('the upstream does not apply Statuses')
  }

  async #count(filter: Filter, caller: Caller): Promise<{ readonly items: number; readonly total: unknown }> {
    const paging = { pageNumber: 1, pageSize: 1 }
    const query = { ...filter, sortBy: 'CreateTime', sortOrder: 'Desc', paging } as const
    try {
      const response = await this.#upstream.send({ action: 'ListAssets', query }, caller)
      const total = response.json?.get('Result')?.get('TotalCount')?.value() ?? 0
      return { items: itemsOf(response).length, total }
    } catch (error) {
      // An upstream that rejects a filter reads it: another gateway of this kind responds with 403 to an unknown group.
      if (error instanceof UpstreamRejectedError && unknownFilter.has(error.status)) return { items: 0, total: 0 }
      throw error
    }
  }
}

const unknownFilter: ReadonlySet<number> = new Set([400, 403, 404])
