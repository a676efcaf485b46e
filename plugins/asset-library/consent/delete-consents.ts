import type { OwnedGroup } from '../../ownership/index.ts'
import type { Background, RunningJob } from '../../shared/background/background.ts'
import type { LeaseStore } from '../../shared/background/lease-store.ts'
import type { Consent, ConsentDeletionStep, ConsentStore } from '../../shared/consent/store.ts'
import { readId } from '../../shared/id.ts'
import type { AssetUses } from '../../shared/media/asset-uses.ts'
import { Problem } from '../../shared/problem.ts'
import { itemsOf, UpstreamInvalidError, UpstreamRejectedError } from '../../upstream-proxy/index.ts'
import { isGone } from '../routes/groups.ts'
import type { Library, Owners } from '../routes/library.ts'
import { tellDeletedAsset } from '../watch/asset-watch.ts'

const everyMs = 10_000
/** Pause after a step that has failed, and until tasks that run are looked at again. */
const retryMs = 30_000
/** Pause after the upstream has refused to delete an empty group: it does so while the person is authorized there. */
const refusedMs = 3_600_000
/** Consents of one round. The next ones come in the next round. */
const maxConsents = 16
/** Assets, or results, of one step. What a step has done is recorded. */
const stepSize = 100

/** What the job needs beside the library. */
export interface DeleteConsentsOptions {
  readonly store: ConsentStore & LeaseStore
  /** Undefined: the gateway makes no videos. */
  readonly uses: (() => AssetUses) | undefined
}

/**
 * Deletes what withdrawn consents were about, in one process at a time: the assets and the group at the upstream, and
 * the results that the gateway keeps. Each step is recorded, so another process goes on where this one has ended.
 */
export const deleteConsents = (
  library: Library,
  owners: Owners,
  { store, uses }: DeleteConsentsOptions,
  background: Background,
): RunningJob => {
  const { upstream, claimMs, clock, log } = library

  /** The group, while its owner has it: undefined when it has been deleted. */
  const groupOf = async ({ owner, group }: Consent): Promise<OwnedGroup | undefined> => {
    try {
      return await owners.group(owner, group)
    } catch (error) {
      if (error instanceof Problem && error.status === 403) return undefined
      throw error
    }
  }

  /** Deletes up to `stepSize` assets of a group. Resolves with their number, and with whether there may be more. */
  const deleteAssets = async (
    group: OwnedGroup,
    signal: AbortSignal,
  ): Promise<{ readonly assets: number; readonly more: boolean }> => {
    const { user } = group
    const query = { groupType: group.type, groups: [group], sortBy: 'CreateTime', sortOrder: 'Asc' } as const
    const items = await upstream
      .send({ action: 'ListAssets', query: { ...query, paging: { maxResults: stepSize } } }, { user })
      .then(itemsOf, (error: unknown) => {
        if (error instanceof UpstreamRejectedError && isGone(error)) return []
        throw error
      })
    let [seen, assets] = [0, 0]
    for (const item of items) {
      signal.throwIfAborted()
      const id = readId(item.get('Id')?.string())
      if (id === undefined || item.get('GroupId')?.string() !== group.id) continue
      seen++
      owners.cacheGroup(id, group)
      const asset = await owners.asset(user, id)
      try {
        await upstream.send({ action: 'DeleteAsset', asset }, { user })
        assets++
      } catch (error) {
        if (!isAbsent(error)) {
          // Those before it are counted first.
          if (assets > 0) return { assets, more: true }
          throw error
        }
      }
      await owners.deleted(asset, clock.now())
      await tellDeletedAsset(library, id, user)
    }
    if (seen === 0 && items.length > 0) throw new UpstreamInvalidError('a list with assets of other groups')
    return { assets, more: seen > 0 }
  }

  /** Deletes results. Resolves with their number, and with whether there may be more. */
  const deleteResults = async (group: string): Promise<{ readonly results: number; readonly more: boolean }> => {
    const tasks = await store.consentTasks(group, stepSize)
    let results = 0
    for (const { id, user, hasEnded } of tasks) if (hasEnded && (await uses?.().remove(user, id))) results++
    return { results, more: tasks.length > 0 }
  }

  const deleteGroup = async (group: OwnedGroup): Promise<'deleted' | 'refused'> => {
    try {
      await upstream.send({ action: 'DeleteAssetGroup', group }, { user: group.user })
    } catch (error) {
      if (!(error instanceof UpstreamRejectedError)) throw error
      if (!isGone(error)) {
        if (error.status >= 500 || error.status === 429) throw error
        log.info({ group: group.id }, 'the upstream keeps the group of a withdrawn consent for now')
        return 'refused'
      }
    }
    await owners.remove(group)
    return 'deleted'
  }

  /** One step. Its results come first: they do not need the upstream of the assets. */
  const step = async (consent: Consent, signal: AbortSignal): Promise<ConsentDeletionStep> => {
    const { group: id, deletion } = consent
    if (!deletion?.resultsAt) {
      const { results, more } = await deleteResults(id)
      if (results > 0) return { group: id, results, dueAt: clock.now() }
      if (!more) return { group: id, resultsAt: clock.now(), dueAt: clock.now() }
    }
    const group = await groupOf(consent)
    // Tasks that run are waited for, and meanwhile the assets are deleted.
    const later = deletion?.resultsAt ? undefined : clock.now() + retryMs
    if (!deletion?.assetsAt) {
      const { assets, more } = group ? await deleteAssets(group, signal) : { assets: 0, more: false }
      // A list that still has what is deleted is asked for again later.
      if (more) return { group: id, assets, dueAt: clock.now() + (assets > 0 ? 0 : retryMs) }
      return { group: id, assetsAt: clock.now(), dueAt: clock.now() }
    }
    if (!deletion.groupAt) {
      // A creation that began before the withdrawal may have ended since its assets were listed.
      const listedAt = clock.now()
      const late = group ? await deleteAssets(group, signal) : { assets: 0, more: false }
      if (late.more) return { group: id, assets: late.assets, dueAt: clock.now() + (late.assets > 0 ? 0 : retryMs) }
      if (group && (await deleteGroup(group)) === 'refused') {
        const callsEndAt = deletion.at + claimMs
        return { group: id, dueAt: later ?? (listedAt < callsEndAt ? callsEndAt : clock.now() + refusedMs) }
      }
      return { group: id, groupAt: clock.now(), ...(later !== undefined && { dueAt: later }) }
    }
    return { group: id, ...(later !== undefined && { dueAt: later }) }
  }

  return background.repeat({
    ...{ everyMs, log, failure: 'withdrawn consents could not be read' },
    lease: { store, name: 'consent-deletions', clock },
    async run(signal) {
      const due = await store.dueConsentDeletions(clock.now(), maxConsents)
      for (const consent of due) {
        if (signal.aborted) return everyMs
        const done = await step(consent, signal).catch((err: unknown): ConsentDeletionStep => {
          if (!signal.aborted)
            log.warn({ err, group: consent.group }, 'a deletion of a withdrawn consent could not go on')
          return { group: consent.group, dueAt: clock.now() + retryMs }
        })
        await store.noteConsentDeletion(done)
      }
      return due.length > 0 ? 0 : everyMs
    },
  })
}

/** An asset that is gone already: the response to an earlier call was lost, or the list is older. */
const isAbsent = (error: unknown): boolean => error instanceof UpstreamRejectedError && error.status === 404
