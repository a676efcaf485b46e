import type { Json } from '../../shared/json.ts'
import type { OwnedId } from '../../shared/owned-id.ts'
import { UpstreamInvalidError, type UpstreamResponse } from '../response.ts'
import type { Caller, Upstream } from '../upstream.ts'

/** Most group ids that an upstream takes in one list. */
export const groupsPerCall = 100

/** Groups as they are asked for: up to a hundred in one call, which may not be without any. */
export const groupsByCall = <Group extends OwnedId<'group'>>(
  groups: readonly Group[],
): readonly (readonly [Group, ...Group[]])[] => {
  if (isSome(groups) && groups.length <= groupsPerCall) return [groups]
  const calls: (readonly [Group, ...Group[]])[] = []
  for (let at = 0; at < groups.length; at += groupsPerCall) {
    const some = groups.slice(at, at + groupsPerCall)
    if (isSome(some)) calls.push(some)
  }
  return calls
}

const isSome = <Item>(items: readonly Item[]): items is readonly [Item, ...Item[]] => items.length > 0

export interface ListedGroups {
  readonly items: readonly Json[]
  /** The answers it took, in their order. */
  readonly answers: readonly UpstreamResponse[]
}

/**
 * Some groups as the upstream describes them: one call for up to a hundred; none, and nothing, without groups, because an upstream takes no groups
 * to mean all groups. Those that it does not know are missing.
 */
export const describeGroups = async (
  upstream: Upstream,
  groupType: string,
  groups: readonly OwnedId<'group'>[],
  caller?: Caller,
): Promise<ListedGroups> => {
  const items: Json[] = []
  const answers: UpstreamResponse[] = []
  for (const asked of groupsByCall(groups)) {
    const query = { groupType, groups: asked, sortBy: 'CreateTime', sortOrder: 'Desc', paging: wholeCall } as const
    const answer = await upstream.send({ action: 'ListAssetGroups', query }, caller)
    items.push(...itemsOf(answer))
    answers.push(answer)
  }
  return { items, answers }
}

const wholeCall = { maxResults: groupsPerCall } as const

/** Groups of the whole account with exactly that name and type: what `admin group pending` and recovery go by. */
export const findGroups = async (upstream: Upstream, groupType: string, name: string): Promise<readonly Json[]> => {
  const items: Json[] = []
  const ask = (nextToken?: string) => upstream.send({ action: 'FindAssetGroups', groupType, name, nextToken })
  for await (const answer of walk(ask)) {
    items.push(...itemsOf(answer).filter((item) => item.get('Name')?.string() === name))
  }
  return items
}

/** Most pages in a row that bring nothing new, as an upstream gives that filters after it has paged. */
const barrenPages = 100

async function* walk(ask: (nextToken?: string) => Promise<UpstreamResponse>): AsyncGenerator<UpstreamResponse> {
  const seen = new Set<string>()
  const ids = new Set<string>()
  let barren = 0
  let token: string | undefined
  do {
    const answer = await ask(token)
    yield answer
    const known = ids.size
    for (const item of itemsOf(answer)) ids.add(item.get('Id')?.raw ?? '')
    barren = ids.size > known ? 0 : barren + 1
    if (barren > barrenPages) throw new UpstreamInvalidError('a list that never ends')
    // At the end the token is absent, or empty where the upstream is a gateway like this one.
    token = answer.json?.get('Result')?.get('NextToken')?.string() || undefined
    if (token !== undefined && seen.has(token)) throw new UpstreamInvalidError('a list that turns in a circle')
    if (token !== undefined) seen.add(token)
  } while (token !== undefined)
}

/** `Result.Items` of a list; Invalid when there are none to be found. */
export const itemsOf = (answer: UpstreamResponse): readonly Json[] => {
  const items = answer.json?.get('Result')?.get('Items')
  if (items?.isArray) return items.elements()
  // An upstream without anything to list may say so with null, or nothing.
  if (items === undefined || items.is('null')) {
    if (answer.json?.get('Result')?.isObject) return []
  }
  throw new UpstreamInvalidError('a list without items')
}
