import type { OwnedGroup } from '../../plugins/ownership/index.ts'
import { instantOf } from '../../plugins/pagination-normalizer/index.ts'
import { type Json, toJson } from '../../plugins/shared/json.ts'
import { Problem } from '../../plugins/shared/problem.ts'
import { type Caller, describeGroups, type UpstreamResponse } from '../../plugins/upstream-proxy/index.ts'
import type { Library } from './library.ts'

/** What the upstream says of groups of one type, as far as it was asked. */
export class GroupDescriptions {
  readonly answers: UpstreamResponse[] = []
  readonly #library: Library
  readonly #groupType: string
  readonly #caller: Caller
  /** By id. Undefined for a group that the upstream was asked for and did not describe. */
  readonly #items = new Map<string, Json | undefined>()
  #failed = false

  constructor(library: Library, groupType: string, caller: Caller) {
    this.#library = library
    this.#groupType = groupType
    this.#caller = caller
  }

  /** Asks about some more. Never rejects for the upstream's sake: what it does not say, the records do. */
  async ask(groups: readonly OwnedGroup[]): Promise<void> {
    const { upstream, log } = this.#library
    for (const { id } of groups) this.#items.set(id, undefined)
    try {
      const { items, answers } = await describeGroups(upstream, this.#groupType, groups, this.#caller)
      this.answers.push(...answers)
      for (const item of items) {
        const id = item.get('Id')?.string()
        if (id !== undefined) this.#items.set(id, item)
      }
    } catch (err) {
      if (!(err instanceof Problem)) throw err
      log.warn({ err }, 'groups are listed from their records')
      this.#failed = true
    }
  }

  /** Whether there is no use in asking about a group. */
  isKnown({ id }: OwnedGroup): boolean {
    return this.#failed || this.#items.has(id)
  }

  /** When the upstream says that a group was created, in milliseconds since 1970. */
  createdAt({ id }: OwnedGroup): number | undefined {
    return instantOf(this.#items.get(id)?.get('CreateTime')?.string())
  }

  /** A group as the upstream describes it; from its record where the upstream does not, or could not be asked. */
  itemOf(group: OwnedGroup): Json {
    const item = this.#items.get(group.id)
    if (!item) return fromRecord(group)
    return item.get('Name')?.string() ? item : item.with('Name', toJson(group.name))
  }
}

const fromRecord = ({ id, name, description = '', type, createdAt }: OwnedGroup): Json => {
  const time = isoOf(createdAt)
  return toJson({ Id: id, Name: name, Description: description, GroupType: type, CreateTime: time, UpdateTime: time })
}

/** ISO 8601 with an offset, of milliseconds since 1970. */
export const isoOf = (time: number): string => new Date(time).toISOString().replace('Z', '+00:00')
