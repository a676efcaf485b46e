import assert from 'node:assert/strict'
import fc from 'fast-check'
import { groupListFault, injectFault } from '../faults.ts'
import type { Fixture } from '../fixture.ts'
import { checkAsset, checkGroup, checkList, updateCreateTimes } from '../list-check.ts'
import { type Endpoint, groupId, type ListRequest, listRequest, pick, resolveRequest } from '../list-request.ts'
import type { Model, ModelGroup, ModelShare, Scope } from '../model.ts'
import { checkError, checkInvalid, messages, sendChecked } from '../send.ts'
import { step, user } from '../step.ts'

const teamName = (model: Model): string => `team of ${model.users[0]?.id}`

/** The team of the model, which has members from the first change of it on. */
const teamId = async (model: Model, { gateway: { store } }: Fixture): Promise<string> => {
  const name = teamName(model)
  const added = await store.addTeam({ name, createdAt: 1 })
  return added === 'name-taken' ? String((await store.teamByName(name))?.id) : added.id
}

const sharesPath = (id: string): string => `/assets/groups/${encodeURIComponent(id)}/shares`

/** Such an id makes the path another one. */
const isOdd = (id: string): boolean => id === '' || /^\.{1,2}$/.test(id)

/** A group to lend: mostly one of the user's own. */
const lentPick = fc.oneof({ arbitrary: fc.nat(20), weight: 4 }, { arbitrary: pick(), weight: 1 })

const chosenGroup = (model: Model, user: number, chosen: number | Parameters<typeof groupId>[2]): string => {
  if (typeof chosen !== 'number') return groupId(model, user, chosen)
  const own = model.groupsOf(user)
  return own[chosen % own.length]?.id ?? 'group-20260101000000-zzzzz'
}

interface Lending {
  readonly user: number
  readonly id: string
  readonly borrower: 0 | 1 | 2 | 'team' | 'unknown' | 'other team'
  readonly access: 'read' | 'use'
  readonly lasts?: number | undefined
}

const lendChecked = async (
  { user, id, borrower, access, lasts }: Lending,
  model: Model,
  fixture: Fixture,
): Promise<void> => {
  const expiresAt = lasts === undefined ? undefined : fixture.now() + lasts
  const body = {
    ...(typeof borrower === 'number' && { User: model.users[borrower]?.id }),
    ...(borrower === 'team' && { Team: teamName(model) }),
    ...(borrower === 'unknown' && { User: 'nobody' }),
    ...(borrower === 'other team' && { Team: 'nobody' }),
    ...{ Access: access, ...(expiresAt !== undefined && { ExpireTime: new Date(expiresAt).toISOString() }) },
  }
  const reply = await sendChecked(fixture, model, { user, method: 'POST', path: sharesPath(id), body, named: [id] })
  assert.equal(fixture.emulator.calls.length, 0)
  if (isOdd(id)) return assert.ok(reply.status >= 400)
  if (!model.ownsGroup(user, id)) return checkError(reply, 403, messages.group)
  if (lasts === -1) return checkInvalid(reply)
  if (model.hasWithdrawn(id) && borrower !== user) return checkError(reply, 409, messages.lend)
  const isBorrower = borrower === 'team' ? model.team.has(user) : typeof borrower === 'number' && borrower !== user
  if (!isBorrower || typeof borrower === 'string') {
    if (borrower !== 'team' || !isBorrower) return checkError(reply, 404, messages.borrower)
  }
  assert.equal(reply.status, 200, reply.text)
  const same = model.openShares().find((share) => share.group === id && share.borrower === borrower)
  if (same) assert.equal(reply.json.Result.Id, same.id)
  const share: ModelShare = {
    ...{ id: reply.json.Result.Id, group: id, owner: user, expiresAt },
    ...{ borrower: borrower as ModelShare['borrower'], access: access as ModelShare['access'] },
  }
  assert.deepEqual(shownOf(reply.json.Result), expectedOf(share, model))
  model.shares = [...model.shares.filter((each) => each.group !== id || each.borrower !== borrower), share]
  model.everLent.add(id)
}

const access = fc.constantFrom('read', 'use')

export const lend = step(
  'lend a group',
  fc.record({
    user,
    group: lentPick,
    borrower: fc.constantFrom<Lending['borrower']>(0, 1, 2, 'team', 'team', 'unknown', 'other team'),
    access,
    lasts: fc.constantFrom(undefined, undefined, undefined, 2_000, 60_000, -1),
  }),
  ({ group, ...lending }, model, fixture) =>
    lendChecked({ ...lending, id: chosenGroup(model, lending.user, group) }, model, fixture),
)

export const lendFace = step(
  'lend a group of a person',
  fc.record({ at: fc.nat(40), to: fc.constantFrom(1, 2), access }),
  async ({ at, to, access }, model, fixture) => {
    const faces = [...model.groups.values()].filter(({ type, owner }) => type === 'LivenessFace' && owner !== undefined)
    const group = faces[at % faces.length]
    if (group?.owner === undefined) return
    const borrower = ((group.owner + to) % 3) as 0 | 1 | 2
    await lendChecked({ user: group.owner, id: group.id, borrower, access }, model, fixture)
  },
)

const shownOf = ({ Id, User, Team, Access, ExpireTime }: Record<string, unknown>) => ({
  ...{ Id, User, Team, Access },
  ExpireTime: typeof ExpireTime === 'string' ? Date.parse(ExpireTime) : undefined,
})

const expectedOf = ({ id, borrower, access, expiresAt }: ModelShare, model: Model) => ({
  Id: id,
  User: borrower === 'team' ? undefined : model.users[borrower]?.id,
  Team: borrower === 'team' ? teamName(model) : undefined,
  ...{ Access: access, ExpireTime: expiresAt },
})

export const revoke = step(
  'revoke a share',
  fc.record({ user, at: fc.nat(20), byOwner: fc.boolean(), elsewhere: fc.nat(3) }),
  async ({ user, at, byOwner, elsewhere }, model, fixture) => {
    const share = model.shares[at % model.shares.length]
    if (!share) return
    const who = byOwner ? share.owner : user
    const other = model.groupsOf(who)[at % 3]?.id ?? share.group
    const group = elsewhere === 0 ? other : share.group
    const path = `${sharesPath(group)}/${share.id}`
    const reply = await sendChecked(fixture, model, { user: who, method: 'DELETE', path, named: [group] })
    assert.equal(fixture.emulator.calls.length, 0)
    if (!model.ownsGroup(who, group)) return checkError(reply, 403, messages.group)
    const isOpen = model.openShares().includes(share)
    if (group !== share.group || who !== share.owner) return checkError(reply, 404, messages.share)
    // An expired share may be gone already.
    if (isOpen || reply.status !== 404) assert.equal(reply.status, 200, reply.text)
    model.shares = model.shares.filter((each) => each !== share)
  },
)

export const listShares = step(
  'list the shares of a group',
  fc.record({ user, group: lentPick }),
  async ({ user, group }, model, fixture) => {
    const id = chosenGroup(model, user, group)
    const reply = await sendChecked(fixture, model, { user, method: 'GET', path: sharesPath(id), named: [id] })
    if (isOdd(id)) return assert.ok(reply.status >= 400)
    if (!model.ownsGroup(user, id)) return checkError(reply, 403, messages.group)
    const expected = model.openShares().filter((share) => share.group === id)
    const { Items, TotalCount } = reply.json.Result
    const byId = (a: { Id: unknown }, b: { Id: unknown }) => (String(a.Id) < String(b.Id) ? -1 : 1)
    assert.deepEqual(
      Items.map(shownOf).toSorted(byId),
      expected.map((share) => expectedOf(share, model)).toSorted(byId),
    )
    assert.equal(TotalCount, expected.length)
  },
)

export const changeTeam = step(
  'join or leave the team',
  fc.record({ user, joins: fc.oneof(fc.constant(true), fc.boolean()) }),
  async ({ user, joins }, model, fixture) => {
    const team = joins ? await teamId(model, fixture) : null
    await fixture.gateway.store.changeUser(model.users[user]?.id ?? '', { team }, { now: fixture.now() })
    if (joins) model.team.add(user)
    else {
      if (model.team.has(user))
        model.shares = model.shares.filter(({ owner, borrower }) => owner !== user || borrower !== 'team')
      model.team.delete(user)
    }
  },
)

export const disable = step('disable and enable a user', fc.record({ user }), async ({ user }, model, fixture) => {
  const id = model.users[user]?.id ?? ''
  for (const disabled of [true, false]) await fixture.gateway.store.changeUser(id, { disabled }, { now: fixture.now() })
  model.shares = model.shares.filter(({ owner, borrower }) => owner !== user && borrower !== user)
})

export const listScoped = (endpoint: Endpoint) =>
  step(
    `list ${endpoint} with a scope`,
    fc.record({
      user,
      request: listRequest(),
      scope: fc.constantFrom<Scope>('own', 'shared', 'shared', 'all', 'all'),
      names: fc.boolean(),
      at: fc.nat(20),
    }),
    async ({ user, request, scope, names, at }, model, fixture) => {
      const fault = endpoint === 'groups' ? groupListFault(request.fault) : request.fault
      const resolved = resolveRequest(
        model,
        user,
        endpoint,
        narrowed({ request, scope, names, at }, model, user),
        scope,
      )
      injectFault(fixture.emulator, fault, endpoint === 'groups' ? 'ListAssetGroups' : 'ListAssets')
      const { path, body, named } = resolved
      const readsLent = scope !== 'own'
      const reply = await sendChecked(fixture, model, { user, method: 'GET', path, body, named, readsLent })
      await updateCreateTimes(model, fixture)
      checkList(model, fixture.emulator.library, { user, request: resolved, fault }, reply)
    },
  )

interface Narrowing {
  readonly request: ListRequest
  readonly scope: Scope
  readonly names: boolean
  readonly at: number
}

/** The request; sometimes with the id of a group that is lent to the user. */
const narrowed = ({ request, names, at }: Narrowing, model: Model, user: number): ListRequest => {
  const lent = model.groupsIn('shared', user)
  const group = lent[at % lent.length]
  if (!names || !group) return request
  const GroupIds = [{ of: 'exact', at: 0, text: group.id }] as const
  return { ...request, query: { ...request.query, GroupIds, GroupType: group.type } }
}

export const detailOfLent = step(
  'detail of a lent group or asset',
  fc.record({ user, at: fc.nat(40), ever: fc.boolean() }),
  async ({ user, at, ever }, model, fixture) => {
    const groups = ever ? [...model.everLent].map((id) => model.groups.get(id)) : model.groupsIn('shared', user)
    const group: ModelGroup | undefined = groups[at % groups.length]
    if (!group) return
    const { library } = fixture.emulator
    const ask = (path: string, id: string) =>
      sendChecked(fixture, model, { user, method: 'GET', path: `${path}/${id}`, named: [id], readsLent: true })
    const detail = await ask('/assets/groups', group.id)
    if (!model.readsGroup(user, group.id)) checkError(detail, 403, messages.group)
    else checkGroup(library, group, 'none', detail.json.Result, model.accessOf(user, group.id))
    const assets = [...model.assets.values()].filter((each) => each.group === group.id && !each.deleted)
    const asset = assets[at % assets.length]
    if (!asset) return
    const found = await ask('/assets', asset.id)
    if (!model.readsAsset(user, asset.id)) return checkError(found, 403, messages.asset)
    assert.equal(found.status, 200, found.text)
    checkAsset(library, asset.id, found.json.Result)
  },
)

export const returnLent = step(
  'give a group back',
  fc.record({ user, at: fc.nat(40), ever: fc.boolean() }),
  async ({ user, at, ever }, model, fixture) => {
    const groups = ever ? [...model.groups.values()] : model.groupsIn('shared', user)
    const id = groups[at % groups.length]?.id
    if (id === undefined) return
    const path = `/assets/groups/${encodeURIComponent(id)}/return`
    const reply = await sendChecked(fixture, model, { user, method: 'POST', path, named: [id] })
    if (model.ownsGroup(user, id)) return assert.equal(reply.status, 409, reply.text)
    if (!model.readsGroup(user, id)) return checkError(reply, 403, messages.group)
    const isOwn = (share: ModelShare) => share.group === id && share.borrower === user
    assert.equal(reply.status, model.openShares().some(isOwn) ? 200 : 409, reply.text)
    model.shares = model.shares.filter((share) => !isOwn(share))
  },
)
