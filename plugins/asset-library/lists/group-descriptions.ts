import { isLent, type ReadableGroup } from '../../ownership/index.ts'
import { instantOf } from '../../pagination-normalizer/index.ts'
import { type Json, toJson } from '../../shared/json/json.ts'
import { Problem } from '../../shared/problem.ts'
import { type Caller, describeGroups, type UpstreamResponse } from '../../upstream-proxy/index.ts'
import type { Library } from '../routes/library.ts'

/** The upstream's descriptions of groups of one type, as far as they have been requested. */
export class GroupDescriptions {
  readonly responses: UpstreamResponse[] = []
  readonly #library: Library
  readonly #groupType: string
  readonly #caller: Caller
  /** By id. Undefined for a group that was requested but not described. */
  readonly #items = new Map<string, Json | undefined>()
  /** Accounts that have failed. */
  readonly #failed = new Set<string | undefined>()

  constructor(library: Library, groupType: string, caller: Caller) {
    this.#library = library
    this.#groupType = groupType
    this.#caller = caller
  }

  /**
   * Requests descriptions of more groups. An upstream failure is only logged: the list then uses the gateway's own
   * records of the groups of that account.
   */
  async fetch(groups: readonly ReadableGroup[]): Promise<void> {
    const [first] = groups
    if (!first) return
    if (groups.every(({ account }) => account === first.account)) return this.#fetchFrom(first.account, groups)
    await Promise.all([...Map.groupBy(groups, ({ account }) => account)].map((some) => this.#fetchFrom(...some)))
  }

  async #fetchFrom(account: string | undefined, groups: readonly ReadableGroup[]): Promise<void> {
    const { upstream, log } = this.#library
    for (const { id } of groups) this.#items.set(id, undefined)
    try {
      const { items, responses } = await describeGroups(upstream, this.#groupType, groups, this.#caller)
      this.responses.push(...responses)
      for (const item of items) {
        const id = item.get('Id')?.string()
        if (id !== undefined) this.#items.set(id, item)
      }
    } catch (err) {
      if (!(err instanceof Problem)) throw err
      log.warn({ err }, 'groups are listed from their records')
      this.#failed.add(account)
    }
  }

  /** Whether a group needs no further request: it has been requested, or the upstream has failed. */
  isFetched({ id, account }: ReadableGroup): boolean {
    return this.#failed.has(account) || this.#items.has(id)
  }

  /** When a group was created, according to the upstream, in milliseconds since 1970. */
  createdAt({ id }: ReadableGroup): number | undefined {
    return instantOf(this.#items.get(id)?.get('CreateTime')?.string())
  }

  /**
   * A group as the upstream describes it. Without a description, the gateway's own record. A lent group has `Access`
   * and `Lender`, and one of several accounts `Account`.
   */
  itemOf(group: ReadableGroup): Json {
    const described = this.#describedOf(group)
    const item = group.account === undefined ? described : described.with('Account', toJson(group.account))
    if (!isLent(group)) return item
    const lent = item.with('Access', toJson(group.access))
    return group.ownerName === undefined ? lent : lent.with('Lender', toJson(group.ownerName))
  }

  #describedOf(group: ReadableGroup): Json {
    const item = this.#items.get(group.id)
    if (!item) return fromRecord(group)
    return item.get('Name')?.string() ? item : item.with('Name', toJson(group.name))
  }
}

const fromRecord = ({ id, name, description = '', type, createdAt }: ReadableGroup): Json => {
  const time = isoOf(createdAt)
  return toJson({ Id: id, Name: name, Description: description, GroupType: type, CreateTime: time, UpdateTime: time })
}

/** Milliseconds since 1970 as ISO 8601 with an offset. */
export const isoOf = (time: number): string => new Date(time).toISOString().replace('Z', '+00:00')
