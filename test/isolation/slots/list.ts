import assert from 'node:assert/strict'
import type { Model, ModelAsset } from './model.ts'

interface ListRequest {
  readonly user: string
  readonly pageSize: number
  readonly isAscending: boolean
  readonly name: string | null
  /** Number of a group of anybody. */
  readonly group: number | null
  readonly status: string | null
}

type Send = (
  model: Model,
  user: string,
  method: string,
  path: string,
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
) => Promise<{ readonly status: number; readonly text: string; readonly json: any }>

/** Reads a list to its end. Throws unless it is exactly that of the model. */
export const readAll = async (request: ListRequest, model: Model, send: Send): Promise<void> => {
  const { user, pageSize, isAscending, name, status } = request
  const group = request.group === null ? undefined : model.groups[request.group % Math.max(1, model.groups.length)]
  const query = new URLSearchParams({
    ...{ PageSize: String(pageSize), SortOrder: isAscending ? 'Asc' : 'Desc', NextToken: '' },
    ...(name !== null && { Name: name }),
    ...(group && { GroupIds: group.id }),
    ...(status !== null && { Statuses: status }),
  })
  const isForeign = group && (group.owner !== user || group.isDeleted)
  const shown: Record<string, unknown>[] = []
  const totals = new Set<number>()
  for (;;) {
    const reply = await send(model, user, 'GET', `/assets?${query}`)
    if (isForeign) {
      assert.equal(reply.status, 403, reply.text)
      return
    }
    assert.equal(reply.status, 200, reply.text)
    const { Items, TotalCount, NextToken } = reply.json.Result
    shown.push(...Items)
    totals.add(TotalCount)
    assert.ok(Items.length <= pageSize, 'the size of a page')
    if (NextToken === '') break
    query.set('NextToken', NextToken)
  }
  const expected = model
    .assetsOf(user)
    .filter(
      (asset) =>
        (name === null || asset.name === name) &&
        (!group || asset.group === group) &&
        (status === null || (status === 'Active') === isShownActive(asset, shown)),
    )
  assert.deepEqual(shown.map(({ Id }) => String(Id)).toSorted(), expected.map(({ id }) => id).toSorted(), 'a list')
  assert.deepEqual([...totals], [expected.length], 'the TotalCount of a list')
  for (const item of shown) checkShown(byId(expected, item), item)
  const order = shown.map(({ CreateTime, Id }) => `${CreateTime} ${Id}`)
  assert.deepEqual(order, isAscending ? order.toSorted() : order.toSorted().toReversed(), 'the order of a list')
}

/** Whether the asset is active. One that was not seen so may have become it since. */
const isShownActive = ({ id, isActive }: ModelAsset, shown: readonly Record<string, unknown>[]): boolean =>
  isActive || shown.some(({ Id, Status }) => Id === id && Status === 'Active')

const byId = (assets: readonly ModelAsset[], { Id }: Record<string, unknown>): ModelAsset => {
  const found = assets.find(({ id }) => id === Id)
  assert.ok(found)
  return found
}

/** Throws unless an item, or a detail, is that of the asset. */
export const checkShown = (own: ModelAsset, shown: Record<string, unknown>): void => {
  const { Id, Name, GroupId, AssetType, Status, CreateTime, UpdateTime, URL: link } = shown
  assert.deepEqual(
    { Id, Name, GroupId, AssetType },
    { Id: own.id, Name: own.name, GroupId: own.group.id, AssetType: 'Image' },
  )
  assert.ok(String(link).includes(`/originals/${own.id}.png`), String(link))
  assert.ok(Status === 'Active' || (Status === 'Processing' && !own.isActive), String(Status))
  own.isActive = Status === 'Active'
  own.createTime ??= String(CreateTime)
  assert.equal(CreateTime, own.createTime)
  assert.ok(String(UpdateTime) >= own.updateTime, 'the time of an update')
}
