import assert from 'node:assert/strict'
import { nobodysGroup } from '../../plugins/asset-library/lists/filter-check.ts'
import type { Call } from '../../src/emulator/index.ts'
import type { Fixture } from './fixture.ts'
import type { Model } from './model.ts'

/** What an upstream call may contain for the sake of a user's request. */
export interface RequestScope {
  readonly user: number
  /** Ids in the request, or texts that contain ids. The gateway may look up such an asset before it knows the owner. */
  readonly named: readonly string[]
  /** Whether the request may list what others lend to the user. */
  readonly readsLent: boolean
}

/** Throws for an upstream call that the user's request does not justify. */
export const checkUpstreamCall = (call: Call, fixture: Fixture, model: Model, request: RequestScope): void => {
  const { action, ids, groups, groupType } = readCall(call, fixture)
  const owned = (id: string) => assert.ok(model.ownsGroup(request.user, id), `${action} names a foreign group: ${id}`)
  for (const { token } of model.users) {
    assert.ok(
      !JSON.stringify([call.headers, call.body, call.path]).includes(token),
      'the gateway sent a caller’s token upstream',
    )
  }
  // One group that no user can have may be listed alone: it checks that the upstream applies the filter.
  assert.ok(!model.groups.has(nobodysGroup.id))
  if (action === 'ListAssets' && groups.length === 1 && groups[0] === nobodysGroup.id) return
  const readable = (id: string) =>
    assert.ok(model.readsGroup(request.user, id), `${action} names a foreign group: ${id}`)
  for (const id of groups) action.startsWith('List') && request.readsLent ? readable(id) : owned(id)
  if (action.startsWith('List')) {
    assert.ok(groups.length > 0, `${action} without GroupIds`)
    for (const id of groups) {
      assert.equal(model.groups.get(id)?.type, groupType, `${action} names a group with another type`)
    }
  }
  for (const id of ids) {
    if (action === 'GetAsset')
      assert.ok(
        request.named.some((text) => text.includes(id)),
        `reads an asset that the caller did not name: ${id}`,
      )
    else if (action.endsWith('AssetGroup')) owned(id)
    else assert.ok(model.ownsAsset(request.user, id), `${action} names a foreign asset: ${id}`)
  }
  if (/^(?:Get|Update|Delete)/.test(action)) assert.equal(ids.length, 1, `${action} names ${ids.length} objects`)
}

interface ParsedCall {
  readonly action: string
  /** Ids of the asset or group that the call reads or changes. */
  readonly ids: readonly string[]
  /** Ids of all groups that the call contains. */
  readonly groups: readonly string[]
  readonly groupType: unknown
}

/** Throws for an unknown operation. */
const readCall = (call: Call, { kind, emulator }: Fixture): ParsedCall =>
  kind === 'rest' ? readRest(call, emulator.rest.key) : readArk(call, emulator.ark.project)

const prefix = '/api/media/proxy/assets'
const segment = /^(?:[A-Za-z0-9_.!~*'()-]|%[0-9A-F]{2})+$/

const readRest = (call: Call, key: string): ParsedCall => {
  const { method, path, action, headers } = call
  assert.equal(headers.authorization, `Bearer ${key}`)
  const [raw = '', query = ''] = path.split(/\?(.*)/s)
  assert.ok(raw.startsWith(prefix), `an unknown path: ${path}`)
  const rest = raw.slice(prefix.length)
  const parameters = new URLSearchParams(query)
  const groups = parameters.getAll('GroupIds').flatMap((ids) => ids.split(','))
  const groupType = parameters.get('GroupType')
  const list = /^(?:\/groups)?$/.test(rest)
  const one = /^\/(?:groups\/)?([^/]+)$/.exec(rest)?.[1]
  assert.ok(list || one, `an unknown path: ${path}`)
  assert.ok(/^(?:GET|POST)$/.test(method) || (one && /^(?:PUT|PATCH|DELETE)$/.test(method)), `${method} ${path}`)
  assert.ok(query === '' || (list && method === 'GET'), `an unknown query: ${path}`)
  if (list) {
    return method === 'GET'
      ? { action, ids: [], groups, groupType }
      : { action, ids: [], groups: groupsIn(call.json), groupType }
  }
  assert.ok(one && segment.test(one) && !/^\.+$/.test(one), `an unknown path: ${path}`)
  const id = decodeURIComponent(one)
  assert.ok(!/[/\\?#%\p{Cc}]/u.test(id), `an id that is a path: ${path}`)
  return {
    action,
    ids: [id, ...(method === 'GET' ? [] : topIds(call.json, id))],
    groups: groupsIn(call.json),
    groupType,
  }
}

const known = /^(?:(?:Create|List|Update|Delete)AssetGroups?|(?:Create|Get|Update|Delete)Asset|ListAssets)$/

const readArk = ({ method, path, headers, json, action }: Call, project: string): ParsedCall => {
  assert.equal(method, 'POST')
  assert.equal(path, `/?Action=${action}&Version=2024-01-01`)
  assert.match(action, known)
  assert.match(headers.authorization ?? '', /^HMAC-SHA256 Credential=/)
  const body = json as Record<string, unknown>
  assert.equal(body.ProjectName, project)
  const filter = body.Filter as { GroupIds?: string[]; GroupType?: string } | undefined
  if (action.startsWith('List'))
    return { action, ids: [], groups: filter?.GroupIds ?? [], groupType: filter?.GroupType }
  const ids = /^(?:Get|Update|Delete)/.test(action) ? [String(body.Id), ...topIds(json, String(body.Id))] : []
  return { action, ids, groups: groupsIn(json), groupType: undefined }
}

/** Ids at the top level of a body that another parser could use instead of `id`. */
const topIds = (json: unknown, id: string): string[] =>
  Object.entries(json ?? {}).flatMap(([key, value]) =>
    key.toLowerCase() === 'id' && value !== id ? [String(value)] : [],
  )

/** Every group id in a body, in any spelling of the key and at any depth. */
const groupsIn = (json: unknown): string[] => {
  if (typeof json !== 'object' || json === null) return []
  return Object.entries(json).flatMap(([key, value]) => [
    ...(/^group[_-]?ids?$/i.test(key) ? [value].flat().map(String) : []),
    ...groupsIn(value),
  ])
}
