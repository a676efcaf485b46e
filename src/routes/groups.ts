import type { OwnedGroup } from '../../plugins/ownership/index.ts'
import { instantKey, instantOf, type Listing } from '../../plugins/pagination-normalizer/index.ts'
import { readJsonBody } from '../../plugins/shared/body.ts'
import { toJson } from '../../plugins/shared/json.ts'
import { type Answer, type Caller, groupsPerCall, Refusal, toResponse } from '../../plugins/upstream-proxy/index.ts'
import { refuseOtherId } from '../schema/ambiguous.ts'
import { groupsNamed } from '../schema/asset.ts'
import { readGroupChange, readNewGroup } from '../schema/group.ts'
import { describe, isoOf, noneDescribed } from './described.ts'
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
      library.upstream.send({ action: 'CreateAssetGroup', body: typed }, { headers: request.headers, user })
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
    const { GroupType, GroupIds: ids, Name: name } = listing.filter
    const type = String(GroupType)
    const own = await owners.groupsOf(user, type)
    const selected = owners.select(own, ids as readonly string[] | undefined)
    const candidates = name === undefined ? selected : selected.filter((group) => group.name === name)
    if (listing.sortBy === 'CreateTime') {
      const { page, described } = await pageByCreation(library, owners, candidates, type, listing, user, caller)
      return envelope(
        { ...page, items: page.items.map(({ group }) => ({ item: described.itemOf(group) })) },
        described.answers,
      )
    }
    // Only the upstream knows when a group was changed last.
    const described = await describe(library, candidates, type, caller)
    const rows = candidates.map((group) => {
      const item = described.itemOf(group)
      return { item, id: group.id, key: instantKey(item.get(listing.sortBy)?.string()) }
    })
    return envelope(listing.page(rows, user), described.answers)
  }

/**
 * A page chosen from the records, and described by the upstream in one call. Groups whose `CreateTime` the records do not know yet are asked about along
 * with it; should that change the page, once more.
 */
const pageByCreation = async (
  library: Library,
  owners: Owners,
  candidates: readonly OwnedGroup[],
  type: string,
  listing: Listing,
  user: string,
  caller: Caller,
) => {
  let described = noneDescribed
  const known = new Map<string, number>()
  while (true) {
    const rows = candidates.map((group) => {
      const createdAt = known.get(group.id) ?? group.createdAt
      return { id: group.id, key: instantKey(isoOf(createdAt)), group: { ...group, createdAt } }
    })
    const page = listing.page(rows, user)
    const undated = candidates.filter((group) => !group.dated)
    const wanted = new Set([...page.items.map(({ group }) => group), ...undated])
    const unasked = [...wanted].filter(({ id }) => !described.asked.has(id))
    if (described.failed || page.items.every(({ id }) => described.asked.has(id))) return { page, described }
    const more = await describe(library, unasked.slice(0, groupsPerCall), type, caller)
    const dated = undated.flatMap(({ id }) => {
      const createdAt = instantOf(more.found.get(id)?.get('CreateTime')?.string())
      return createdAt === undefined ? [] : [{ id, createdAt }]
    })
    for (const { id, createdAt } of dated) known.set(id, createdAt)
    await owners.date(dated)
    described = described.with(more)
  }
}

/** Extension: one group, as the list would show it. */
export const getGroup =
  (library: Library) =>
  async ({ group, caller }: { group: OwnedGroup; caller: Caller }): Promise<Response> => {
    const described = await describe(library, [group], group.type, caller)
    return result200(described.itemOf(group).raw, described.answers)
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
        renamed ? { headers: caller.headers, user } : caller,
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
