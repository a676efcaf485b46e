import type { OwnedGroup } from '../../plugins/ownership/index.ts'
import { type Json, toJson } from '../../plugins/shared/json.ts'
import { Problem } from '../../plugins/shared/problem.ts'
import { type Answer, type Caller, describeGroups } from '../../plugins/upstream-proxy/index.ts'
import type { Library } from './library.ts'

/** What the upstream says of some groups. */
export class Described {
  readonly asked: ReadonlySet<string>
  readonly found: ReadonlyMap<string, Json>
  readonly answers: readonly Answer[]
  readonly failed: boolean

  constructor(
    asked: Iterable<string>,
    found: Iterable<readonly [string, Json]>,
    answers: readonly Answer[],
    failed = false,
  ) {
    this.asked = new Set(asked)
    this.found = new Map(found)
    this.answers = answers
    this.failed = failed
  }

  /** A group as the upstream describes it; from its record where the upstream does not, or could not be asked. */
  itemOf(group: OwnedGroup): Json {
    const item = this.found.get(group.id)
    return item ? named(item, group) : fromRecord(group)
  }

  with(more: Described): Described {
    const answers = [...this.answers, ...more.answers]
    return new Described([...this.asked, ...more.asked], [...this.found, ...more.found], answers, more.failed)
  }
}

export const noneDescribed = new Described([], [], [])

/** Asks the upstream about groups. Never rejects for its sake: what it does not say, the records do. */
export const describe = async (
  { upstream, log }: Library,
  groups: readonly OwnedGroup[],
  groupType: string,
  caller: Caller,
): Promise<Described> => {
  const asked = groups.map((group) => group.id)
  try {
    const { items, answers } = await describeGroups(upstream, groupType, groups, caller)
    const found = items.flatMap((item) => {
      const id = item.get('Id')?.string()
      return id === undefined ? [] : [[id, item] as const]
    })
    return new Described(asked, found, answers)
  } catch (err) {
    if (!(err instanceof Problem)) throw err
    log.warn({ err }, 'groups are listed from their records')
    return new Described(asked, [], [], true)
  }
}

const named = (item: Json, group: OwnedGroup): Json =>
  item.get('Name')?.string() ? item : item.with('Name', toJson(group.name))

const fromRecord = ({ id, name, description = '', type, createdAt }: OwnedGroup): Json => {
  const time = isoOf(createdAt)
  return toJson({ Id: id, Name: name, Description: description, GroupType: type, CreateTime: time, UpdateTime: time })
}

/** ISO 8601 with an offset, of milliseconds since 1970. */
export const isoOf = (time: number): string => new Date(time).toISOString().replace('Z', '+00:00')
