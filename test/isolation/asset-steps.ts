import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Reply } from '../support/gateway.ts'
import { expectedResponse, injectFault } from './faults.ts'
import { hostileText } from './hostile-text.ts'
import { checkAsset } from './list-check.ts'
import { groupId, names, pick } from './list-request.ts'
import type { GroupType, Model, ModelAsset } from './model.ts'
import { checkError, checkExpected, checkInvalid, errorBody, messages, sendChecked } from './send.ts'
import { fault, ownAsset, step, user } from './step.ts'

const url = fc.constantFrom(
  'https://files.example/a.png',
  'https://files.example/fail-FaceMismatch/a.png',
  'https://files.example/a.txt',
)

/** How a body contains GroupId. */
const smuggling = [
  'none',
  'none',
  'twice',
  'escaped',
  'lower',
  'snake',
  'wide',
  'nested',
  'list',
  'filter',
  'number',
  'array',
] as const

type Smuggling = (typeof smuggling)[number]

export const createAsset = step(
  'create asset',
  fc.record({
    user,
    group: pick(),
    other: pick(),
    type: fc.oneof(
      { arbitrary: fc.constant('matching'), weight: 9 },
      { arbitrary: fc.constantFrom('AIGC', 'LivenessFace', 'aigc', 'twice'), weight: 1 },
    ),
    smuggling: fc.oneof(
      { arbitrary: fc.constant('none' as const), weight: 1 },
      { arbitrary: fc.constantFrom(...smuggling), weight: 1 },
    ),
    name: fc.constantFrom<string>(...names),
    url,
    fault,
  }),
  async ({ user, group, other, type, smuggling, name, url, fault }, model, fixture) => {
    const id = groupId(model, user, group)
    const otherId = groupId(model, user, other)
    const target = model.groups.get(id)
    const groupType = type === 'matching' || type === 'twice' ? (target?.type ?? 'AIGC') : type
    const rest = [
      `"URL":${JSON.stringify(url)}`,
      '"AssetType":"Image"',
      `"Name":${JSON.stringify(name)}`,
      '"ProjectName":"elsewhere"',
      ...(groupType === 'AIGC' && type !== 'twice' ? [] : [`"GroupType":${JSON.stringify(groupType)}`]),
      ...(type === 'twice' ? ['"grouptype":"AIGC"'] : []),
    ]
    const body = `{${[...groupMembers(smuggling, id, otherId), ...rest].join(',')}}`
    injectFault(fixture.emulator, fault, 'CreateAsset')
    const reply = await sendChecked(fixture, model, {
      user,
      method: 'POST',
      path: '/assets',
      body,
      named: [id, otherId],
    })

    if (type === 'twice' || isAmbiguous(smuggling)) return checkInvalid(reply)
    if (smuggling === 'number' || smuggling === 'array' || id === '')
      return checkError(reply, 400, 'group_id is required')
    if (groupType === 'aigc') return checkInvalid(reply)
    if (!model.ownsGroup(user, id, groupType as GroupType)) return checkError(reply, 403, messages.group)
    if (isHidden(smuggling) && !model.ownsGroup(user, otherId)) return checkError(reply, 403, messages.group)
    if (model.hasWithdrawn(id)) return checkError(reply, 403, messages.withdrawn)

    const expected = expectedResponse(fault, target?.upstream ? 200 : 404, 'create')
    checkExpected(reply, expected)
    if (!expected.applied) return
    const [asset, ...others] = model.newAssets()
    assert.ok(asset !== undefined && others.length === 0, 'creates exactly one asset')
    const recorded = expected.status === 200
    if (recorded) assert.equal(reply.json.Result.Id, asset)
    model.assets.set(asset, { id: asset, group: id, name, recorded, deleted: false })
  },
)

const groupMembers = (smuggling: Smuggling, id: string, other: string): string[] => {
  const [own, others] = [JSON.stringify(id), JSON.stringify(other)]
  const plain = `"GroupId":${own}`
  switch (smuggling) {
    case 'none':
      return [plain]
    case 'twice':
      return [`"GroupId":${others}`, plain]
    case 'escaped':
      return [plain, `"\\u0047roupI\\u0064":${others}`]
    case 'lower':
      return [plain, `"groupid":${others}`]
    case 'snake':
      return [plain, `"group_id":${others}`]
    case 'wide':
      return [plain, `"ＧroupＩd":${others}`]
    case 'nested':
      return [plain, `"More":{"Deep":[{"groupId":${others}}]}`]
    case 'list':
      return [plain, `"More":[{"GroupIds":[${own},${others}]}]`]
    case 'filter':
      return [plain, `"Filter":{"GroupIds":[${others}]}`]
    case 'number':
      return ['"GroupId":7']
    case 'array':
      return [`"GroupId":[${own}]`]
  }
}

const isAmbiguous = (smuggling: Smuggling): boolean =>
  ['twice', 'escaped', 'lower', 'snake', 'wide'].includes(smuggling)
const isHidden = (smuggling: Smuggling): boolean => ['nested', 'list', 'filter'].includes(smuggling)

/** How a step chooses an asset when it runs. */
const assetPick = fc.record({
  of: fc.oneof(
    { arbitrary: fc.constant('own' as const), weight: 4 },
    { arbitrary: fc.constant('other' as const), weight: 3 },
    { arbitrary: fc.constantFrom('odd' as const, 'mixed' as const), weight: 1 },
  ),
  at: fc.nat(40),
  text: hostileText(),
})

const assetId = (
  model: Model,
  user: number,
  { of, at, text }: { of: 'own' | 'other' | 'odd' | 'mixed'; at: number; text: string },
): string => {
  const own = model.assetsOf(user)
  const others = model.othersAssets(user)
  const other = others[at % others.length]?.id ?? 'asset-20260101000000-zzzzz'
  if (of === 'own') return own[at % own.length]?.id ?? 'asset-20260101000000-yyyyy'
  if (of === 'mixed') return `${own[at % own.length]?.id ?? ''}${['/../', '\0', ',', '?', '#', ' '][at % 6]}${other}`
  // These texts are no path segment, or they select another route.
  return of === 'other' ? other : /^(?:\.{1,2}|groups|batches)$/.test(text) ? 'asset' : text
}

export const assetDetail = step(
  'asset detail',
  fc.record({ user, asset: assetPick, fault }),
  async ({ user, asset: picked, fault }, model, fixture) => {
    const id = assetId(model, user, picked)
    injectFault(fixture.emulator, fault, 'GetAsset')
    const reply = await sendChecked(fixture, model, { user, method: 'GET', path: assetPath(id), named: [id] })
    const asset = model.assets.get(id)
    // The gateway does not ask the upstream about a text that cannot be an id.
    if (!asset && reply.text === errorBody(messages.asset)) return
    const own = asset && model.ownsAsset(user, id)
    const expected = expectedResponse(fault, asset && !asset.deleted ? 200 : 404, 'read')
    if (expected.status === 200) {
      if (!(asset && model.readsAsset(user, id))) return checkError(reply, 403, messages.asset)
      checkExpected(reply, expected)
      return checkAsset(fixture.emulator.library, id, reply.json.Result)
    }
    // Only the owner learns that an asset does not exist. Every other upstream error is the same for all callers.
    const absent = [400, 404].includes(expected.status)
    if (!absent)
      return checkExpected(reply, expected.shows === 'normal' ? { ...expected, shows: 'injected' } : expected)
    if (!own) return checkError(reply, 403, messages.asset)
    checkDeleted(reply, asset, expected.status)
  },
)

/** A deleted asset of the caller. The gateway keeps the group of a recorded asset. Of other assets it may forget the group. */
const checkDeleted = (reply: Reply, asset: ModelAsset, status: number): void => {
  if (!asset.recorded && reply.text === errorBody(messages.asset)) return
  assert.equal(reply.status, status, reply.text)
  assert.ok(!reply.text.includes('"success":false'), reply.text)
}

export const updateAsset = step(
  'update asset',
  fc.record({
    user,
    asset: assetPick,
    method: fc.constantFrom('PUT', 'PATCH'),
    name: fc.option(fc.constantFrom<string>(...names), { freq: 8 }),
    group: pick(),
    other: pick(),
    smuggling: fc.constantFrom(...smuggling, 'absent', 'absent', 'absent', 'id'),
    fault,
  }),
  async ({ user, asset: picked, method, name, group, other, smuggling, fault }, model, fixture) => {
    const id = assetId(model, user, picked)
    const [first, second] = [groupId(model, user, group), groupId(model, user, other)]
    const foreign = model.othersAssets(user)[0]?.id ?? 'asset'
    const members = [
      ...(name === null ? [] : [`"Name":${JSON.stringify(name)}`]),
      '"ProjectName":"elsewhere"',
      ...(smuggling === 'id' ? [`"id":${JSON.stringify(foreign)}`] : []),
      ...(smuggling === 'absent' || smuggling === 'id' ? [] : groupMembers(smuggling, first, second)),
    ]
    injectFault(fixture.emulator, fault, 'UpdateAsset')
    const named = [id, first, second, foreign]
    const body = `{${members.join(',')}}`
    const reply = await sendChecked(fixture, model, { user, method, path: assetPath(id), body, named })

    const asset = ownAsset(model, user, id)
    if (!asset) return checkError(reply, 403, messages.asset)
    if (asset.deleted && !asset.recorded && reply.text === errorBody(messages.asset)) return
    if (smuggling === 'id') return checkInvalid(reply)
    if (smuggling !== 'absent') {
      if (isAmbiguous(smuggling)) return checkInvalid(reply)
      const all =
        smuggling === 'number' || smuggling === 'array' ? [undefined] : isHidden(smuggling) ? [first, second] : [first]
      if (!all.every((one) => one !== undefined && model.ownsGroup(user, one))) {
        return checkError(reply, 403, messages.group)
      }
    }
    const expected = expectedResponse(fault, asset.deleted ? 404 : name === null ? 400 : 200, 'change')
    checkExpected(reply, expected)
    if (expected.applied) asset.name = name ?? asset.name
  },
)

export const deleteAsset = step(
  'delete asset',
  fc.record({ user, asset: assetPick, fault }),
  async ({ user, asset: picked, fault }, model, fixture) => {
    const id = assetId(model, user, picked)
    injectFault(fixture.emulator, fault, 'DeleteAsset')
    const reply = await sendChecked(fixture, model, { user, method: 'DELETE', path: assetPath(id), named: [id] })
    const asset = ownAsset(model, user, id)
    if (!asset) return checkError(reply, 403, messages.asset)
    if (asset.deleted && !asset.recorded && reply.text === errorBody(messages.asset)) return
    const expected = expectedResponse(fault, asset.deleted ? 404 : 200, 'change')
    checkExpected(reply, expected)
    if (expected.applied) asset.deleted = true
  },
)

const assetPath = (id: string): string => `/assets/${encodeURIComponent(id)}`
