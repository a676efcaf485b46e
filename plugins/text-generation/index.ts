import { Elysia } from 'elysia'
import type { Ownership } from '../ownership/index.ts'
import { type Clock, systemClock } from '../shared/clock.ts'
import { type Identify, requireIdentity } from '../shared/identify.ts'
import { identity } from '../shared/identity.ts'
import { type Log, renderProblems, silent } from '../shared/problem.ts'
import { refuseUnknown } from '../shared/unknown.ts'
import { type Fetch, Unreachable } from '../upstream-proxy/index.ts'
import { about } from './about.ts'
import { chat } from './chat/chat.ts'
import { type ConnectionOptions, createConnection } from './connection.ts'
import { type Generation, generate } from './generate.ts'
import { getModel, listModels } from './models.ts'
import { textProblemBody } from './problem.ts'
import { responses } from './responses/responses.ts'
import type { TextUpstream } from './upstreams.ts'
import type { Tokens, UsageEntry, UsageStore } from './usage.ts'

export type { Identify, Identity } from '../shared/identify.ts'
export { type Assembly, StreamError } from './assembly.ts'
export { type ChatAssemblyOptions, createChatAssembly } from './chat/assembly.ts'
export { TextProblem, textProblemBody } from './problem.ts'
export { createResponsesAssembly, type ResponsesAssembly, type ResponsesAssemblyOptions } from './responses/assembly.ts'
export type { Peculiarities, TextUpstream } from './upstreams.ts'
export { readTokens, type Tokens, type UsageEntry, type UsageStore } from './usage.ts'

export interface TextGenerationOptions {
  /** Who serves which models, first come first served; see `TextUpstream`. None: every route answers 502, after the token check. */
  readonly upstreams: readonly TextUpstream[]
  /** Who is calling: `identifyByToken`, or the host app's own. */
  readonly identify: Identify
  /** Keeps what every call cost. Default: nothing is kept. */
  readonly usage?: UsageStore
  /** Told of what every call cost, for metrics. */
  readonly observeUsage?: (entry: { readonly model: string; readonly tokens: Tokens | undefined }) => void
  /** Says whose an asset is, see `createOwnership`. Default: no `asset://` address passes. */
  readonly assets?: Pick<Ownership, 'asset'>
  /** Milliseconds that a call without streaming may take, from its arrival, before it is cut off. Default 200,000. */
  readonly timeoutMs?: number
  /** Put into chat requests that name no maximum. Default 4,096; null leaves them as they are. */
  readonly defaultMaxTokens?: number | null
  /** Milliseconds of silence in a stream after which a comment is sent, to keep balancers from closing the connection. Default: none is. */
  readonly heartbeatMs?: number
  /** Largest request body in bytes; beyond it 413. Default 64 MiB. */
  readonly maxBodyBytes?: number
  /** Largest answer in bytes that is put together from a stream. Default 64 MiB. */
  readonly maxAnswerBytes?: number
  /** Headers of callers that pass on, besides language and tracing. */
  readonly forwardHeaders?: readonly string[]
  /** Default the global `fetch`. */
  readonly fetch?: Fetch
  readonly clock?: Clock
  readonly log?: Log
  readonly observe?: ConnectionOptions['observe']
}

/** The text generation interface, as a plugin: `/v1/chat/completions`, `/v1/responses`, `/v1/models`. Existing client libraries of the protocols work with it. */
export const textGeneration = (options: TextGenerationOptions) => {
  const { identify, usage, observeUsage, upstreams, defaultMaxTokens = 4_096 } = options
  const {
    clock = systemClock,
    log = silent,
    maxBodyBytes = 2 ** 26,
    maxAnswerBytes = 2 ** 26,
    timeoutMs = 200_000,
  } = options
  const machinery = {
    connection: createConnection({ ...options, maxAnswerBytes, log }),
    clock,
    timeoutMs,
    heartbeatMs: options.heartbeatMs,
    maxAnswerBytes,
    log,
  }
  const generation = {
    ...machinery,
    upstreams,
    assets: options.assets,
    maxBodyBytes,
    record: async (entry: UsageEntry) => {
      observeUsage?.(entry)
      await usage?.recordUsage(entry)
    },
  }
  const protocols = {
    chat: chat({ defaultMaxTokens: defaultMaxTokens ?? undefined, now: clock.now, maxAnswerBytes }),
    responses: responses({ now: clock.now, maxAnswerBytes }),
  }

  return new Elysia({ name: 'sluice/text-generation', seed: identity(options), prefix: '/v1' })
    .onError(renderProblems(textProblemBody, log))
    .macro({
      generates: (_required: true) => ({
        // The time limit counts from here: nothing has been read yet, and nobody asked.
        resolve: async ({ request }): Promise<Omit<Generation, 'request'>> => {
          const arrivedAt = clock.now()
          const { user, token } = await requireIdentity(identify, request)
          if (upstreams.length === 0) throw new Unreachable(new Error('no upstream is configured'), false)
          return { user, token, arrivedAt }
        },
      }),
    })
    .post(
      '/chat/completions',
      ({ request, user, token, arrivedAt }) =>
        generate({ request, user, token, arrivedAt }, protocols.chat, generation),
      { generates: true, ...about.createChatCompletion },
    )
    .post(
      '/responses',
      ({ request, user, token, arrivedAt }) =>
        generate({ request, user, token, arrivedAt }, protocols.responses, generation),
      { generates: true, ...about.createResponse },
    )
    .get('/models', ({ request, arrivedAt }) => listModels({ upstreams, request, arrivedAt }, machinery), {
      generates: true,
      ...about.listModels,
    })
    .get(
      '/models/:model',
      ({ request, arrivedAt, params }) => getModel({ upstreams, request, arrivedAt, id: params.model }, machinery),
      { generates: true, ...about.getModel },
    )
    .use(refuseUnknown)
}
