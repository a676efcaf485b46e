import type { GroupScope } from '../../ownership/index.ts'
import type { ListRequest, ListRules } from '../../pagination-normalizer/index.ts'

/** The group types of the asset library. */
export const groupTypes = ['AIGC', 'LivenessFace'] as const

/** The statuses of an asset. */
export const assetStatuses = ['Active', 'Processing', 'Failed'] as const

const groupType = { kind: 'word', words: groupTypes, default: 'AIGC' } as const
const groupIds = { kind: 'list' } as const
/** The types of an asset. */
export const assetTypes = ['Image', 'Video', 'Audio'] as const

/** A name filter has at most 64 characters, like a name. */
const name = { kind: 'text', max: 64 } as const

/** Query parameters of "list asset groups". */
export const groupList: ListRules = {
  endpoint: 'groups',
  filters: { GroupType: groupType, GroupIds: groupIds, Name: name, NameContains: name },
  sortBy: ['CreateTime', 'UpdateTime'],
}

/** Query parameters of "list assets". */
export const assetList: ListRules = {
  endpoint: 'assets',
  filters: {
    GroupType: groupType,
    GroupIds: groupIds,
    Name: name,
    NameContains: name,
    AssetTypes: { kind: 'list', words: assetTypes },
    Statuses: { kind: 'list', words: assetStatuses },
  },
  sortBy: ['CreateTime', 'UpdateTime', 'GroupId'],
}

/** Which groups a list takes. Default: the caller's own. */
const scope = { kind: 'word', words: ['own', 'shared', 'all'] } as const

/** The rules of a list that may have lent groups. */
export const withScope = (rules: ListRules): ListRules => ({ ...rules, filters: { ...rules.filters, scope } })

/** The scope that a list request names. */
export const scopeOf = ({ filter }: Pick<ListRequest, 'filter'>): GroupScope =>
  scope.words.find((word) => word === filter.scope) ?? 'own'
