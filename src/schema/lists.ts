import type { ListRules } from '../../plugins/pagination-normalizer/index.ts'

export const groupTypes = ['AIGC', 'LivenessFace'] as const

const groupType = { kind: 'word', words: groupTypes, default: 'AIGC' } as const
const groupIds = { kind: 'list' } as const
/** "Name filter length": at most 64 characters. */
const name = { kind: 'text', max: 64 } as const

/** Parameters of "list asset groups". */
export const groupList: ListRules = {
  endpoint: 'groups',
  filters: { GroupType: groupType, GroupIds: groupIds, Name: name },
  sortBy: ['CreateTime', 'UpdateTime'],
}

/** Parameters of "list assets". */
export const assetList: ListRules = {
  endpoint: 'assets',
  filters: {
    GroupType: groupType,
    GroupIds: groupIds,
    Name: name,
    Statuses: { kind: 'list', words: ['Active', 'Processing', 'Failed'] },
  },
  sortBy: ['CreateTime', 'UpdateTime', 'GroupId'],
}
