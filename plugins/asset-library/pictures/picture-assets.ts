import { createHash } from 'node:crypto'
import type { OwnedGroup } from '../../ownership/index.ts'
import { JsonBody } from '../../shared/http/body/body.ts'
import { toJson } from '../../shared/json/json.ts'
import type { NewPicture, PictureAsset, PictureAssets } from '../../shared/media/picture-assets.ts'
import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import { UpstreamBusyError, UpstreamRejectedError } from '../../upstream-proxy/index.ts'
import { addAsset, recordAsset } from '../creation/add-asset.ts'
import { assetsNamed } from '../creation/named-assets.ts'
import { addGroup, isGone } from '../routes/groups.ts'
import { type Creator, createdId, effectOf, type Library, type Owners } from '../routes/library.ts'
import { type DigestOf, holdsFile, pictureDigest } from './digest.ts'
import { isUsable, rejectedPicture, stateIn } from './states.ts'
import type { PictureRecord, PictureStore } from './store.ts'

/** Options of the assets of pictures. */
export interface PictureOptions {
  /** Which pictures are assets. `sluice/store` has it. */
  readonly store: PictureStore
  /**
   * Reads the file at an address that a user has given, so that the same bytes at two addresses become one asset. It
   * must not reach private networks. Default: each address counts as a picture of its own.
   */
  readonly digestOf?: DigestOf
  /**
   * Keeps a picture in a `data:` URL for an hour. Resolves with its address, which the upstream reads. Default: such
   * pictures do not become assets.
   */
  readonly keepFile?: (file: NewPicture & { readonly name: string }) => Promise<string>
}

/**
 * The group of a user's pictures on an account. It is a group like any other: its user may list, rename and delete it.
 *
 * Its name is its user's alone. Reconciliation finds the group of a lost response by its name, and could not tell the
 * groups of two users with the same one apart.
 */
export const pictureGroup = (user: string, account?: string): Pick<OwnedGroup, 'name' | 'description'> => ({
  name: `Pictures of videos ${digestOfText(account === undefined ? user : `${account} ${user}`).slice(0, 12)}`,
  description: 'Made by the gateway for video tasks with references: auto',
})

const digestOfText = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Name of an asset, by which it is found after a lost response. */
const nameOf = ({ digest }: Pick<PictureRecord, 'digest'>): string => `picture ${digest.slice(0, 40)}`

/**
 * Makes assets of pictures.
 *
 * A record is stored before the upstream call, and names the group. The name of the asset is made of the digest. So
 * after a crash or a lost response the group tells whether there is an asset: none is lost, and none is made twice. The
 * group and the asset belong to their user by the rules of ownership, as those that users create themselves.
 */
export const createPictureAssets = (
  library: Library,
  owners: Owners,
  { store, digestOf, keepFile }: PictureOptions,
): PictureAssets => {
  const { claimMs, clock, log, audit } = library
  const inStore = <Value>(call: Promise<Value>): Promise<Value> => storeCall(call, 'the picture could not be recorded')

  const stateOf = async (user: string, asset: string): Promise<PictureAsset> => {
    const located = await owners.locateAsset(user, asset).catch((error: unknown) => {
      if (error instanceof Problem && error.status === 403) return undefined
      throw error
    })
    const { evidence } = located ?? {}
    return evidence && !(evidence instanceof UpstreamRejectedError) ? stateIn(evidence, asset) : { state: 'busy' }
  }

  const groupOf = async (creator: Creator, account: string | undefined): Promise<OwnedGroup | undefined> => {
    const { name, description } = pictureGroup(creator.user, account)
    const named = async () =>
      (await owners.groupsOf(creator.user, 'AIGC')).find((group) => group.name === name && group.account === account)
    const known = await named()
    if (known) return known
    const body = new JsonBody(toJson({ Name: name, Description: description, GroupType: 'AIGC' }))
    try {
      const id = createdId(await addGroup(library, owners, creator, { name, description, body, account }))
      const { user } = creator
      audit.note({ action: 'group.create', user, target: { kind: 'group', id }, reason: 'references: auto' })
    } catch (error) {
      // Another call creates it, or the outcome of an earlier one is not known yet.
      const isClaimed = error instanceof Problem && !(error instanceof UpstreamRejectedError) && error.status === 400
      if (!isClaimed) throw error
    }
    return named()
  }

  /** The asset of a record whose call has ended without a known outcome. Undefined: it has made none. */
  const lostAsset = async (record: PictureRecord, group: OwnedGroup): Promise<string | undefined> => {
    for await (const { id } of assetsNamed(library, group, nameOf(record), record.user)) return id
    return undefined
  }

  /** The asset exists: its record says so. */
  const confirm = async (claim: PictureRecord, asset: string): Promise<true> => {
    if (!(await inStore(store.confirmPicture(claim, asset))))
      log.error({ asset, user: claim.user }, 'a picture may have become two assets: its record has changed')
    audit.note({
      ...{ action: 'asset.create', user: claim.user, target: { kind: 'asset', id: asset } },
      reason: 'references: auto',
    })
    return true
  }

  /** Settles a record without an asset. `undefined`: it is forgotten, and the asset can be made. */
  const settle = async (claim: PictureRecord): Promise<PictureAsset | undefined> => {
    if (clock.now() < claim.leaseUntil) return { state: 'busy' }
    const group = await owners.group(claim.user, claim.group).catch((error: unknown) => {
      if (error instanceof Problem && error.status === 403) return undefined
      throw error
    })
    const asset = group && (await lostAsset(claim, group))
    if (!group || asset === undefined) {
      await inStore(store.forgetPicture(claim))
      return undefined
    }
    await confirm(claim, asset)
    await recordAsset(library, owners, { asset, group })
    log.info({ asset, user: claim.user }, 'found the asset of a lost response')
    return stateOf(claim.user, asset)
  }

  const create = async (picture: NewPicture, digest: string, group: OwnedGroup): Promise<PictureAsset> => {
    const { user } = picture
    let claim: PictureRecord | undefined
    let made: string | undefined
    const begin = async (): Promise<JsonBody | undefined> => {
      const name = nameOf({ digest })
      const isFile = keepFile !== undefined && holdsFile(picture.url)
      const url = isFile ? await keepFile({ ...picture, name: name.replace(' ', '-') }) : picture.url
      const now = clock.now()
      const wanted = { user, digest, group: group.id, claimedAt: now, leaseUntil: now + claimMs }
      if (!(await inStore(store.claimPicture(wanted)))) return undefined
      claim = wanted
      // This process was suspended: the call would not end before another one settles the record.
      if (clock.now() > now + claimMs / 4) throw new UpstreamBusyError(503, 'the creation began too late')
      return new JsonBody(toJson({ GroupId: group.id, URL: url, AssetType: 'Image', Name: name }))
    }
    const created = async (asset: string): Promise<true> => {
      made = asset
      return confirm(claim as PictureRecord, asset)
    }
    try {
      await addAsset(library, owners, picture, { group, begin, created })
    } catch (error) {
      // When the call has certainly made nothing, the record is forgotten.
      if (claim && made === undefined && effectOf(error) === 'none') await inStore(store.forgetPicture(claim))
      if (error instanceof UpstreamRejectedError && isGone(error)) await owners.remove(group)
      throw error
    }
    return made === undefined ? { state: 'busy' } : { state: 'processing', asset: made }
  }

  const register = async (picture: NewPicture): Promise<PictureAsset> => {
    const { user, url, signal } = picture
    const account = picture.account ?? library.upstream.accounts?.names[0]
    const read = await pictureDigest(url, digestOf, signal)
    // The same picture is another asset on another account.
    const digest = account === undefined ? read : digestOfText(`${account} ${read}`)
    const known = await inStore(store.picture(user, digest))
    if (known?.asset !== undefined) {
      const state = await stateOf(user, known.asset)
      if (isUsable(state)) return state
      // It was deleted, or the upstream failed to read it.
      await inStore(store.forgetPicture(known))
    } else if (known) {
      const settled = await settle(known)
      if (settled) return settled
    }
    const group = await groupOf(picture, account)
    return group ? create(picture, digest, group) : { state: 'busy' }
  }

  return {
    takesFiles: keepFile !== undefined,
    stateOf,
    async register(picture) {
      try {
        return await register(picture)
      } catch (error) {
        if (error instanceof UpstreamBusyError) return { state: 'busy' }
        const rejected = error instanceof UpstreamRejectedError ? rejectedPicture(error) : undefined
        if (rejected) return rejected
        throw error
      }
    },
  }
}
