import fc from 'fast-check'
import { faults, type ListFaultName, listFaults } from './faults.ts'
import { hostileText } from './hostile-text.ts'
import type { Model, Scope } from './model.ts'

export type Endpoint = 'groups' | 'assets'

/** Names that a tolerant comparison would treat as equal. */
export const names = [
  'cat',
  'Cat',
  'cat ',
  'cats',
  'CAT',
  '猫',
  "' or 1=1 --",
  '%',
  '_',
  'c\u0061\u0301t',
  '__proto__',
] as const

/** How a step chooses a group when it runs. */
export interface Pick {
  /** `exact`: the id is `text`. */
  readonly of: 'own' | 'other' | 'odd' | 'empty' | 'exact'
  readonly at: number
  readonly text: string
}

export const pick = (): fc.Arbitrary<Pick> =>
  fc.record({
    of: fc.oneof(
      { arbitrary: fc.constant('own' as const), weight: 6 },
      { arbitrary: fc.constant('other' as const), weight: 3 },
      { arbitrary: fc.constantFrom('odd' as const, 'empty' as const), weight: 1 },
    ),
    at: fc.nat(20),
    text: hostileText(),
  })

export interface ListParameters {
  readonly GroupType: string | undefined
  readonly GroupIds: readonly Pick[] | undefined
  readonly Name: string | undefined
  readonly Statuses: readonly string[] | undefined
  readonly SortBy: string | undefined
  readonly SortOrder: string | undefined
  readonly PageNumber: number | string | undefined
  readonly PageSize: number | string | undefined
  readonly MaxResults: number | string | undefined
  /** Index into the tokens of all users so far, or a text. */
  readonly NextToken: number | string | undefined
}

const rarely = <Value>(usual: fc.Arbitrary<Value>, bad: fc.Arbitrary<Value>): fc.Arbitrary<Value> =>
  fc.oneof({ arbitrary: usual, weight: 60 }, { arbitrary: bad, weight: 1 })

/** Mostly absent: a list with every filter is almost always empty. */
const maybe = <Value>(value: fc.Arbitrary<Value>, freq = 3): fc.Arbitrary<Value | undefined> =>
  fc.oneof({ arbitrary: fc.constant(undefined), weight: freq }, { arbitrary: value, weight: 1 })

const size = rarely<number | string>(fc.constantFrom(1, 2, 3, 10, 100), fc.constantFrom('0', '101', '1e1', '-1', 'ten'))

const ownPick = fc.record({ of: fc.constant('own' as const), at: fc.nat(19), text: fc.constant('') })

export const listParameters = (): fc.Arbitrary<ListParameters> =>
  fc.record({
    GroupType: maybe(
      rarely<string>(fc.constantFrom('AIGC', 'LivenessFace', 'LivenessFace', ''), fc.constantFrom('aigc', 'All')),
      1,
    ),
    GroupIds: maybe(
      fc.oneof(
        { arbitrary: fc.array(ownPick, { minLength: 1, maxLength: 3, size: 'max' }), weight: 2 },
        { arbitrary: fc.array(pick(), { maxLength: 3, size: 'max' }), weight: 1 },
      ),
    ),
    Name: maybe(rarely<string>(fc.constantFrom(...names, 'cat', 'cat', 'cat', ''), fc.constant('x'.repeat(65))), 5),
    Statuses: maybe(fc.subarray(['Active', 'Processing', 'Failed', ''], { maxLength: 3 }), 5),
    SortBy: maybe(
      fc.oneof(
        { arbitrary: fc.constantFrom('CreateTime', 'UpdateTime'), weight: 8 },
        { arbitrary: fc.constantFrom('GroupId', 'GroupId', 'Name'), weight: 1 },
      ),
    ),
    SortOrder: maybe(rarely<string>(fc.constantFrom('Asc', 'Desc', ''), fc.constant('asc'))),
    PageNumber: maybe(rarely<number | string>(fc.constantFrom(1, 1, 2, 3), fc.constantFrom('0', '1.5'))),
    PageSize: maybe(size, 2),
    MaxResults: maybe(size),
    NextToken: maybe(
      fc.oneof(
        { arbitrary: fc.nat(50) as fc.Arbitrary<number | string>, weight: 8 },
        { arbitrary: fc.constantFrom<number | string>('', 'abc', 'x'.repeat(2_000)), weight: 1 },
      ),
    ),
  })

export interface ListRequest {
  readonly query: ListParameters
  /** Undefined: the request has no body. */
  readonly body: ListParameters | undefined
  /** Whether the query repeats a parameter for each list entry, and the body has the paging parameters inside Filter. */
  readonly odd: boolean
  readonly fault: ListFaultName
}

export const listRequest = (): fc.Arbitrary<ListRequest> =>
  fc.record({
    query: listParameters(),
    body: maybe(listParameters(), 2),
    odd: fc.boolean(),
    fault: fc.oneof(
      { arbitrary: fc.constant<ListFaultName>('none'), weight: 3 },
      {
        arbitrary: fc.constantFrom(...(Object.keys({ ...faults, ...listFaults }) as ListFaultName[])),
        weight: 1,
      },
    ),
  })

/** A list request with concrete ids and tokens. */
export interface ResolvedRequest {
  readonly endpoint: Endpoint
  readonly path: string
  readonly body: unknown
  readonly named: readonly string[]
  /** The effective filter of query and body. Lists have no empty entries. Undefined: there is no such filter. */
  readonly filter: {
    readonly type: string
    readonly ids: readonly string[] | undefined
    readonly name: string | undefined
    readonly statuses: readonly string[] | undefined
    readonly scope: Scope | undefined
  }
  readonly sortBy: string
  readonly sortOrder: string
  readonly pageNumber: string
  readonly pageSize: string
  readonly maxResults: string | undefined
  readonly token: string | undefined
  /** The same request with these ids, for a repetition after the state has changed. */
  readonly again: ListRequest
}

type Flat = Partial<Record<keyof ListParameters, string | number | readonly string[] | undefined>>

/** Replaces choices by ids and tokens, and merges query and body. */
export const resolveRequest = (
  model: Model,
  user: number,
  endpoint: Endpoint,
  request: ListRequest,
  scope?: Scope,
): ResolvedRequest => {
  const flatten = (given: ListParameters, typeOf: string): Flat => {
    const { GroupIds, NextToken, ...rest } = given
    const token = typeof NextToken === 'number' ? model.tokens[NextToken % (model.tokens.length || 1)]?.text : NextToken
    return {
      ...rest,
      ...(GroupIds && { GroupIds: GroupIds.map((one) => groupId(model, user, one, typeOf)) }),
      ...(token !== undefined && { NextToken: token }),
    }
  }
  const type = request.query.GroupType || request.body?.GroupType || 'AIGC'
  const query = flatten(request.query, type)
  const body = request.body && flatten(request.body, type)

  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue
    if (!Array.isArray(value)) parameters.append(name, String(value))
    else if (request.odd) for (const one of value) parameters.append(name, one)
    else parameters.append(name, value.join(','))
  }
  const one = (name: keyof ListParameters): string | undefined => {
    const [first, second] = [query[name], body?.[name]].map((value) => String(value ?? ''))
    return first || second || undefined
  }
  const many = (name: keyof ListParameters): readonly string[] | undefined => {
    const lists = [query[name], body?.[name]].map((list) => [...new Set(present(list))])
    return lists.find((list) => list.length > 0)
  }
  if (scope) parameters.append('scope', scope)
  const search = parameters.size > 0 ? `?${parameters}` : ''
  const exactly = ({ GroupIds, ...rest }: Flat) =>
    ({
      ...rest,
      GroupIds: (GroupIds as readonly string[] | undefined)?.map((text) => ({ of: 'exact', at: 0, text })),
    }) as ListParameters
  return {
    endpoint,
    again: { ...request, query: exactly(query), body: body && exactly(body), fault: 'none' },
    path: `${endpoint === 'groups' ? '/assets/groups' : '/assets'}${search}`,
    body: body && written(body, request.odd),
    named: [query, body].flatMap((source) => (source?.GroupIds as readonly string[] | undefined) ?? []),
    filter: {
      type: one('GroupType') ?? 'AIGC',
      ids: many('GroupIds'),
      name: one('Name'),
      statuses: endpoint === 'assets' ? many('Statuses') : undefined,
      scope,
    },
    sortBy: one('SortBy') ?? 'CreateTime',
    sortOrder: one('SortOrder') ?? 'Desc',
    pageNumber: one('PageNumber') ?? '1',
    pageSize: one('PageSize') ?? one('MaxResults') ?? '10',
    maxResults: one('MaxResults'),
    token: one('NextToken'),
  }
}

const present = (list: Flat[keyof Flat]): string[] =>
  Array.isArray(list) ? list.filter((entry: string) => entry !== '') : []

const written = (
  { PageNumber, PageSize, MaxResults, NextToken, SortBy, SortOrder, ...filter }: Flat,
  inside: boolean,
) => {
  const loose = { MaxResults, NextToken, SortBy, SortOrder }
  return { Filter: { ...filter, ...(inside && loose) }, PageNumber, PageSize, ...(!inside && loose) }
}

/** The id that a choice means in the current state. */
export const groupId = (model: Model, user: number, { of, at, text }: Pick, type?: string): string => {
  if (of === 'empty') return ''
  if (of === 'exact') return text
  // A comma in a query separates two ids.
  if (of === 'odd') return text.replaceAll(',', '')
  const groups =
    of === 'own'
      ? model.groupsOf(user).filter((group) => type === undefined || group.type === type || at === 20)
      : model.othersGroups(user)
  return groups[at % groups.length]?.id ?? 'group-20260101000000-zzzzz'
}
