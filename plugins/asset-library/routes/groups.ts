import type { OwnedGroup, ReadableGroup } from '../../ownership/index.ts'
import {
  instantKey,
  instantKeyOf,
  type Listing,
  Ordered,
  type Page,
  type Position,
} from '../../pagination-normalizer/index.ts'
import { type JsonBody, readJsonBody } from '../../shared/http/body/body.ts'
import { toJson } from '../../shared/json/json.ts'
import {
  type Caller,
  maxGroupsPerCall,
  toResponse,
  UpstreamRejectedError,
  type UpstreamResponse,
} from '../../upstream-proxy/index.ts'
import { requireSameAccount } from '../accounts/same-account.ts'
import { envelope, result200 } from '../lists/envelope.ts'
import { GroupDescriptions } from '../lists/group-descriptions.ts'
import { memoize } from '../lists/memoize.ts'
import { nameContains } from '../lists/search.ts'
import { groupsNamed } from '../schema/asset.ts'
import { rejectOtherId } from '../schema/duplicate-keys.ts'
import { readGroupChange, readNewGroup } from '../schema/group.ts'
import { scopeOf } from '../schema/lists.ts'
import {
  type Creator,
  createdId,
  createOnce,
  createWithinLimits,
  creatorOf,
  type Library,
  type Owners,
  sendUnderClaim,
} from './library.ts'
import { settleGroup } from './settle.ts'

/**
 * `POST /assets/groups`. The upstream call continues even when the caller disconnects, so that the gateway can record
 * the new group.
 */
export const createGroup =
  (library: Library) =>
  async ({ request, user, owners }: { request: Request; user: string; owners: Owners }): Promise<Response> => {
    const body = await readJsonBody(request, library.maxBodyBytes)
    const { name, description } = readNewGroup(body)
    const bodyWithType = body.edit((json) => (json.get('GroupType') ? json : json.with('GroupType', toJson('AIGC'))))
    const creation = {
      ...{ user, route: 'createAssetGroup', body: body.bytes },
      settle: ({ id }: { readonly id: string }) => settleGroup(library, id),
    }
    return createOnce(library, request, creation, async (attempt) => {
      // The claim has the id of the attempt, by which a later request with the same Idempotency-Key finds it.
      const wanted = { id: attempt?.id, name, description, body: bodyWithType, headers: request.headers }
      const response = await addGroup(library, owners, creatorOf(request, user), wanted)
      library.audit.note({ action: 'group.create', target: { kind: 'group', id: createdId(response) } }, request)
      return toResponse(response)
    })
  }

/** A group to create. */
interface NewGroup {
  /** Of the claim on its name. Default: a random one. */
  readonly id?: string | undefined
  readonly name: string
  readonly description?: string | undefined
  /** Of the call: a group of the type `AIGC`. */
  readonly body: JsonBody
  /** Of the request. */
  readonly headers?: Headers
  /** Default: the one that has room. */
  readonly account?: string | undefined
}

/**
 * Creates a group for a user, under a claim on its name, on the account that has room. Throws as `withClaim`, the
 * limits and the upstream do: as the last account, if none takes the group.
 */
export const addGroup = async (
  library: Library,
  owners: Pick<Owners, 'changed'>,
  creator: Creator,
  group: NewGroup,
): Promise<UpstreamResponse> => {
  const { user } = creator
  const add = (account: string | undefined) => addGroupOn(library, account, creator, group)
  const response = await (group.account === undefined ? library.placement.place(user, add) : add(group.account))
  owners.changed({ id: createdId(response), user })
  return response
}

/** Creates a group on an account. */
const addGroupOn = (
  library: Library,
  account: string | undefined,
  creator: Creator,
  { id, name, description, body, headers }: NewGroup,
): Promise<UpstreamResponse> => {
  const { user } = creator
  const uses = { groups: 1 }
  return createWithinLimits(library, { ...creator, uses }, (held) => {
    const create = () => {
      // The claim counts as a group.
      held?.settle(uses)
      return library.upstream.send({ action: 'CreateAssetGroup', body, account }, { user, ...(headers && { headers }) })
    }
    return sendUnderClaim(library, { id, user, type: 'AIGC', name, description, account }, create, createdId)
  })
}

interface ListContext {
  readonly user: string
  readonly owners: Owners
  readonly listing: Listing
  readonly caller: Caller
}

/** `GET /assets/groups`. The gateway's records select the groups, and the upstream describes those on the page. */
export const listGroups =
  (library: Library) =>
  async ({ user, owners, listing, caller }: ListContext): Promise<Response> => {
    const { GroupType, GroupIds: ids, Name: name, NameContains: part } = listing.filter
    const type = String(GroupType)
    const selected = await owners.selectReadable(user, type, ids as readonly string[] | undefined, scopeOf(listing))
    const named = name === undefined ? selected : selected.filter((group) => group.name === name)
    const candidates = part === undefined ? named : named.filter(nameContains(String(part), ({ name }) => name))
    const descriptions = new GroupDescriptions(library, type, caller)
    const page =
      listing.sortBy === 'CreateTime'
        ? await pageByCreateTime(owners, candidates, descriptions, listing, user)
        : await pageByField(candidates, descriptions, listing, user)
    return envelope(page, ({ group }) => descriptions.itemOf(group), descriptions.responses)
  }

interface GroupRow extends Position {
  readonly group: ReadableGroup
}

/** Requests descriptions of all groups, because only the upstream knows the field, such as `UpdateTime`. */
const pageByField = async (
  candidates: readonly ReadableGroup[],
  descriptions: GroupDescriptions,
  listing: Listing,
  user: string,
): Promise<Page<GroupRow>> => {
  await descriptions.fetch(candidates)
  const rows = candidates.map((group) => {
    const key = instantKey(descriptions.itemOf(group).get(listing.sortBy)?.string())
    return { id: group.id, key, group }
  })
  return listing.page(rows, user)
}

/**
 * Selects a page from the gateway's records, and requests its descriptions in one upstream call.
 *
 * The same call requests groups whose `CreateTime` is not recorded yet. If their times change the page, the new page is
 * described too.
 */
const pageByCreateTime = async (
  owners: Owners,
  candidates: readonly ReadableGroup[],
  descriptions: GroupDescriptions,
  listing: Listing,
  user: string,
): Promise<Page<GroupRow>> => {
  const { rows, undated } = sortByCreateTime(candidates)
  let page = listing.page(rows, user)
  while (page.items.some(({ group }) => !descriptions.isFetched(group))) {
    const shown = page.items.map(({ group }) => group)
    const wanted = [...shown, ...undated.filter((group) => !shown.includes(group))]
    const missing = wanted.filter((group) => !descriptions.isFetched(group)).slice(0, maxGroupsPerCall)
    await descriptions.fetch(missing)
    const dated = missing.flatMap((group) => {
      const createdAt = group.dated ? undefined : descriptions.createdAt(group)
      return createdAt === undefined ? [] : [{ id: group.id, createdAt }]
    })
    if (dated.length === 0) continue
    await owners.date(user, dated)
    const newRows = candidates.map((group) => rowOf(group, group.dated ? undefined : descriptions.createdAt(group)))
    page = listing.page(newRows, user)
  }
  return page
}

/** Computed once for each array of groups, which is cached until a group of the user is created, changed or deleted. */
const sortByCreateTime = memoize((groups: readonly ReadableGroup[]) => ({
  rows: new Ordered(groups.map((group) => rowOf(group))),
  undated: groups.filter((group) => !group.dated),
}))

const rowOf = (group: ReadableGroup, createdAt = group.createdAt): GroupRow => ({
  id: group.id,
  key: instantKeyOf(createdAt),
  group,
})

/** `GET /assets/groups/{id}`, an extension: one group in the form of the list. */
export const getGroup =
  (library: Library) =>
  async ({ group, caller }: { group: ReadableGroup; caller: Caller }): Promise<Response> => {
    const descriptions = new GroupDescriptions(library, group.type, caller)
    await descriptions.fetch([group])
    return result200(descriptions.itemOf(group).raw, descriptions.responses)
  }

interface ChangeContext {
  readonly request: Request
  readonly user: string
  readonly owners: Owners
  readonly group: OwnedGroup
  readonly caller: Caller
}

/**
 * `PUT` and `PATCH /assets/groups/{id}`, an extension: changes name, description or both. A name needs a claim, like
 * that of a new group.
 */
export const updateGroup =
  (library: Library, method: 'PUT' | 'PATCH') =>
  async ({ request, user, owners, group, caller }: ChangeContext): Promise<Response> => {
    const body = await readJsonBody(request, library.maxBodyBytes)
    const { name, description } = readGroupChange(body)
    rejectOtherId(body.json, group.id)
    for (const named of groupsNamed(body)) requireSameAccount(group, await owners.group(user, named))
    // Without the caller's signal, a rename continues when the caller disconnects, so that the gateway can record the
    // new name.
    const update = () =>
      library.upstream.send(
        { action: 'UpdateAssetGroup', group, method, body },
        name === undefined ? caller : { headers: caller.headers, user },
      )
    // Also for the name that the group has: a renaming may be in progress, or this call may arrive after a later one.
    const response =
      name !== undefined
        ? await sendUnderClaim(
            library,
            { user, type: group.type, name, description, renames: group.id, account: group.account },
            update,
            () => group.id,
          )
        : await update()
    if (name === undefined && description !== undefined) await owners.describe(group, description)
    owners.changed(group)
    library.audit.note({ action: 'group.update', target: { kind: 'group', id: group.id } }, request)
    return toResponse(response)
  }

/** `DELETE /assets/groups/{id}`, an extension: deletes the group. The upstream deletes the assets in it too. */
export const deleteGroup =
  (library: Library) =>
  async ({ request, owners, group, caller }: Omit<ChangeContext, 'user'>): Promise<Response> => {
    let response: UpstreamResponse
    try {
      response = await library.upstream.send({ action: 'DeleteAssetGroup', group }, caller)
    } catch (error) {
      // The group is already deleted, perhaps by an earlier call whose response was lost: delete its record and free
      // its name.
      if (error instanceof UpstreamRejectedError && isGone(error)) await owners.remove(group)
      throw error
    }
    await owners.remove(group)
    library.audit.note({ action: 'group.delete', target: { kind: 'group', id: group.id } }, request)
    return toResponse(response)
  }

/** Whether the upstream says that a group does not exist. */
export const isGone = ({ status, response }: UpstreamRejectedError): boolean =>
  status === 404 && new TextDecoder().decode(response.bytes).includes('NotFound.group_id')
