import { adviceFor } from '../../failure-advice/index.ts'
import { instantOf } from '../../pagination-normalizer/index.ts'
import type { Background } from '../../shared/background/background.ts'
import { divide } from '../../shared/background/divide.ts'
import { readId } from '../../shared/id.ts'
import type { Json } from '../../shared/json/json.ts'
import { asJsonObject } from '../../shared/json/parsed.ts'
import { Problem } from '../../shared/problem.ts'
import { scopeOfUpstreamFailure } from '../../shared/upstream/failure-scope.ts'
import { groupBatches, itemsOf, type ListQuery, UpstreamRejectedError } from '../../upstream-proxy/index.ts'
import { type Library, locateAsset, type Owners } from '../routes/library.ts'
import type { AssetEvents, AssetProgress, AssetWatch } from './asset-events.ts'

const everyMs = 2_000
/** Calls of the background, under the limits that it shares with all callers. */
const callsPerSecond = 2
const maxDue = 200
const pageSize = 100
/** The upstream shows no page behind these. */
const maxPages = 100
/** By how much the clock of the upstream may be behind. */
const maxClockSkewMs = 60_000
/** Up to this number of assets, one call for each costs less than a list: the upstream allows ten times as many. */
const maxSingle = 2
/** Single calls of a round for assets that no page has shown: deleted or moved ones, or too many changes. */
const maxUnlisted = 5
/** Calls of a round, beyond one a batch, that look for the groups for which a list fails. */
const maxExtraCalls = 20
const giveUpMs = 86_400_000
const busyMs = 10_000

/** Processing takes seconds for an image, and minutes for a video. */
const pollDelayMs = (polls: number): number => Math.min(60_000, Math.round(3_000 * 1.6 ** Math.min(polls, 20)))

/** The first fields of an asset: what its owner needs to know, without its address, which expires. */
const fields = ['Id', 'GroupId', 'Name', 'AssetType', 'Status', 'Error'] as const

/** How the calls of a round follow each other. */
interface CallPace {
  /** Comes before each call. It ends at once when the job is aborted: then there is no call. */
  readonly pause: () => Promise<void>
  readonly job: AbortSignal
}

type OwnedWatch = AssetWatch & { readonly owned: Awaited<ReturnType<Owners['group']>> }

const changeOf = (item: Json, at: number): AssetProgress | undefined => {
  const status = item.get('Status')?.string()
  if (status !== 'Active' && status !== 'Failed') return undefined
  const data = Object.fromEntries(fields.map((field) => [field, item.get(field)?.value()]))
  const error = asJsonObject(data.Error)
  const advice = typeof error?.Code === 'string' ? adviceFor(error.Code) : undefined
  if (advice) data.Error = { ...error, Advice: advice }
  return { type: status === 'Active' ? 'asset.active' : 'asset.failed', data: JSON.stringify(data), at }
}

/** Records that an asset was created, so that its user is told what becomes of it. Never rejects: the asset exists. */
export const watchAsset = async (
  { events, clock, log }: Pick<Library, 'events' | 'clock' | 'log'>,
  asset: string,
  { id: group, user }: { readonly id: string; readonly user: string },
): Promise<void> => {
  const at = clock.now()
  const change = {
    type: 'asset.processing',
    data: JSON.stringify({ Id: asset, GroupId: group, Status: 'Processing' }),
    at,
  } as const
  await events
    ?.watchAsset({ asset, group, user, createdAt: at, dueAt: at + pollDelayMs(0) }, change)
    .catch((err: unknown) => log.warn({ err, asset }, 'asset cannot be watched'))
}

/** Records that a user has deleted an asset. Never rejects. */
export const tellDeletedAsset = async (
  { events, clock, log }: Pick<Library, 'events' | 'clock' | 'log'>,
  asset: string,
  user: string,
): Promise<void> => {
  const change = { type: 'asset.deleted', data: JSON.stringify({ Id: asset }), at: clock.now() } as const
  await events
    ?.assetDeleted(asset, user, change)
    .catch((err: unknown) => log.warn({ err, asset }, 'the deletion of an asset cannot be recorded'))
}

/**
 * Polls assets in progress, in one process at a time.
 *
 * One list call shows the outcome of up to 100 assets in 100 groups. A user is told only of assets in groups that still
 * are the user's. An asset or a group that cannot be read is put off, and delays no other.
 */
export const watchAssets = (
  { upstream, clock, log }: Pick<Library, 'upstream' | 'clock' | 'log'>,
  events: AssetEvents,
  owners: Pick<Owners, 'group'>,
  background: Background,
): void => {
  const ownedGroup = (user: string, id: string) =>
    owners.group(user, id).catch((error: unknown) => {
      if (error instanceof Problem && error.status < 500) return undefined
      throw error
    })

  const readOne = async ({ asset, user, owned }: OwnedWatch): Promise<'gone' | AssetProgress | undefined> => {
    const { group, evidence } = await locateAsset(upstream, asset, {}, owned.account)
    if (group === undefined || evidence instanceof UpstreamRejectedError || !(await ownedGroup(user, group)))
      return 'gone'
    const item = evidence.json?.get('Result')
    return item && changeOf(item, clock.now())
  }

  /** Adds the outcomes of the assets that have changed since the first of them was polled or created. */
  const readChanges = async (
    query: Pick<ListQuery, 'groupType' | 'groups'>,
    watches: readonly OwnedWatch[],
    outcomes: Map<string, AssetProgress | 'gone'>,
    { pause, job }: CallPace,
  ): Promise<void> => {
    const missing = new Map(watches.map((watch) => [watch.asset, watch]))
    const since = Math.min(...watches.map(({ dueAt, polls }) => dueAt - pollDelayMs(polls))) - maxClockSkewMs
    for (let pageNumber = 1; pageNumber <= maxPages && missing.size > 0; pageNumber++) {
      await pause()
      if (job.aborted) return
      const response = await upstream.send({
        action: 'ListAssets',
        query: {
          ...{ ...query, statuses: ['Active', 'Failed'], sortBy: 'UpdateTime', sortOrder: 'Desc' },
          paging: { pageNumber, pageSize },
        },
      })
      const items = itemsOf(response)
      for (const item of items) {
        const id = readId(item.get('Id')?.string())
        const change = changeOf(item, clock.now())
        const watch = id === undefined ? undefined : missing.get(id)
        if (!watch || !change || watch.group !== item.get('GroupId')?.string()) continue
        outcomes.set(watch.asset, change)
        missing.delete(watch.asset)
      }
      const changedAt = instantOf(items.at(-1)?.get('UpdateTime')?.string())
      if (items.length < pageSize || changedAt === undefined || changedAt < since) return
    }
  }

  /** Adds the outcomes of assets, by their ids. */
  const readLists = async (
    watches: readonly OwnedWatch[],
    outcomes: Map<string, AssetProgress | 'gone'>,
    pace: CallPace,
  ): Promise<void> => {
    const budget = { calls: maxExtraCalls, works: false }
    let failed: unknown
    for (const [groupType, ofType] of Map.groupBy(watches, ({ owned }) => owned.type)) {
      const groups = new Map(ofType.map(({ owned }) => [owned.id, owned]))
      const read = async (some: readonly OwnedWatch['owned'][]): Promise<void> => {
        for (const batch of groupBatches(some)) {
          const ids = new Set(batch.map(({ id }) => id))
          const ofBatch = ofType.filter(({ group }) => ids.has(group))
          await readChanges({ groupType, groups: batch }, ofBatch, outcomes, pace)
        }
      }
      for (const batch of groupBatches([...groups.values()])) {
        await divide(batch, {
          call: read,
          scopeOf: scopeOfUpstreamFailure,
          onFailed: ({ id }, err) => log.warn({ err, group: id }, 'assets in progress of a group could not be listed'),
          budget,
        }).catch((error: unknown) => {
          // The lists of other groups may still succeed.
          if (scopeOfUpstreamFailure(error) === 'all') throw error
          failed ??= error
        })
      }
    }
    if (failed !== undefined && !budget.works) throw failed
  }

  /** Finds the groups of watches. The watch of an asset whose group its user does not own any more has ended. */
  const withGroups = async (
    due: readonly AssetWatch[],
    outcomes: Map<string, AssetProgress | 'gone'>,
  ): Promise<readonly OwnedWatch[]> => {
    const owned = new Map<string, OwnedWatch>()
    await divide(due, {
      async call(some) {
        for (const watch of some) {
          const group = clock.now() < watch.createdAt + giveUpMs && (await ownedGroup(watch.user, watch.group))
          if (group) owned.set(watch.asset, { ...watch, owned: group })
          else outcomes.set(watch.asset, 'gone')
        }
      },
      scopeOf: () => 'unclear',
      onFailed: ({ asset }, err) => log.warn({ err, asset }, 'the group of an asset in progress could not be read'),
    })
    return [...owned.values()]
  }

  const round = async (due: readonly AssetWatch[], job: AbortSignal): Promise<void> => {
    const outcomes = new Map<string, AssetProgress | 'gone'>()
    const watches = await withGroups(due, outcomes)
    const accounts = Map.groupBy(watches, ({ owned }) => owned.account)
    if (accounts.size <= 1) return read(watches, outcomes, due, job)
    const known = new Set(watches.map(({ asset }) => asset))
    await end(
      outcomes,
      due.filter(({ asset }) => !known.has(asset)),
    )
    // The assets of an account do not wait for those of others.
    await Promise.all(
      [...accounts].map(([account, some]) =>
        read(some, new Map(), some, job).catch(async (err: unknown) => {
          if (job.aborted) throw err
          log.warn({ err, account, assets: some.length }, 'assets in progress of an account could not be polled')
          await end(new Map(), some)
        }),
      ),
    )
  }

  /** Reads the assets of one account, and ends or puts off what is due. */
  const read = async (
    watches: readonly OwnedWatch[],
    outcomes: Map<string, AssetProgress | 'gone'>,
    due: readonly AssetWatch[],
    job: AbortSignal,
  ): Promise<void> => {
    const pace = { pause: () => background.sleep(1000 / callsPerSecond, job), job }
    try {
      if (watches.length > maxSingle) await readLists(watches, outcomes, pace)
      await readSingle(watches, outcomes, pace)
    } catch (error) {
      // What was read until then counts.
      await end(outcomes, [])
      throw error
    }
    await end(outcomes, due)
  }

  /** Adds the outcomes of some assets that no list has shown: of all, if there was no list. */
  const readSingle = async (
    watches: readonly OwnedWatch[],
    outcomes: Map<string, AssetProgress | 'gone'>,
    { pause, job }: CallPace,
  ): Promise<void> => {
    const unlisted = watches.filter(({ asset, polls }) => !outcomes.has(asset) && polls % 3 === 2).slice(0, maxUnlisted)
    for (const watch of watches.length > maxSingle ? unlisted : watches) {
      await pause()
      if (job.aborted) return
      try {
        const outcome = await readOne(watch)
        if (outcome) outcomes.set(watch.asset, outcome)
      } catch (err) {
        if (scopeOfUpstreamFailure(err) === 'all') throw err
        log.warn({ err, asset: watch.asset }, 'an asset in progress could not be polled')
      }
    }
  }

  /** Ends the watches with an outcome, and puts off the others. */
  const end = async (outcomes: ReadonlyMap<string, AssetProgress | 'gone'>, due: readonly AssetWatch[]) => {
    const ended = new Set<string>()
    for (const [asset, outcome] of outcomes) {
      try {
        await events.endAssetWatch(asset, outcome === 'gone' ? undefined : outcome)
        ended.add(asset)
      } catch (err) {
        log.warn({ err, asset }, 'the outcome of an asset could not be stored')
      }
    }
    const waiting = due.filter(({ asset }) => !ended.has(asset))
    await events.postponeAssetWatches(
      waiting.map(({ asset, polls }) => ({ asset, dueAt: clock.now() + pollDelayMs(polls + 1) })),
    )
  }

  background.repeat({
    ...{ everyMs, log, failure: 'assets in progress could not be read' },
    lease: { store: events, name: 'asset-watch', clock },
    async run(job) {
      const due = await events.dueAssetWatches(clock.now(), maxDue)
      if (due.length === 0) return everyMs
      try {
        await round(due, job)
        return everyMs
      } catch (err) {
        if (!job.aborted) log.warn({ err, assets: due.length }, 'assets in progress could not be polled')
        return busyMs
      }
    },
  })
}
