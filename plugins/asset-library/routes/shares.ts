import { Buffer } from 'node:buffer'
import {
  isLent,
  type OwnedGroup,
  type ReadableGroup,
  type Share,
  type ShareStore,
  type WantedShare,
} from '../../ownership/index.ts'
import type { Awaitable } from '../../shared/awaitable.ts'
import { readJsonBody } from '../../shared/http/body/body.ts'
import { noStoreJson } from '../../shared/http/no-store.ts'
import { readId } from '../../shared/id.ts'
import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import { isoOf } from '../lists/group-descriptions.ts'
import { readNewShare } from '../schema/share.ts'
import type { GroupShare, SharedUseView } from '../schema/types.ts'
import { createOnce, type Library } from './library.ts'

/** Options of shares: groups that their owners lend to others. */
export interface ShareOptions {
  /** Which groups are lent to whom. `sluice/store` has it. */
  readonly store: ShareStore
  /**
   * Whether the host app has an enabled user with this id. Default: groups can be lent to the users of the store alone.
   *
   * A caller learns whether it has one: with ids that can be guessed, say yes to all of them.
   */
  readonly isUser?: (id: string) => Awaitable<boolean>
}

interface GroupContext {
  readonly request: Request
  readonly user: string
  readonly group: OwnedGroup
}

/**
 * `POST /assets/groups/{id}/shares`, an extension: lends a group of the caller. A share with the same borrower is
 * changed.
 */
export const createShare =
  (library: Library, shares: ShareOptions) =>
  async ({ request, user, group }: GroupContext): Promise<Response> => {
    const { clock, audit, maxBodyBytes } = library
    const body = await readJsonBody(request, maxBodyBytes)
    const creation = {
      // The group is in the path, so a key with another group is one with another request.
      ...{ user, route: 'shareAssetGroup', body: Buffer.concat([Buffer.from(`${group.id}\n`), body.bytes]) },
      // Lending again changes nothing.
      settle: async () => ({ outcome: 'none' as const }),
    }
    return createOnce(library, request, creation, async () => {
      const wanted = readNewShare(body, clock.now())
      const share = await lend(shares, { ...wanted, group, now: clock.now() })
      const reason = `${share.access} for ${share.user === undefined ? 'the team' : `the user ${share.user}`}`
      const fields = body.json.members().map(({ key }) => key)
      audit.note({ action: 'share.create', target: { kind: 'group', id: group.id }, fields, reason }, request)
      return noStoreJson({ Result: shown(share) })
    })
  }

const lend = async ({ store, isUser }: ShareOptions, wanted: Omit<WantedShare, 'isKnown'>): Promise<Share> => {
  const { borrower } = wanted
  const isKnown = 'user' in borrower && isUser !== undefined && (await isUser(borrower.user))
  const share = await storeCall(store.lendGroup({ ...wanted, isKnown }), 'failed to lend the asset group')
  // It was deleted since the guard has checked it, or its owner was disabled.
  if (share === 'no-group') throw new Problem(409, 'the asset group can no longer be lent')
  if (share === 'no-borrower') throw new Problem(404, 'there is no such user or team to lend to')
  if (share === 'full') throw new Problem(429, 'the maximum number of shares is reached')
  return share
}

/** `GET /assets/groups/{id}/shares`, an extension: to whom the caller lends a group. */
export const listShares =
  ({ clock }: Library, { store }: ShareOptions) =>
  async ({ group }: Pick<GroupContext, 'group'>): Promise<Response> => {
    const found = await storeCall(store.sharesOf(group, clock.now()), 'failed to read the shares')
    return noStoreJson({ Result: { Items: found.map(shown), NextToken: '', TotalCount: found.length } })
  }

/** `DELETE /assets/groups/{id}/shares/{share_id}`, an extension: ends a share at once. */
export const deleteShare =
  ({ audit }: Library, { store }: ShareOptions) =>
  async ({ request, group, params }: GroupContext & { readonly params: { readonly share_id: string } }) => {
    const id = readId(params.share_id)
    const revoked = id !== undefined && (await storeCall(store.revokeShare(group, id), 'failed to end the share'))
    if (!revoked) throw new Problem(404, 'share not found')
    audit.note({ action: 'share.revoke', target: { kind: 'group', id: group.id }, reason: id }, request)
    return noStoreJson({ Result: { Id: id } })
  }

/** Uses that a response shows. */
const maxUses = 100

/** `GET /assets/groups/{id}/shares/uses`, an extension: who has used the caller's assets, without what was made. */
export const listSharedUses =
  (_: Library, { store }: ShareOptions) =>
  async ({ group }: Pick<GroupContext, 'group'>): Promise<Response> => {
    const found = await storeCall(store.sharedUses(group, maxUses + 1), 'failed to read the uses of borrowers')
    const items = found.slice(0, maxUses).map(
      ({ user, userName, asset, at }): SharedUseView => ({
        ...(user !== undefined && { User: user }),
        ...(userName !== undefined && { UserName: userName }),
        ...{ AssetId: asset, UseTime: isoOf(at) },
      }),
    )
    return noStoreJson({ Result: { Items: items, HasMore: found.length > maxUses } })
  }

/** `POST /assets/groups/{id}/return`, an extension: a borrower gives a group back. */
export const returnGroup =
  ({ audit }: Library, { store }: ShareOptions) =>
  async ({ request, user, group }: Omit<GroupContext, 'group'> & { readonly group: ReadableGroup }) => {
    if (!isLent(group)) throw new Problem(409, 'the asset group is your own')
    if ((await storeCall(store.returnGroup(group, user), 'failed to return the asset group')) === 'team')
      throw new Problem(409, 'the asset group is lent to your team, and not to you alone')
    audit.note({ action: 'share.return', target: { kind: 'group', id: group.id } }, request)
    return noStoreJson({ Result: { Id: group.id } })
  }

const shown = ({ id, user, team, access, createdAt, expiresAt, usedAt }: Share): GroupShare => ({
  Id: id,
  ...(user !== undefined && { User: user }),
  ...(team !== undefined && { Team: team }),
  Access: access,
  CreateTime: isoOf(createdAt),
  ...(expiresAt !== undefined && { ExpireTime: isoOf(expiresAt) }),
  ...(usedAt !== undefined && { LastUseTime: isoOf(usedAt) }),
})
