import type { SlottedList } from '../../../../plugins/asset-library/index.ts'
import { clause, fragment, type Statement, valueList } from '../../database/statement.ts'
import { slottedColumns } from './slotted-rows.ts'

/** The column of each order. */
const sorts = {
  CreateTime: fragment`created_at`,
  UpdateTime: fragment`updated_at`,
  GroupId: fragment`group_id`,
} as const

/** The statements of a list: its page, and how many rows it has. */
export const listStatements = (list: SlottedList): readonly [Statement, Statement] => {
  const { sortBy, descending, limit, offset = 0, after } = list
  const listed = clause`
    from slotted_assets
    where removed_at is null
    and group_id in (${valueList(list.groups)})
    ${list.name === undefined ? [] : clause`and name = ${list.name}`}
    ${list.statuses?.length ? clause`and status in (${valueList(list.statuses)})` : []}`
  const direction = descending ? 'down' : 'up'
  const page = clause`
    select ${slottedColumns}
    ${listed}
    ${after ? afterClauses[sortBy][direction](after) : []}
    ${orders[sortBy][direction]}
    limit ${limit}
    offset ${offset}`
  return [page, clause`select count(*) as total ${listed}`]
}

const orders = {
  CreateTime: {
    up: clause`order by ${sorts.CreateTime}, id`,
    down: clause`order by ${sorts.CreateTime} desc, id desc`,
  },
  UpdateTime: {
    up: clause`order by ${sorts.UpdateTime}, id`,
    down: clause`order by ${sorts.UpdateTime} desc, id desc`,
  },
  GroupId: { up: clause`order by ${sorts.GroupId}, id`, down: clause`order by ${sorts.GroupId} desc, id desc` },
} as const

type After = NonNullable<SlottedList['after']>

const afterClauses = {
  CreateTime: {
    up: ({ key, id }: After) => clause`and (created_at, id) > (${Number(key)}, ${id})`,
    down: ({ key, id }: After) => clause`and (created_at, id) < (${Number(key)}, ${id})`,
  },
  UpdateTime: {
    up: ({ key, id }: After) => clause`and (updated_at, id) > (${Number(key)}, ${id})`,
    down: ({ key, id }: After) => clause`and (updated_at, id) < (${Number(key)}, ${id})`,
  },
  GroupId: {
    up: ({ key, id }: After) => clause`and (group_id, id) > (${String(key)}, ${id})`,
    down: ({ key, id }: After) => clause`and (group_id, id) < (${String(key)}, ${id})`,
  },
} as const
