import assert from 'node:assert/strict'
import type { Asset, Group, Library } from '../../src/emulator/index.ts'
import type { Reply } from '../support/gateway.ts'
import type { World } from './fixture.ts'
import type { Settled } from './list-request.ts'
import type { GroupType, Model, ModelGroup, Place } from './model.ts'
import { type ListTrouble, listTroubles, outcomeOf, type Trouble } from './trouble.ts'
import { checkInvalid, checkOutcome, checkRefused, messages } from './turn.ts'

/** An item as it has to be shown: some of its fields, and where it stands. */
interface Row extends Place {
  readonly shown: Readonly<Record<string, unknown>>
}

const groupTypes: readonly string[] = ['AIGC', 'LivenessFace']
const statusWords: readonly string[] = ['Active', 'Processing', 'Failed']

const isInvalid = ({ endpoint, filter, ...asked }: Settled): boolean =>
  !groupTypes.includes(filter.type) ||
  [...(filter.name ?? '')].length > 64 ||
  !(filter.statuses ?? []).every((status) => statusWords.includes(status)) ||
  !['CreateTime', 'UpdateTime', ...(endpoint === 'assets' ? ['GroupId'] : [])].includes(asked.sortBy) ||
  !['Asc', 'Desc'].includes(asked.sortOrder) ||
  !/^[1-9]\d{0,14}$/.test(asked.pageNumber) ||
  ![asked.pageSize, asked.maxResults ?? '1'].every((size) => /^[1-9]\d?$|^100$/.test(size))

/** Takes over what the gateway has learnt of when groups were created. Throws for any other time than the upstream's. */
export const learnDates = async (model: Model, { store, emulator }: World): Promise<void> => {
  for (const group of model.groups.values()) {
    const record = await store.group(group.id)
    if (!record || record.createdAt === group.recordedAt) continue
    const there = emulator.library.group(group.id)
    assert.equal(record.dated, 1)
    assert.equal(record.createdAt, there && second(there.createTime), 'the CreateTime in a record')
    group.recordedAt = record.createdAt
  }
}

/** Throws unless a list is exactly what it has to be; then remembers the token in it. */
export const checkList = (
  model: Model,
  library: Library,
  { user, asked, trouble }: { user: number; asked: Settled; trouble: ListTrouble },
  reply: Reply,
): void => {
  const { endpoint } = asked
  if (isInvalid(asked)) {
    checkInvalid(reply)
    return
  }
  const type = asked.filter.type as GroupType
  if (!(asked.filter.ids ?? []).every((id) => model.ownsGroup(user, id, type))) {
    checkRefused(reply, 403, messages.groups)
    return
  }
  const own = model.groupsOf(user, type).filter(({ id }) => asked.filter.ids?.includes(id) ?? true)
  // Whether it comes to light that a list has no end depends on how far it is followed.
  if (trouble === 'turns in a circle' && reply.status === 502) return
  const rows = endpoint === 'groups' ? groupRows(library, asked, own, trouble) : assetRows(library, asked, own, trouble)
  if ('status' in rows) {
    checkOutcome(reply, rows)
    return
  }

  const direction = asked.sortOrder === 'Asc' ? 1 : -1
  const compare = (a: Place, b: Place) => direction * (order(a.key, b.key) || order(a.id, b.id))
  const ordered = rows.toSorted(compare)
  const bound = JSON.stringify([
    endpoint,
    { ...asked.filter, ids: asked.filter.ids?.toSorted(), statuses: asked.filter.statuses?.toSorted() },
    asked.sortBy,
    asked.sortOrder,
  ])
  const token = model.tokens.find((known) => known.text === asked.token && known.user === user && known.bound === bound)
  const pageSize = Number(asked.pageSize)
  const start = token
    ? ordered.filter((row) => compare(row, token.after) <= 0).length
    : (Number(asked.pageNumber) - 1) * pageSize
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
  if (last && more) model.tokens.push({ text: NextToken, user, bound, after: { key: last.key, id: last.id }, asked })
}

const order = (a: number | string, b: number | string): number => (a < b ? -1 : a > b ? 1 : 0)

const only = (item: Record<string, unknown>, fields: readonly string[]) =>
  Object.fromEntries(fields.map((field) => [field, instants.has(field) ? instant(item[field]) : item[field]]))

const instants = new Set(['CreateTime', 'UpdateTime'])

/** Milliseconds of a time as the emulator or the gateway writes it. */
const instant = (text: unknown): number | undefined =>
  typeof text === 'string' ? Date.parse(/[Z+]/.test(text) ? text : `${text.replace(' ', 'T')}Z`) : undefined

const second = (ms: number): number => Math.floor(ms / 1000) * 1000

/** The item as the upstream shows it under some trouble. */
const spoilt = (trouble: ListTrouble, item: Row['shown']): Row['shown'] => {
  const field = trouble.startsWith('forgets ') ? trouble.slice(8) : ''
  return field in item ? { ...item, [field]: undefined } : item
}

const keyOf = (shown: Row['shown'], sortBy: string): number | string =>
  sortBy === 'GroupId' ? String(shown.GroupId) : ((shown[sortBy] as number | undefined) ?? Number.NEGATIVE_INFINITY)

const groupRows = (library: Library, asked: Settled, own: readonly ModelGroup[], trouble: ListTrouble): Row[] => {
  const candidates = own.filter((group) => asked.filter.name === undefined || group.name === asked.filter.name)
  const failed =
    trouble in listTroubles ? / Id$|data/.test(trouble) : outcomeOf(trouble as Trouble, 200, 'read').status !== 200
  return candidates.map((group) => {
    const there = failed ? undefined : library.group(group.id)
    const shown = there ? shownGroup(there, group, trouble) : recordOf(group)
    // By creation they are ordered as the records have it, which have learnt it from the upstream.
    const key = asked.sortBy === 'CreateTime' ? group.recordedAt : keyOf(shown, asked.sortBy)
    return { id: group.id, key, shown }
  })
}

/** A group in the upstream's words. Only a Name that is missing is filled in. */
const shownGroup = (there: Group, group: ModelGroup, trouble: ListTrouble): Row['shown'] => {
  const item = spoilt(trouble, {
    Id: there.id,
    Name: there.name,
    Description: there.description,
    GroupType: there.type,
    CreateTime: second(there.createTime),
    UpdateTime: second(there.updateTime),
  })
  return { ...item, Name: item.Name ?? group.name }
}

/** A group in the words of the gateway's own record. */
const recordOf = ({ id, name, description = '', type, recordedAt }: ModelGroup): Row['shown'] => ({
  Id: id,
  Name: name,
  Description: description,
  GroupType: type,
  CreateTime: recordedAt,
  UpdateTime: recordedAt,
})

const assetRows = (library: Library, asked: Settled, own: readonly ModelGroup[], trouble: ListTrouble) => {
  if (own.length === 0) return []
  if (!(trouble in listTroubles)) {
    const outcome = outcomeOf(trouble as Trouble, 200, 'read')
    if (outcome.shows !== 'natural') return outcome
  }
  if (/ Id$|GroupId|data/.test(trouble)) return []
  return own
    .flatMap((group) => library.assets(group.id))
    .map((asset) => spoilt(trouble, shownAsset(asset)))
    .filter(({ Name, Status }) => {
      const { name, statuses } = asked.filter
      return (name === undefined || Name === name) && (!statuses || statuses.includes(String(Status)))
    })
    .map((shown): Row => ({ id: String(shown.Id), key: keyOf(shown, asked.sortBy), shown }))
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

/** Throws unless a detail shows the asset as the upstream has it. */
export const checkAsset = (library: Library, id: string, shown: Record<string, unknown>): void => {
  const asset = library.asset(id)
  assert.ok(asset)
  const expected = shownAsset(asset)
  assert.deepEqual(only(shown, Object.keys(expected)), expected)
}

/** Throws unless a detail shows the group as a list would. */
export const checkGroup = (
  library: Library,
  group: ModelGroup,
  trouble: ListTrouble,
  shown: Record<string, unknown>,
): void => {
  const [row] = groupRows(library, { filter: {}, sortBy: 'CreateTime' } as Settled, [group], trouble)
  assert.ok(row)
  assert.deepEqual(only(shown, Object.keys(row.shown)), row.shown)
}
