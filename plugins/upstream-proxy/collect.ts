import type { Json } from '../shared/json.ts'
import type { Owned } from '../shared/owned.ts'
import type { ListQuery } from './operation.ts'
import { type Answer, type Caller, Invalid, type Upstream } from './upstream.ts'

/** Most group ids that an upstream takes in one list. */
const groupsPerCall = 100

export interface Listed {
  readonly items: readonly Json[]
  /** The answers it took, in their order. */
  readonly answers: readonly Answer[]
}

/**
 * Everything that an upstream has in some groups: chunks of at most a hundred groups, each walked in cursor mode, which knows no depth limit. One
 * call where one page holds it all; none, and nothing, without groups, because an upstream takes no groups to mean all groups.
 */
export const collectItems = async (
  upstream: Upstream,
  action: 'ListAssetGroups' | 'ListAssets',
  groups: readonly Owned<'group'>[],
  query: Omit<ListQuery, 'groups' | 'maxResults' | 'nextToken'>,
  caller?: Caller,
): Promise<Listed> => {
  const items: Json[] = []
  const answers: Answer[] = []
  for (let at = 0; at < groups.length; at += groupsPerCall) {
    const [first, ...others] = groups.slice(at, at + groupsPerCall)
    if (!first) break
    const ask = (nextToken?: string) =>
      upstream.send({ action, query: { ...query, groups: [first, ...others], maxResults: 100, nextToken } }, caller)
    for await (const answer of walk(ask)) {
      for (const item of itemsOf(answer)) items.push(item)
      answers.push(answer)
    }
  }
  return { items, answers }
}

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

async function* walk(ask: (nextToken?: string) => Promise<Answer>): AsyncGenerator<Answer> {
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
    if (barren > barrenPages) throw new Invalid('a list that never ends')
    // At the end the token is absent, or empty where the upstream is a gateway like this one.
    token = answer.json?.get('Result')?.get('NextToken')?.string() || undefined
    if (token !== undefined && seen.has(token)) throw new Invalid('a list that turns in a circle')
    if (token !== undefined) seen.add(token)
  } while (token !== undefined)
}

const itemsOf = (answer: Answer): readonly Json[] => {
  const items = answer.json?.get('Result')?.get('Items')
  if (items?.isArray) return items.elements()
  // An upstream without anything to list may say so with null, or nothing.
  if (items === undefined || items.raw === 'null') {
    if (answer.json?.get('Result')?.isObject) return []
  }
  throw new Invalid('a list without items')
}
