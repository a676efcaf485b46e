import assert from 'node:assert/strict'
import type { Asset, Group, Library } from '../../src/emulator/index.ts'
import type { Reply } from '../support/gateway.ts'
import { expectedResponse, type FaultName, type ListFaultName, listFaults } from './faults.ts'
import type { Fixture } from './fixture.ts'
import type { ResolvedRequest } from './list-request.ts'
import type { GroupType, Model, ModelGroup, Position } from './model.ts'
import { checkError, checkExpected, checkInvalid, messages } from './send.ts'

/** An expected item of a list: the fields that the response shows, and its position in the order. */
interface Row extends Position {
  readonly shown: Readonly<Record<string, unknown>>
}

const groupTypes: readonly string[] = ['AIGC', 'LivenessFace']
const statusWords: readonly string[] = ['Active', 'Processing', 'Failed']

const isInvalid = ({ endpoint, filter, ...request }: ResolvedRequest): boolean =>
  !groupTypes.includes(filter.type) ||
  [...(filter.name ?? '')].length > 64 ||
  !(filter.statuses ?? []).every((status) => statusWords.includes(status)) ||
  !['CreateTime', 'UpdateTime', ...(endpoint === 'assets' ? ['GroupId'] : [])].includes(request.sortBy) ||
  !['Asc', 'Desc'].includes(request.sortOrder) ||
  !/^[1-9]\d{0,14}$/.test(request.pageNumber) ||
  ![request.pageSize, request.maxResults ?? '1'].every((size) => /^[1-9]\d?$|^100$/.test(size))

/** Copies the creation times that the gateway has recorded into the model. Throws for a time that is not the upstream's. */
export const updateCreateTimes = async (model: Model, { store, emulator }: Fixture): Promise<void> => {
  for (const group of model.groups.values()) {
    const record = await store.group(group.id)
    if (!record || record.createdAt === group.recordedAt) continue
    const found = emulator.library.group(group.id)
    assert.equal(record.dated, 1)
    assert.equal(record.createdAt, found && second(found.createTime), 'the CreateTime in a record')
    group.recordedAt = record.createdAt
  }
}

/** Throws unless the response is exactly the expected list. Then adds its token to the model. */
export const checkList = (
  model: Model,
  library: Library,
  { user, request, fault }: { user: number; request: ResolvedRequest; fault: ListFaultName },
  reply: Reply,
): void => {
  const { endpoint } = request
  if (isInvalid(request)) {
    checkInvalid(reply)
    return
  }
  const type = request.filter.type as GroupType
  const all = model.groupsIn(request.filter.scope ?? 'own', user, type)
  if (!(request.filter.ids ?? []).every((id) => all.some((group) => group.id === id))) {
    checkError(reply, 403, messages.groups)
    return
  }
  const own = all.filter(({ id }) => request.filter.ids?.includes(id) ?? true)
  // Whether the gateway detects an endless list depends on the number of pages it reads.
  if (fault === 'repeats its cursor' && reply.status === 502) return
  const accessOf = (id: string) => model.accessOf(user, id)
  const rows =
    endpoint === 'groups' ? groupRows(library, request, own, fault, accessOf) : assetRows(library, request, own, fault)
  if ('status' in rows) {
    checkExpected(reply, rows)
    return
  }

  const direction = request.sortOrder === 'Asc' ? 1 : -1
  const compare = (a: Position, b: Position) => direction * (order(a.key, b.key) || order(a.id, b.id))
  const ordered = rows.toSorted(compare)
  const bound = JSON.stringify([
    endpoint,
    { ...request.filter, ids: request.filter.ids?.toSorted(), statuses: request.filter.statuses?.toSorted() },
    request.sortBy,
    request.sortOrder,
  ])
  const token = model.tokens.find(
    (known) => known.text === request.token && known.user === user && known.bound === bound,
  )
  const pageSize = Number(request.pageSize)
  const start = token
    ? ordered.filter((row) => compare(row, token.after) <= 0).length
    : (Number(request.pageNumber) - 1) * pageSize
  const page = ordered.slice(start, start + pageSize)
  const last = page.at(-1)
  const more = last !== undefined && start + page.length < ordered.length

  assert.equal(reply.status, 200, reply.text)
  const { Items, NextToken, TotalCount } = reply.json.Result
  assert.deepEqual(
    Items.map((item: Record<string, unknown>, at: number) => only(item, Object.keys(page[at]?.shown ?? { Id: '' }))),
    page.map((row) => row.shown),
    'the items of a list',
  )
  assert.equal(TotalCount, ordered.length, 'the TotalCount of a list')
  assert.equal(typeof NextToken, 'string')
  assert.equal(NextToken !== '', more, 'the NextToken of a list')
  assert.match(NextToken, /^[\w-]{0,1024}$/)
  if (last && more) model.tokens.push({ text: NextToken, user, bound, after: { key: last.key, id: last.id }, request })
}

const order = (a: number | string, b: number | string): number => (a < b ? -1 : a > b ? 1 : 0)

const only = (item: Record<string, unknown>, fields: readonly string[]) =>
  Object.fromEntries(fields.map((field) => [field, instants.has(field) ? instant(item[field]) : item[field]]))

const instants = new Set(['CreateTime', 'UpdateTime'])

/** Parses a time in the format of the emulator or of the gateway. In milliseconds. */
const instant = (text: unknown): number | undefined =>
  typeof text === 'string' ? Date.parse(/[Z+]/.test(text) ? text : `${text.replace(' ', 'T')}Z`) : undefined

const second = (ms: number): number => Math.floor(ms / 1000) * 1000

/** The item as the upstream shows it with the injected fault. */
const withFault = (fault: ListFaultName, item: Row['shown']): Row['shown'] => {
  const field = fault.startsWith('omits ') ? fault.slice(6) : ''
  return field in item ? { ...item, [field]: undefined } : item
}

const keyOf = (shown: Row['shown'], sortBy: string): number | string =>
  sortBy === 'GroupId' ? String(shown.GroupId) : ((shown[sortBy] as number | undefined) ?? Number.NEGATIVE_INFINITY)

const groupRows = (
  library: Library,
  request: ResolvedRequest,
  own: readonly ModelGroup[],
  fault: ListFaultName,
  accessOf: (id: string) => string | undefined,
): Row[] => {
  const candidates = own.filter((group) => request.filter.name === undefined || group.name === request.filter.name)
  const failed =
    fault in listFaults ? / Id$|data/.test(fault) : expectedResponse(fault as FaultName, 200, 'read').status !== 200
  return candidates.map((group) => {
    const found = failed ? undefined : library.group(group.id)
    const shown = { ...(found ? shownGroup(found, group, fault) : recordOf(group)), Access: accessOf(group.id) }
    // The order by CreateTime is that of the records. They have the time from the upstream.
    const key = request.sortBy === 'CreateTime' ? group.recordedAt : keyOf(shown, request.sortBy)
    return { id: group.id, key, shown }
  })
}

/** A group with the upstream's fields. Only a missing Name comes from the record. */
const shownGroup = (found: Group, group: ModelGroup, fault: ListFaultName): Row['shown'] => {
  const item = withFault(fault, {
    Id: found.id,
    Name: found.name,
    Description: found.description,
    GroupType: found.type,
    CreateTime: second(found.createTime),
    UpdateTime: second(found.updateTime),
  })
  return { ...item, Name: item.Name ?? group.name }
}

/** A group with the fields of the gateway's record. */
const recordOf = ({ id, name, description = '', type, recordedAt }: ModelGroup): Row['shown'] => ({
  Id: id,
  Name: name,
  Description: description,
  GroupType: type,
  CreateTime: recordedAt,
  UpdateTime: recordedAt,
})

const assetRows = (library: Library, request: ResolvedRequest, own: readonly ModelGroup[], fault: ListFaultName) => {
  if (own.length === 0) return []
  if (!(fault in listFaults)) {
    const expected = expectedResponse(fault as FaultName, 200, 'read')
    if (expected.shows !== 'normal') return expected
  }
  if (/ Id$|GroupId|data/.test(fault)) return []
  return own
    .flatMap((group) => library.assets(group.id))
    .map((asset) => withFault(fault, shownAsset(asset)))
    .filter(({ Name, Status }) => {
      const { name, statuses } = request.filter
      return (name === undefined || Name === name) && (!statuses || statuses.includes(String(Status)))
    })
    .map((shown): Row => ({ id: String(shown.Id), key: keyOf(shown, request.sortBy), shown }))
}

const shownAsset = (asset: Asset): Row['shown'] => ({
  Id: asset.id,
  GroupId: asset.groupId,
  Name: asset.name,
  AssetType: asset.type,
  Status: asset.status,
  CreateTime: second(asset.createTime),
  UpdateTime: second(asset.updateTime),
})

/** Throws unless a detail response shows the asset as the upstream has it. */
export const checkAsset = (library: Library, id: string, shown: Record<string, unknown>): void => {
  const asset = library.asset(id)
  assert.ok(asset)
  const expected = shownAsset(asset)
  assert.deepEqual(only(shown, Object.keys(expected)), expected)
}

/** Throws unless a detail response shows the group as a list shows it. */
export const checkGroup = (
  library: Library,
  group: ModelGroup,
  fault: ListFaultName,
  shown: Record<string, unknown>,
  access?: 'read' | 'use',
): void => {
  const [row] = groupRows(
    library,
    { filter: {}, sortBy: 'CreateTime' } as ResolvedRequest,
    [group],
    fault,
    () => access,
  )
  assert.ok(row)
  assert.deepEqual(only(shown, Object.keys(row.shown)), row.shown)
}
