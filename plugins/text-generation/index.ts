import { Elysia } from 'elysia'
import type { Ownership } from '../ownership/index.ts'
import { type Audit, noAudit } from '../shared/audit.ts'
import { type Clock, systemClock } from '../shared/clock.ts'
import { fallbackRoutes } from '../shared/fallback-routes.ts'
import { type Identify, requireIdentity } from '../shared/identify.ts'
import { type Log, noLog, renderProblems } from '../shared/problem.ts'
import { seedOf } from '../shared/seed.ts'
import { type Fetch, UpstreamUnreachableError } from '../upstream-proxy/index.ts'
import { type Generation, generate } from './generate.ts'
import { getModel, listModels } from './models.ts'
import {
  createBackgroundUsageRecorder,
  type ReconcileBackgroundOptions,
  type RecordBackgroundUsage,
  reconcileBackground,
} from './objects/background.ts'
import { createObjectOwnership } from './objects/ownership.ts'
import type { TextObjectStore } from './objects/store.ts'
import { retrieve, storedResponseRoute } from './objects/stored-responses.ts'
import { openapi } from './openapi.ts'
import { textProblemBody } from './problem.ts'
import { createProtocols } from './protocols.ts'
import { createUpstreamClient, type UpstreamClientOptions } from './upstream/client.ts'
import type { TextUpstream } from './upstream/model-routing.ts'
import { createRefusedAdditions } from './upstream/refused-additions.ts'
import { createUsageRecorder, type UsageEntry, type UsageStore } from './usage.ts'

export type { Identify, Identity } from '../shared/identify.ts'
export { type Assembly, StreamError } from './assembly.ts'
export { type ChatAssemblyOptions, createChatAssembly } from './chat/assembly.ts'
export type { ObjectKind, TextObject, TextObjectStore } from './objects/store.ts'
export { TextProblem, textProblemBody } from './problem.ts'
export { createResponsesAssembly, type ResponsesAssembly, type ResponsesAssemblyOptions } from './responses/assembly.ts'
export type { Capabilities, TextUpstream } from './upstream/model-routing.ts'
export { readTokens, type Tokens, type UsageEntry, type UsageStore } from './usage.ts'

export interface TextGenerationOptions {
  /** Who serves which models, first come first served; see `TextUpstream`. None: every route answers 502, after the token check. */
  readonly upstreams: readonly TextUpstream[]
  /** Who is calling: `identifyByToken`, or the host app's own. */
  readonly identify: Identify
  /** Keeps what every call cost; nobody waits for it. Default: nothing is kept. */
  readonly usage?: UsageStore
  /** Told of what every call cost, for metrics; and whether the upstream has taken it: what it has not may name a model that nobody has. */
  readonly observeUsage?: (entry: Pick<UsageEntry, 'model' | 'tokens'> & { readonly taken: boolean }) => void
  /** Keeps who was given which response, conversation and item of the account. Default: nobody owns any, so none can be continued, fetched or referred to. */
  readonly objects?: TextObjectStore
  /** Milliseconds that upstreams keep such objects. Default 30 days. */
  readonly objectsKeptMs?: number
  /**
   * Fields by which every caller may name any object of the account, for example `file_id`, `prompt`, `container`, `item_reference`. Default none: whose a file, a
   * prompt or a container is, nobody here knows.
   */
  readonly allowedFields?: readonly string[]
  /** Looks after responses in the background, and forgets expired objects, until it is aborted. Undefined: their usage is recorded when their owner sees them end. */
  readonly settleUntil?: AbortSignal
  /** Says whose an asset is, see `createOwnership`. Default: no `asset://` address passes, except for `presetAssets`. */
  readonly assets?: Pick<Ownership, 'asset'>
  /** Ids of assets of the vendor's that are everybody's: nobody is asked whose they are. Default: none. */
  readonly presetAssets?: readonly string[]
  /** Milliseconds that a call without streaming may take, from its arrival, before it is cut off. Default 200,000. */
  readonly timeoutMs?: number
  /** Put into chat requests that name no maximum. Default 4,096; null leaves them as they are. */
  readonly defaultMaxTokens?: number | null
  /** Milliseconds of silence in a stream after which a comment is sent, to keep balancers from closing the connection. Default: none is. */
  readonly heartbeatMs?: number
  /** Largest request body in bytes; beyond it 413. Default 64 MiB. */
  readonly maxBodyBytes?: number
  /** Largest answer in bytes that is put together from a stream. Default 64 MiB. */
  readonly maxResponseBytes?: number
  /** Headers of callers that pass on, besides language and tracing. */
  readonly forwardHeaders?: readonly string[]
  /** Default the global `fetch`. Called with `keepalive: false` for everything but GET: a generation must not be sent twice. */
  readonly fetch?: Fetch
  readonly clock?: Clock
  readonly log?: Log
  /** Told of every refusal, and of stored responses that are cancelled or deleted. Default: nobody is. */
  readonly audit?: Audit
  readonly observe?: UpstreamClientOptions['observe']
}

/** The text generation interface, as a plugin: `/v1/chat/completions`, `/v1/responses` and what it stored, `/v1/models`. Existing client libraries of the protocols work with it. */
export const textGeneration = (options: TextGenerationOptions) => {
  const { identify, usage, observeUsage, upstreams, defaultMaxTokens = 4_096 } = options
  const {
    clock = systemClock,
    log = noLog,
    audit = noAudit,
    maxBodyBytes = 2 ** 26,
    maxResponseBytes = 2 ** 26,
    timeoutMs = 200_000,
  } = options
  const context = {
    client: createUpstreamClient({ ...options, maxResponseBytes, log }),
    refusedAdditions: createRefusedAdditions({ now: clock.now }),
    clock,
    timeoutMs,
    heartbeatMs: options.heartbeatMs,
    maxResponseBytes,
    log,
  }
  const record = createUsageRecorder({ usage, observe: observeUsage, log })
  const store = options.objects
  const objects = createObjectOwnership({
    store,
    keptMs: options.objectsKeptMs ?? 30 * 86_400_000,
    allowedFields: options.allowedFields ?? [],
    now: clock.now,
    log,
  })
  const recordBackground: RecordBackgroundUsage = store
    ? createBackgroundUsageRecorder({ store, record, clock, log })
    : async () => {}
  const protocols = createProtocols({
    defaultMaxTokens: defaultMaxTokens ?? undefined,
    now: clock.now,
    maxResponseBytes,
  })
  const generation = {
    ...context,
    upstreams,
    assets: options.assets,
    presetAssets: new Set(options.presetAssets),
    objects,
    recordBackground,
    maxBodyBytes,
    record,
  }
  const stored = {
    ...context,
    upstreams,
    objects,
    store,
    recordBackground,
    audit,
    retrieval: protocols.retrieval,
  }
  if (store && options.settleUntil) {
    const retrieveOwned: ReconcileBackgroundOptions['retrieve'] = (own, signal) => retrieve(own, signal, stored)
    void reconcileBackground(
      { store, record, clock, log, recordBackground, retrieve: retrieveOwned },
      options.settleUntil,
    )
  }

  return new Elysia({ name: 'sluice/text-generation', seed: seedOf(options), prefix: '/v1' })
    .onError(renderProblems(textProblemBody, log, audit))
    .macro({
      generates: (_required: true) => ({
        // Elysia awaits a guard only if it is an async function. The time limit counts from here, before anything is read.
        resolve: async ({ request }): Promise<Omit<Generation, 'request'>> => {
          const arrivedAt = clock.now()
          const caller = await requireIdentity(identify, request)
          if (upstreams.length === 0) throw new UpstreamUnreachableError(new Error('no upstream is configured'), false)
          const { user, token } = caller
          return { user, token, arrivedAt, whenRevoked: caller.whenRevoked?.bind(caller) }
        },
      }),
    })
    .post(
      '/chat/completions',
      ({ request, user, token, arrivedAt, whenRevoked }) =>
        generate({ request, user, token, arrivedAt, whenRevoked }, protocols.chat, generation),
      { generates: true, ...openapi.createChatCompletion },
    )
    .post(
      '/responses',
      ({ request, user, token, arrivedAt, whenRevoked }) =>
        generate({ request, user, token, arrivedAt, whenRevoked }, protocols.responses, generation),
      { generates: true, ...openapi.createResponse },
    )
    .get('/responses/:response_id', storedResponseRoute('GetResponse', stored), {
      generates: true,
      ...openapi.getResponse,
    })
    .delete('/responses/:response_id', storedResponseRoute('DeleteResponse', stored), {
      generates: true,
      ...openapi.deleteResponse,
    })
    .post('/responses/:response_id/cancel', storedResponseRoute('CancelResponse', stored), {
      generates: true,
      ...openapi.cancelResponse,
    })
    .get('/responses/:response_id/input_items', storedResponseRoute('ListInputItems', stored), {
      generates: true,
      ...openapi.listInputItems,
    })
    .get('/models', ({ request, arrivedAt }) => listModels({ upstreams, request, arrivedAt }, context), {
      generates: true,
      ...openapi.listModels,
    })
    .get(
      '/models/:model',
      ({ request, arrivedAt, params }) => getModel({ upstreams, request, arrivedAt, id: params.model }, context),
      { generates: true, ...openapi.getModel },
    )
    .use(fallbackRoutes)
}
