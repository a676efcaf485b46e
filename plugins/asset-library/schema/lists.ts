import type { ListRules } from '../../pagination-normalizer/index.ts'

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
