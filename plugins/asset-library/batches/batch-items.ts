import type { OwnedGroup } from '../../ownership/index.ts'
import { JsonBody } from '../../shared/http/body/body.ts'
import { readJson, toJson } from '../../shared/json/json.ts'
import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import { UpstreamBusyError, UpstreamRejectedError } from '../../upstream-proxy/index.ts'
import { addAsset, recordAsset } from '../creation/add-asset.ts'
import { assetsNamed } from '../creation/named-assets.ts'
import { rejectedPicture } from '../pictures/states.ts'
import { isGone } from '../routes/groups.ts'
import { effectOf, type Library, type Owners } from '../routes/library.ts'
import type { AssetBatch, AssetBatchItem, AssetBatchOutcome, AssetBatchStore } from './store.ts'

/** Calls for one item whose outcome was not known. An item that is tried again gets up to that many more. */
const maxAttempts = 5
/** Milliseconds until the next item of a batch when the upstream fails or does not say when. */
const pauseMs = 10_000
/** Milliseconds behind the time that the upstream or its rate limit names: other users come first. */
const behindOthersMs = 1_000
/** Maximum clock skew of the upstream, in milliseconds. */
const skewMs = 300_000

/** Works on the items of batches. */
export interface BatchItems {
  /**
   * Creates the asset of an item that waits, or finds out what has become of a call without an outcome. Resolves with
   * the time of the next item of the batch; undefined: at once.
   */
  work(batch: AssetBatch, item: AssetBatchItem): Promise<number | undefined>
}

/**
 * An item is claimed in the store before its call, under a name that no other item of the batch has. So after a crash
 * or a lost response, the group tells whether there is an asset: none is lost, and none is made twice.
 */
export const createBatchItems = (library: Library, owners: Owners, store: AssetBatchStore): BatchItems => {
  const { claimMs, clock, log, audit } = library
  const inStore = <Value>(call: Promise<Value>): Promise<Value> => storeCall(call, 'the batch could not be recorded')

  const settle = (item: AssetBatchItem, outcome: AssetBatchOutcome): Promise<boolean> =>
    inStore(store.settleAssetBatchItem(item, outcome))

  const fail = async (item: AssetBatchItem, code: string, message: string, state: 'failed' | 'unknown' = 'failed') => {
    await settle(item, { state, error: JSON.stringify({ code, message }) })
    return undefined
  }

  const groupOf = ({ user, group, groupType }: AssetBatch): Promise<OwnedGroup | undefined> =>
    owners.group(user, group, groupType).catch((error: unknown) => {
      if (error instanceof Problem && error.status === 403) return undefined
      throw error
    })

  const noteCreation = ({ user, token }: AssetBatch, asset: string): void =>
    audit.note({
      ...{ action: 'asset.create', user, ...(token !== undefined && { token }) },
      ...{ target: { kind: 'asset', id: asset }, reason: 'batch' },
    })

  const create = async (batch: AssetBatch, item: AssetBatchItem, group: OwnedGroup): Promise<number | undefined> => {
    let claim: AssetBatchItem | undefined
    let made: string | undefined
    const begin = async (): Promise<JsonBody | undefined> => {
      const now = clock.now()
      claim = await inStore(store.claimAssetBatchItem(item, now, now + claimMs))
      if (!claim) return undefined
      // This process was suspended: the call would not end before another one settles the item.
      if (clock.now() > now + claimMs / 4) throw new UpstreamBusyError(503, 'the creation began too late')
      return new JsonBody(readJson(item.body).with('GroupId', toJson(group.id)))
    }
    const created = async (asset: string): Promise<true> => {
      made = asset
      noteCreation(batch, asset)
      if (claim && !(await settle(claim, { state: 'created', asset })))
        log.error({ batch: batch.id, item: item.position, asset }, 'an item of a batch may have become two assets')
      return true
    }
    try {
      await addAsset(library, owners, batch, { group, begin, created })
      return undefined
    } catch (error) {
      if (made !== undefined) throw error
      if (error instanceof UpstreamRejectedError && isGone(error)) await owners.remove(group)
      return afterFailure(error, item, claim)
    }
  }

  /** What a call that has failed means for its item and the next ones. */
  const afterFailure = async (
    error: unknown,
    item: AssetBatchItem,
    claim: AssetBatchItem | undefined,
  ): Promise<number | undefined> => {
    if (isFinal(error)) return fail(claim ?? item, codeOf(error, claim !== undefined), error.message)
    if (!claim) throw error
    const now = clock.now()
    if (effectOf(error) !== 'none') {
      // What it has done is looked for when its lease has ended.
      log.info({ err: error, batch: item.batch, item: item.position }, 'the response to an item of a batch was lost')
      return now + pauseMs
    }
    const rejected = error instanceof UpstreamRejectedError ? rejectedPicture(error) : undefined
    if (rejected?.state === 'failed') return fail(claim, rejected.code, rejected.message)
    await settle(claim, { state: 'waiting' })
    return (retryTimeOf(error, now) ?? now + pauseMs) + behindOthersMs
  }

  /** Finds out what has become of a call without an outcome. */
  const settleLost = async (batch: AssetBatch, item: AssetBatchItem): Promise<undefined> => {
    const group = await groupOf(batch)
    const found = group ? await lostAssets(batch, item, group) : []
    const [asset, ...others] = found
    if (group && asset !== undefined && others.length === 0) {
      if (!(await settle(item, { state: 'created', asset }))) return ambiguous(item)
      noteCreation(batch, asset)
      log.info({ batch: batch.id, item: item.position, asset }, 'found the asset of a lost response')
      return recordAsset(library, owners, { asset, group }) as Promise<undefined>
    }
    if (others.length > 0) return ambiguous(item)
    if (item.attempts % maxAttempts === 0) return fail(item, 'InternalError', 'the upstream did not answer')
    await settle(item, { state: 'waiting' })
    return undefined
  }

  const ambiguous = (item: AssetBatchItem): Promise<undefined> =>
    fail(item, 'OutcomeUnknown', 'the answer was lost, and several assets of the group have this name', 'unknown')

  /** Assets with the name of an item that nobody was told of, from the time of its call on. Two are enough. */
  const lostAssets = async (
    { user }: AssetBatch,
    { name, claimedAt = 0 }: AssetBatchItem,
    group: OwnedGroup,
  ): Promise<readonly string[]> => {
    const found: string[] = []
    for await (const { id, createdAt } of assetsNamed(library, group, name, user)) {
      if (createdAt !== undefined && createdAt < claimedAt - skewMs) break
      if ((await library.assets.groupOfAsset(id)) !== undefined) continue
      if (found.push(id) > 1) break
    }
    return found
  }

  return {
    async work(batch, item) {
      if (item.state === 'sending') return settleLost(batch, item)
      const group = await groupOf(batch)
      if (!group) return fail(item, 'NotFound.group_id', 'the group does not exist any more')
      return create(batch, item, group)
    },
  }
}

/** A refusal of this gateway that another try would meet too. */
const isFinal = (error: unknown): error is Problem =>
  error instanceof Problem &&
  error.status < 500 &&
  !(error instanceof UpstreamBusyError || error instanceof UpstreamRejectedError)

/** What a refusal of this gateway is in the vendor's words. Those before the call are about the user and the group. */
const codeOf = ({ status }: Problem, isCalled: boolean): string => {
  if (status === 429) return 'QuotaExceeded'
  if (status === 403) return isCalled ? 'NotFound.group_id' : 'consent_withdrawn'
  return 'InvalidParameter'
}

/** When the upstream or its rate limit takes the next call: at most an hour later. */
const retryTimeOf = (error: unknown, now: number): number | undefined => {
  const upstream = error instanceof UpstreamRejectedError ? error.response.headers.get('retry-after') : undefined
  const text = upstream ?? (error instanceof Problem ? error.headers['retry-after'] : undefined)
  return text && /^\d{1,6}$/.test(text) ? now + 1000 * Math.min(3_600, Number(text)) : undefined
}
