import type { OwnedGroup } from '../../plugins/ownership/index.ts'
import {
  instantKey,
  instantKeyOf,
  type Listing,
  Ordered,
  type Page,
  type Position,
} from '../../plugins/pagination-normalizer/index.ts'
import { readJsonBody } from '../../plugins/shared/body.ts'
import { toJson } from '../../plugins/shared/json.ts'
import {
  type Caller,
  groupsPerCall,
  toResponse,
  UpstreamRefusedError,
  type UpstreamResponse,
} from '../../plugins/upstream-proxy/index.ts'
import { groupsNamed } from '../schema/asset.ts'
import { refuseOtherId } from '../schema/duplicate-keys.ts'
import { readGroupChange, readNewGroup } from '../schema/group.ts'
import { envelope, result200 } from './envelope.ts'
import { GroupDescriptions } from './group-descriptions.ts'
import { createdId, type Library, type Owners, underClaim } from './library.ts'
import { oncePer } from './once-per.ts'

/** "create asset group". The upstream is asked to the end even when the caller leaves. */
export const createGroup =
  (library: Library) =>
  async ({ request, user, owners }: { request: Request; user: string; owners: Owners }): Promise<Response> => {
    const body = await readJsonBody(request, library.maxBodyBytes)
    const { name, description } = readNewGroup(body)
    const typed = body.edit((json) => (json.get('GroupType') ? json : json.with('GroupType', toJson('AIGC'))))
    const create = () =>
      library.upstream.send({ action: 'CreateAssetGroup', body: typed }, { headers: request.headers, user })
    const answer = await underClaim(library, { user, type: 'AIGC', name, description }, create, createdId)
    const id = createdId(answer)
    owners.changed({ id, user })
    library.audit.note({ action: 'group.create', target: { kind: 'group', id } }, request)
    return toResponse(answer)
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
    const selected = await owners.select(user, type, ids as readonly string[] | undefined)
    const candidates = name === undefined ? selected : selected.filter((group) => group.name === name)
    const described = new GroupDescriptions(library, type, caller)
    const page =
      listing.sortBy === 'CreateTime'
        ? await pageByCreation(owners, candidates, described, listing, user)
        : await pageByField(candidates, described, listing, user)
    return envelope(page, ({ group }) => described.itemOf(group), described.answers)
  }

interface GroupRow extends Position {
  readonly group: OwnedGroup
}

/** Only the upstream knows when a group was changed last. */
const pageByField = async (
  candidates: readonly OwnedGroup[],
  described: GroupDescriptions,
  listing: Listing,
  user: string,
): Promise<Page<GroupRow>> => {
  await described.ask(candidates)
  const rows = candidates.map((group) => {
    const key = instantKey(described.itemOf(group).get(listing.sortBy)?.string())
    return { id: group.id, key, group }
  })
  return listing.page(rows, user)
}

/**
 * A page chosen from the records, and described by the upstream in one call. Groups whose `CreateTime` the records do not know yet are asked about along
 * with it; should that change the page, once more.
 */
const pageByCreation = async (
  owners: Owners,
  candidates: readonly OwnedGroup[],
  described: GroupDescriptions,
  listing: Listing,
  user: string,
): Promise<Page<GroupRow>> => {
  const { rows, undated } = byCreation(candidates)
  let page = listing.page(rows, user)
  while (page.items.some(({ group }) => !described.isKnown(group))) {
    const shown = page.items.map(({ group }) => group)
    const wanted = [...shown, ...undated.filter((group) => !shown.includes(group))]
    const asked = wanted.filter((group) => !described.isKnown(group)).slice(0, groupsPerCall)
    await described.ask(asked)
    const dated = asked.flatMap((group) => {
      const createdAt = group.dated ? undefined : described.createdAt(group)
      return createdAt === undefined ? [] : [{ id: group.id, createdAt }]
    })
    if (dated.length === 0) continue
    await owners.date(user, dated)
    const now = candidates.map((group) => rowOf(group, group.dated ? undefined : described.createdAt(group)))
    page = listing.page(now, user)
  }
  return page
}

/** In the order of the records. Kept as long as the list, which lives until a group of the user's is made, changed or deleted. */
const byCreation = oncePer((groups: readonly OwnedGroup[]) => ({
  rows: new Ordered(groups.map((group) => rowOf(group))),
  undated: groups.filter((group) => !group.dated),
}))

const rowOf = (group: OwnedGroup, createdAt = group.createdAt): GroupRow => ({
  id: group.id,
  key: instantKeyOf(createdAt),
  group,
})

/** Extension: one group, as the list would show it. */
export const getGroup =
  (library: Library) =>
  async ({ group, caller }: { group: OwnedGroup; caller: Caller }): Promise<Response> => {
    const described = new GroupDescriptions(library, group.type, caller)
    await described.ask([group])
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
    const current = await owners.current(group)
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
    library.audit.note({ action: 'group.update', target: { kind: 'group', id: group.id } }, request)
    return toResponse(answer)
  }

/** Extension: deletes the group and, as the upstream does, the assets in it. */
export const deleteGroup =
  (library: Library) =>
  async ({ request, owners, group, caller }: Omit<Changed, 'user'>): Promise<Response> => {
    let answer: UpstreamResponse
    try {
      answer = await library.upstream.send({ action: 'DeleteAssetGroup', group }, caller)
    } catch (error) {
      // Gone already, perhaps by an earlier call whose answer was lost: then the record and the name go too.
      if (error instanceof UpstreamRefusedError && isGone(error)) await owners.remove(group)
      throw error
    }
    await owners.remove(group)
    library.audit.note({ action: 'group.delete', target: { kind: 'group', id: group.id } }, request)
    return toResponse(answer)
  }

const isGone = ({ status, response: answer }: UpstreamRefusedError): boolean =>
  status === 404 && new TextDecoder().decode(answer.bytes).includes('NotFound.group_id')
