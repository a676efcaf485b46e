import type { OwnedGroup } from '../../plugins/ownership/index.ts'
import { instantKey, type Listing } from '../../plugins/pagination-normalizer/index.ts'
import { readJsonBody } from '../../plugins/shared/body.ts'
import { type Json, toJson } from '../../plugins/shared/json.ts'
import { Problem } from '../../plugins/shared/problem.ts'
import { type Answer, type Caller, collectItems, Refusal, toResponse } from '../../plugins/upstream-proxy/index.ts'
import { refuseOtherId } from '../schema/ambiguous.ts'
import { groupsNamed } from '../schema/asset.ts'
import { readGroupChange, readNewGroup } from '../schema/group.ts'
import { envelope, result200 } from './envelope.ts'
import { createdId, type Library, type Owners, underClaim } from './library.ts'

/** "create asset group". The upstream is asked to the end even when the caller leaves (reading 11). */
export const createGroup =
  (library: Library) =>
  async ({ request, user }: { request: Request; user: string }): Promise<Response> => {
    const body = await readJsonBody(request, library.maxBodyBytes)
    const { name, description } = readNewGroup(body)
    const typed = body.edit((json) => (json.get('GroupType') ? json : json.with('GroupType', toJson('AIGC'))))
    const create = () =>
      library.upstream.send({ action: 'CreateAssetGroup', body: typed }, { headers: request.headers })
    return toResponse(await underClaim(library, { user, type: 'AIGC', name, description }, create, createdId))
  }

interface Listed {
  readonly user: string
  readonly owners: Owners
  readonly listing: Listing
  readonly caller: Caller
}

/** "list asset groups": which ones is for the records to say, what they are like for the upstream. */
export const listGroups =
  (library: Library) =>
  async ({ user, owners, listing, caller }: Listed): Promise<Response> => {
    const { GroupType: type, GroupIds: ids, Name: name } = listing.filter
    const own = await owners.groupsOf(user, String(type))
    const selected = owners.select(own, ids as readonly string[] | undefined)
    const candidates = name === undefined ? selected : selected.filter((group) => group.name === name)
    const { items, answers } = await describe(library, candidates, String(type), caller)
    const rows = items.map(({ item, id }) => ({ item, id, key: instantKey(item.get(listing.sortBy)?.string()) }))
    return envelope(listing.page(rows, user), answers)
  }

/** Extension: one group, as the list would show it. */
export const getGroup =
  (library: Library) =>
  async ({ group, caller }: { group: OwnedGroup; caller: Caller }): Promise<Response> => {
    const { items, answers } = await describe(library, [group], group.type, caller)
    return result200(items[0]?.item.raw ?? '{}', answers)
  }

interface Changed {
  readonly request: Request
  readonly user: string
  readonly owners: Owners
  readonly group: OwnedGroup
  readonly caller: Caller
}

/** Extension: a new name, a new description, or both. A new name is claimed like that of a new group. */
export const updateGroup =
  (library: Library, method: 'PUT' | 'PATCH') =>
  async ({ request, user, owners, group, caller }: Changed): Promise<Response> => {
    const body = await readJsonBody(request, library.maxBodyBytes)
    const { name, description } = readGroupChange(body)
    refuseOtherId(body.json, group.id)
    for (const named of groupsNamed(body)) await owners.group(user, named)
    // What is remembered may be a moment old; whether a name has to be claimed must not depend on that.
    const current = (await owners.groupsOf(user, group.type)).find(({ id }) => id === group.id)
    const renamed = name !== undefined && name !== current?.name
    // A rename is brought to an end like a creation: half of it is the gateway's own record.
    const update = () =>
      library.upstream.send(
        { action: 'UpdateAssetGroup', group, method, body },
        renamed ? { headers: caller.headers } : caller,
      )
    const answer = renamed
      ? await underClaim(
          library,
          { user, type: group.type, name, description, renames: group.id },
          update,
          () => group.id,
        )
      : await update()
    if (!renamed && description !== undefined) await owners.describe(group, description)
    owners.changed(group)
    return toResponse(answer)
  }

/** Extension: deletes the group and, as the upstream does, the assets in it. */
export const deleteGroup =
  (library: Library) =>
  async ({ owners, group, caller }: Omit<Changed, 'request' | 'user'>): Promise<Response> => {
    let answer: Answer
    try {
      answer = await library.upstream.send({ action: 'DeleteAssetGroup', group }, caller)
    } catch (error) {
      // Gone already, perhaps by an earlier call whose answer was lost: then the record and the name go too.
      if (error instanceof Refusal && isGone(error)) await owners.remove(group)
      throw error
    }
    await owners.remove(group)
    return toResponse(answer)
  }

const isGone = ({ status, answer }: Refusal): boolean =>
  status === 404 && new TextDecoder().decode(answer.bytes).includes('NotFound.group_id')

interface Described {
  readonly items: readonly { readonly id: string; readonly item: Json }[]
  readonly answers: readonly Answer[]
}

/** Each group as the upstream describes it; from its record where the upstream does not, or cannot be asked (reading 27). */
const describe = async (
  { upstream, log }: Library,
  groups: readonly OwnedGroup[],
  groupType: string,
  caller: Caller,
): Promise<Described> => {
  const query = { groupType, sortBy: 'CreateTime', sortOrder: 'Desc' } as const
  const found = await collectItems(upstream, 'ListAssetGroups', groups, query, caller).catch((err: unknown) => {
    if (!(err instanceof Problem)) throw err
    log.warn({ err }, 'groups are listed from their records')
    return { items: [], answers: [] }
  })
  const byId = new Map(found.items.map((item) => [item.get('Id')?.string(), item]))
  const items = groups.map((group) => {
    const item = byId.get(group.id)
    return { id: group.id, item: item ? named(item, group) : fromRecord(group) }
  })
  return { items, answers: found.answers }
}

const named = (item: Json, group: OwnedGroup): Json =>
  item.get('Name')?.string() ? item : item.with('Name', toJson(group.name))

const fromRecord = ({ id, name, description = '', type, createdAt }: OwnedGroup): Json => {
  const time = new Date(createdAt).toISOString().replace('Z', '+00:00')
  return toJson({ Id: id, Name: name, Description: description, GroupType: type, CreateTime: time, UpdateTime: time })
}
