import type { Background, RunningJob } from '../../shared/background/background.ts'
import { inLanes } from '../../shared/background/in-lanes.ts'
import type { LeaseStore } from '../../shared/background/lease-store.ts'
import { readJson } from '../../shared/json/json.ts'
import type { FormFiles } from '../../shared/media/form-files.ts'
import type { Library, Owners } from '../routes/library.ts'
import type { AssetProgress } from '../watch/asset-events.ts'
import { createBatchItems } from './batch-items.ts'
import type { AssetBatch, AssetBatchItem, AssetBatchStore, CountedAssetBatch } from './store.ts'
import { viewOfBatch } from './view.ts'

const everyMs = 1_000
const betweenTurnsMs = 20
/** Batches of one round. The next ones come in the next round: those that have had their turn are due later. */
const maxBatches = 64
/** Users whose items are created at the same time. */
const lanes = 8
/** How long a user's batches have their turn in a round. */
const userMs = 5_000
/** Items that have no outcome so long after the batch was created, or its failed items were tried again, fail. */
const giveUpMs = 259_200_000
/** How long after the end of a batch the upstream may still fetch its files. */
const fetchMs = 3_600_000
/** Items of an ended batch that are read at once. */
const itemsAtOnce = 100
/** How long a batch can be read after its end. */
const keepMs = 2_592_000_000
const sweepEveryMs = 600_000
const maxSwept = 20

/**
 * Creates the assets of batches, in one process at a time.
 *
 * A user has one call at a time, however many batches and items there are. So in the fair queue of the upstream's rate
 * limits, another user's call waits for one of them at most.
 */
export const runBatches = (
  library: Library,
  owners: Owners,
  { store, files }: { readonly store: AssetBatchStore & LeaseStore; readonly files: FormFiles | undefined },
  background: Background,
): RunningJob => {
  const { clock, log, events } = library
  const items = createBatchItems(library, owners, store)
  let sweepAt = 0

  /** Works on a batch until its turn is over. Resolves with the time at which it is due again. */
  const work = async (batch: AssetBatch, until: number, job: AbortSignal): Promise<number | undefined> => {
    while (!job.aborted) {
      const now = clock.now()
      if (now >= until) return now
      const item = await store.nextAssetBatchItem(batch.id, now)
      if (!item) return end(batch, now)
      if (item.state === 'waiting' && now > (batch.retriedAt ?? batch.createdAt) + giveUpMs) {
        const error = JSON.stringify({ code: 'Expired', message: 'the asset could not be created in time' })
        await store.settleAssetBatchItem(item, { state: 'failed', error })
        continue
      }
      const next = await items.work(batch, item)
      if (next !== undefined) return next
    }
    return clock.now()
  }

  const end = async (batch: AssetBatch, now: number): Promise<number | undefined> => {
    // Before the batch: nothing comes back to one that has ended.
    if (files) await endFiles(batch, files, now + fetchMs)
    const ended = await store.endAssetBatch(batch.id, now, events && describe(now))
    if (typeof ended === 'number') return ended
    return ended === 'ended' ? undefined : now
  }

  /** The upstream has been told of them, or never will be. Those of failed items may be tried again. */
  const endFiles = async ({ id, user }: AssetBatch, files: FormFiles, at: number): Promise<void> => {
    for (const state of ['created', 'cancelled'] as const) {
      for (let after: number | undefined = 0; after !== undefined; ) {
        const items: readonly AssetBatchItem[] = await store.assetBatchItems(id, { after, limit: itemsAtOnce, state })
        const urls = items.map(({ body }) => readJson(body).get('URL')?.string()).filter((url) => url !== undefined)
        await files.end(urls, user, at)
        after = items.length < itemsAtOnce ? undefined : items.at(-1)?.position
      }
    }
  }

  const turn = async (batch: AssetBatch, until: number, job: AbortSignal): Promise<void> => {
    let dueAt: number | undefined
    try {
      dueAt = await work(batch, until, job)
    } catch (err) {
      if (!job.aborted) log.warn({ err, batch: batch.id }, 'a batch of assets could not go on')
      dueAt = clock.now() + retryMs
    }
    if (dueAt !== undefined)
      await store
        .postponeAssetBatch(batch.id, dueAt)
        .catch((err: unknown) => log.warn({ err, batch: batch.id }, 'a batch of assets could not be put off'))
  }

  const sweep = async (now: number): Promise<void> => {
    if (now < sweepAt) return
    // While more are left, the next round goes on.
    if ((await store.sweepAssetBatches(now - keepMs, maxSwept)) < maxSwept) sweepAt = now + sweepEveryMs
  }

  return background.repeat({
    ...{ everyMs, log, failure: 'batches of assets could not be read' },
    lease: { store, name: 'asset-batches', clock },
    async run(job) {
      const now = clock.now()
      const due = await store.dueAssetBatches(now, maxBatches)
      await inLanes(Map.groupBy(due, ({ user }) => user).values(), lanes, async (batches) => {
        const until = clock.now() + userMs
        for (const batch of batches) if (!job.aborted) await turn(batch, until, job)
      })
      await sweep(now)
      return due.length > 0 ? betweenTurnsMs : everyMs
    },
  })
}

const retryMs = 10_000

const describe =
  (at: number) =>
  (batch: CountedAssetBatch): AssetProgress => ({
    ...{ type: 'asset_batch.ended', at },
    data: JSON.stringify(viewOfBatch(batch)),
  })
