import { createHash, randomBytes } from 'node:crypto'
import type { CreationAttempt } from '../../idempotency/index.ts'
import { responseOf } from '../../shared/http/body/known-body.ts'
import { noStoreHeaders, noStoreText } from '../../shared/http/no-store.ts'
import { identityOf } from '../../shared/identity/identify.ts'
import type { FormFiles } from '../../shared/media/form-files.ts'
import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import { requireConsent } from '../consent/require-consent.ts'
import { readPageRequest, wrongNextToken } from '../lists/page-request.ts'
import { createOnce, type Library, type Owners } from '../routes/library.ts'
import { checkGroup } from '../schema/asset.ts'
import { readBatch } from './read-batch.ts'
import { type BatchForm, readBatchForm, sendsForm } from './read-form.ts'
import { type AssetBatchItemState, type AssetBatchStore, type CountedAssetBatch, itemStates } from './store.ts'
import { type AssetBatchView, stateNames, viewOfBatch, viewOfItem } from './view.ts'

/** Batches of a user that have not ended. */
const maxOpen = 10

interface BatchContext {
  readonly request: Request
  readonly user: string
  readonly owners: Owners
  /** Path parameters, decoded. */
  readonly params: { readonly batch_id?: string; readonly position?: string }
}

/** The routes of batches. @param onAdded called when a batch has been added or cancelled */
export const batchRoutes = (
  library: Library,
  { store, files: batchFiles }: { readonly store: AssetBatchStore; readonly files: FormFiles | undefined },
  onAdded: () => void,
) => {
  const { clock, audit, maxBodyBytes } = library

  const readItems = async (
    request: Request,
    caller: Parameters<FormFiles['receive']>[1],
  ): Promise<Pick<BatchForm, 'items' | 'bytes' | 'files'>> => {
    const series = randomBytes(4).toString('hex')
    const nameOf = (position: number): string => `batch ${series} ${position}`
    if (!sendsForm(request)) return { ...(await readBatch(request, maxBodyBytes, nameOf)), files: [] }
    if (!batchFiles) throw new Problem(415, 'this service stores no files: send JSON lines with addresses')
    // Before a long body is read.
    if ((await read(store.countOpenAssetBatches(caller.user))) >= maxOpen) throw tooManyOpen()
    return readBatchForm(request, caller, batchFiles, nameOf)
  }

  const batchOf = async ({ user, params }: BatchContext): Promise<CountedAssetBatch> => {
    const id = params.batch_id ?? ''
    const batch = isBatchId(id) ? await read(store.assetBatch(user, id)) : undefined
    if (!batch) throw new Problem(404, 'asset batch not found')
    return batch
  }

  /** The position of an item of a batch. Throws Problem 404 for any other text. */
  const positionOf = async (id: string, text: string): Promise<number> => {
    const position = /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined
    const [item] =
      position === undefined ? [] : await read(store.assetBatchItems(id, { after: position - 1, limit: 1 }))
    if (position === undefined || item?.position !== position) throw new Problem(404, 'item of the batch not found')
    return position
  }

  return {
    /** `POST /assets/batches`. */
    async create({ request, user, owners }: BatchContext): Promise<Response> {
      const query = new URL(request.url).searchParams
      for (const name of ['GroupId', 'GroupType'])
        if (query.getAll(name).length > 1) throw new Problem(400, `${name} stands twice in the query`)
      const named = checkGroup(query.get('GroupId') ?? undefined, query.get('GroupType') || 'AIGC')
      const { groupType } = named
      const group = await owners.group(user, named.group, groupType)
      await requireConsent(group, library.consents)
      const { token } = identityOf(request) ?? {}
      const { items, bytes, files } = await readItems(request, { user, token })
      const creation = {
        ...{ user, route: 'createAssetBatch', body: withGroup(bytes, group.id, groupType) },
        async settle({ id, startedAt }: { readonly id: string; readonly startedAt: number }) {
          const batch = await read(store.assetBatch(user, batchIdOf(startedAt, id)))
          // Its row is written in one step, and not after the lease.
          return batch ? ({ outcome: 'created', response: accepted(batch) } as const) : ({ outcome: 'none' } as const)
        },
      }
      let isRecorded = false
      const create = async (attempt: CreationAttempt | undefined): Promise<Response> => {
        const now = clock.now()
        if (attempt && now >= attempt.leaseUntil)
          throw new Problem(503, 'the request took too long', { headers: { 'retry-after': '1' } })
        const id = batchIdOf(attempt?.startedAt ?? now, attempt?.id ?? randomBytes(16).toString('hex'))
        const batch = { id, user, ...(token !== undefined && { token }), group: group.id, groupType, createdAt: now }
        // Also when it is not known.
        isRecorded = true
        if (!(await storeCall(store.addAssetBatch(batch, items, maxOpen), 'the batch could not be recorded'))) {
          isRecorded = false
          throw tooManyOpen()
        }
        audit.note({ action: 'asset_batch.create', target: { kind: 'asset_batch', id } }, request)
        onAdded()
        return accepted({ ...batch, counts: { waiting: items.length } })
      }
      try {
        return await createOnce(library, request, creation, create)
      } finally {
        if (!isRecorded) await batchFiles?.discard(files)
      }
    },

    /** `GET /assets/batches`: newest first. */
    async list({ request, user }: BatchContext): Promise<Response> {
      const query = new URL(request.url).searchParams
      const { after, limit } = readPageRequest(query)
      if (after !== undefined && !(isBatchId(after) && (await read(store.assetBatch(user, after)))))
        throw wrongNextToken()
      const found = await read(store.assetBatches(user, { after, limit: limit + 1 }))
      const shown = found.slice(0, limit)
      return pageOf(shown.map(viewOfBatch), found.length > limit ? (shown.at(-1)?.id ?? '') : '')
    },

    /** `GET /assets/batches/{id}`: its progress. */
    get: async (context: BatchContext): Promise<Response> => noStoreText(bodyOf(viewOfBatch(await batchOf(context)))),

    /** `GET /assets/batches/{id}/items`: an outcome for each item. */
    async items(context: BatchContext): Promise<Response> {
      const query = new URL(context.request.url).searchParams
      const { after, limit } = readPageRequest(query)
      const state = stateIn(query)
      const { id, counts } = await batchOf(context)
      const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
      if (after !== undefined && !(/^[1-9]\d{0,8}$/.test(after) && Number(after) < total)) throw wrongNextToken()
      const page = { after: Number(after ?? 0), limit: limit + 1, state }
      const found = await read(store.assetBatchItems(id, page))
      const shown = found.slice(0, limit)
      return pageOf(shown.map(viewOfItem), found.length > limit ? String(shown.at(-1)?.position ?? '') : '')
    },

    /** `POST /assets/batches/{id}/cancel`: what has been created stays. */
    async cancel(context: BatchContext): Promise<Response> {
      const { id, endedAt, cancelledAt } = await batchOf(context)
      if (endedAt === undefined && cancelledAt === undefined) {
        await storeCall(store.cancelAssetBatch(context.user, id, clock.now()), 'the batch could not be cancelled')
        audit.note({ action: 'asset_batch.cancel', target: { kind: 'asset_batch', id } }, context.request)
        onAdded()
      }
      return noStoreText(bodyOf(viewOfBatch(await batchOf(context))))
    },

    /** `POST /assets/batches/{id}/retry`, and `…/items/{position}/retry`: failed items wait again. */
    async retry(context: BatchContext): Promise<Response> {
      const { id } = await batchOf(context)
      const position = context.params.position === undefined ? undefined : await positionOf(id, context.params.position)
      const retry = { position, at: clock.now(), maxOpen }
      const outcome = await storeCall(
        store.retryAssetBatchItems(context.user, id, retry),
        'the items could not be tried again',
      )
      if (outcome === 'full') throw tooManyOpen()
      if (outcome === 'cancelled') throw new Problem(409, 'the batch was cancelled: no item of it is tried again')
      if (outcome === 'none')
        throw new Problem(409, position === undefined ? 'no item of the batch has failed' : 'the item has not failed')
      audit.note({ action: 'asset_batch.retry', target: { kind: 'asset_batch', id } }, context.request)
      onAdded()
      return noStoreText(bodyOf(viewOfBatch(await batchOf(context))))
    },
  }
}

const tooManyOpen = () =>
  new Problem(429, `a user may have at most ${maxOpen} batches that have not ended`, {
    headers: { 'retry-after': '60' },
  })

const read = <Value>(call: Promise<Value>): Promise<Value> => storeCall(call, 'failed to read the batches')

/** The time, so that ids sort by creation, and what makes it unique. */
const batchIdOf = (time: number, seed: string): string =>
  `batch-${time.toString(36).padStart(9, '0')}${createHash('sha256').update(seed).digest('hex').slice(0, 23)}`

const isBatchId = (text: string): boolean => /^batch-[0-9a-z]{9}[0-9a-f]{23}$/.test(text)

/** A repetition of a request must have the same group, too. */
const withGroup = (bytes: Uint8Array, group: string, type: string): Uint8Array => {
  const head = new TextEncoder().encode(`${JSON.stringify([group, type])}\n`)
  const whole = new Uint8Array(head.length + bytes.length)
  whole.set(head)
  whole.set(bytes, head.length)
  return whole
}

const bodyOf = (batch: AssetBatchView): string => JSON.stringify({ Result: batch })

const accepted = (batch: CountedAssetBatch): Response =>
  responseOf(bodyOf(viewOfBatch(batch)), {
    status: 202,
    headers: { 'content-type': 'application/json', ...noStoreHeaders },
  })

const pageOf = (items: readonly object[], next: string): Response =>
  noStoreText(JSON.stringify({ Result: { Items: items, NextToken: next } }))

const stateIn = (query: URLSearchParams): AssetBatchItemState | undefined => {
  const name = query.get('State') || undefined
  if (name === undefined) return undefined
  const state = itemStates.find((each) => stateNames[each] === name)
  if (!state) throw new Problem(400, `State must be one of ${Object.values(stateNames).join(', ')}`)
  return state
}
