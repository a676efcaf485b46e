import assert from 'node:assert/strict'
import type { Call } from '../../src/emulator/index.ts'
import type { World } from './fixture.ts'
import type { Model } from './model.ts'

/** What a user asked, as far as the upstream may come to know of it. */
export interface Asked {
  readonly user: number
  /** Ids in the request, or texts with ids in them: an asset may be asked about before it is known whose it is. */
  readonly named: readonly string[]
}

/** Throws when a call went to the upstream that this user's request does not justify. */
export const watchCall = (call: Call, world: World, model: Model, asked: Asked): void => {
  const { action, ids, groups, groupType } = readCall(call, world)
  const owned = (id: string) =>
    assert.ok(model.ownsGroup(asked.user, id), `${action} is about a group of others: ${id}`)
  for (const { token } of model.users) {
    assert.ok(
      !JSON.stringify([call.headers, call.body, call.path]).includes(token),
      'a token of a caller went upstream',
    )
  }
  for (const id of groups) owned(id)
  if (action.startsWith('List')) {
    assert.ok(groups.length > 0, `${action} without GroupIds`)
    for (const id of groups) {
      assert.equal(model.groups.get(id)?.type, groupType, `${action} asks for a group under another type`)
    }
  }
  for (const id of ids) {
    if (action === 'GetAsset')
      assert.ok(
        asked.named.some((text) => text.includes(id)),
        `asks for an asset that nobody named: ${id}`,
      )
    else if (action.endsWith('AssetGroup')) owned(id)
    else assert.ok(model.ownsAsset(asked.user, id), `${action} is about an asset of others: ${id}`)
  }
  if (/^(?:Get|Update|Delete)/.test(action)) assert.equal(ids.length, 1, `${action} names ${ids.length} objects`)
}

interface Read {
  readonly action: string
  /** Of the asset or group that the call is about. */
  readonly ids: readonly string[]
  /** Every group that it names. */
  readonly groups: readonly string[]
  readonly groupType: unknown
}

/** Throws for whatever is not one of the known requests. */
const readCall = (call: Call, { kind, emulator }: World): Read =>
  kind === 'rest' ? readRest(call, emulator.rest.key) : readArk(call, emulator.ark.project)

const prefix = '/api/media/proxy/assets'
const segment = /^(?:[A-Za-z0-9_.!~*'()-]|%[0-9A-F]{2})+$/

const readRest = (call: Call, key: string): Read => {
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

const readArk = ({ method, path, headers, json, action }: Call, project: string): Read => {
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

/** Ids of a body's own that another reader might prefer to `id`. */
const topIds = (json: unknown, id: string): string[] =>
  Object.entries(json ?? {}).flatMap(([key, value]) =>
    key.toLowerCase() === 'id' && value !== id ? [String(value)] : [],
  )

/** Whatever a body may mean as a group, in any spelling and at any depth. */
const groupsIn = (json: unknown): string[] => {
  if (typeof json !== 'object' || json === null) return []
  return Object.entries(json).flatMap(([key, value]) => [
    ...(/^group[_-]?ids?$/i.test(key) ? [value].flat().map(String) : []),
    ...groupsIn(value),
  ])
}
