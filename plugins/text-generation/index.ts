import { type AnyElysia, Elysia } from 'elysia'
import { createErrorHandler, type HandlerContext } from '../shared/http/error-handler.ts'
import { fallbackRoutes } from '../shared/http/fallback-routes.ts'
import { identifySameOrigin } from '../shared/http/origin.ts'
import { requireIdentity } from '../shared/identity/identify.ts'
import { checkElysia, checkPath } from '../shared/plugin/options.ts'
import type { RoutesAt, RoutesPlugin } from '../shared/plugin/plugin.ts'
import { seedOf } from '../shared/plugin/seed.ts'
import { textDocs } from './api/openapi.ts'
import type { TextRoutes } from './api/route-types.ts'
import { unknownPath } from './api/unknown-route.ts'
import { type GenerationRequest, generate } from './call/generate.ts'
import { decodePath, getModel, listModels } from './call/model-routes.ts'
import { responseRoute } from './call/response-routes.ts'
import { createTextContext } from './context.ts'
import { countTokens, withRequestIdHeader } from './messages/messages.ts'
import { errorsByPath, messagesProblemBody, translatingErrors } from './messages/problem.ts'
import { readTextOptions, type TextGenerationOptions } from './options.ts'
import { textProblemBody, upstreamUnavailable } from './protocol/problem.ts'
import type { Protocol } from './protocol/protocol.ts'
import type { ResponseAction } from './upstream/client.ts'
import { connectResponses } from './websocket/upgrade.ts'

export type { ErrorsOption } from '../shared/http/error-handler.ts'
export type { Identify, Identity } from '../shared/identity/identify.ts'
export type * from './api/forwarded-types.ts'
export type * from './api/messages-types.ts'
export type * from './api/route-types.ts'
export type * from './api/types.ts'
export { type ChatAssemblyOptions, createChatAssembly } from './chat/assembly.ts'
export { messagesProblemBody } from './messages/problem.ts'
export type { Capabilities, MaxTokensField, TextUpstream, UpstreamModel } from './models/routing.ts'
export type { ObjectKind, TextObject, TextObjectStore } from './objects/store.ts'
export type {
  ConversationBounds,
  StoredConversation,
  StoredItem,
  StoredItemHead,
  StoredResponse,
  StoredResponseStore,
  StoredText,
  StoredTurn,
} from './objects/stored/store.ts'
export type { TextGenerationOptions } from './options.ts'
export { type Assembly, StreamError } from './protocol/assembly.ts'
export { TextProblem, textProblemBody } from './protocol/problem.ts'
export { createResponsesAssembly, type ResponsesAssembly, type ResponsesAssemblyOptions } from './responses/assembly.ts'
export type { ModelPrice, Prices } from './usage/prices.ts'
export type { Tokens } from './usage/tokens.ts'
export { type ObserveUsage, readTokens, type UsageEntry, type UsageStore } from './usage/usage.ts'

/**
 * OpenAI-compatible text generation: `/v1/chat/completions`, `/v1/responses` with stored responses, `/v1/completions`,
 * `/v1/embeddings`, and `/v1/models`.
 *
 * Throws TypeError for a wrong `prefix`, `secrets` or field of an upstream, for a time or size that is not above 0, and
 * without `identify` or `upstreams`.
 *
 * @example
 * const upstreams = [{ url: 'https://ark.example/api/v3', key: 'sk-upstream' }]
 * new Elysia().use(textGeneration({ upstreams, identify, usage: store, objects: store, background: true }))
 */
export const textGeneration = <const Prefix extends string = '/v1'>(
  options: TextGenerationOptions & { readonly prefix?: Prefix },
): RoutesPlugin<RoutesAt<Prefix, TextRoutes>> => {
  checkElysia(Elysia)
  const settings = readTextOptions(options)
  const prefix = checkPath('prefix', options.prefix ?? '/v1')
  const { upstreams, clock, log, audit, maxBodyBytes } = settings
  const identify = identifySameOrigin(options.identify, options.requireSameOrigin)
  const context = createTextContext(settings)
  const { protocols } = context

  const errors = errorsByPath({
    messages: translatingErrors(
      createErrorHandler({ errors: options.errors ?? messagesProblemBody, log, audit, finish: withRequestIdHeader }),
    ),
    others: createErrorHandler({ errors: options.errors ?? textProblemBody, log, audit }),
    path: `${prefix}/messages`,
  })
  /** Creates a route's handler from a function that may throw. */
  const route =
    (respond: (request: RouteRequest) => Promise<Response>) =>
    async ({ request, user, token, models, arrivedAt, whenRevoked, params, set }: RouteRequest & HandlerContext) => {
      try {
        return await respond({ request, user, token, models, arrivedAt, whenRevoked, params })
      } catch (error) {
        return errors.respond(error, { request, set })
      }
    }
  const generating = (protocol: Protocol) => route((request) => generate(request, protocol, context))
  const connecting = { requireSameOrigin: options.requireSameOrigin, maxBodyBytes, clock, log }
  const ownResponse = (action: ResponseAction) => route(responseRoute(action, context))

  const plugin: AnyElysia = new Elysia({ name: 'sluice/text-generation', seed: seedOf(options), prefix })
    .macro({
      generates: (_required: true) => ({
        // Elysia awaits a `resolve` hook only if it is an async function. The time limit starts here, before the body
        // is read.
        resolve: async ({ request, set, status }): Promise<Omit<GenerationRequest, 'request'>> => {
          try {
            const arrivedAt = clock.now()
            const caller = await requireIdentity(identify, request)
            if (upstreams.length === 0) throw upstreamUnavailable(new Error('no upstream is configured'), false)
            const { user, token, models } = caller
            return { user, token, models, arrivedAt, whenRevoked: caller.whenRevoked?.bind(caller) }
          } catch (error) {
            return errors.stop(error, { request, set, status })
          }
        },
      }),
    })
    .post('/chat/completions', generating(protocols.chat), { generates: true, ...textDocs.createChatCompletion })
    .post('/responses', generating(protocols.responses), { generates: true, ...textDocs.createResponse })
    .post('/embeddings', generating(protocols.embeddings), { generates: true, ...textDocs.createEmbedding })
    .post('/completions', generating(protocols.completions), { generates: true, ...textDocs.createCompletion })
    .post('/responses/compact', generating(protocols.compaction), { generates: true, ...textDocs.compactResponse })
    .post('/responses/input_tokens', generating(protocols.inputTokens), {
      generates: true,
      ...textDocs.countInputTokens,
    })
    .get(
      '/responses',
      ({ request, whenRevoked, server, set }) => {
        try {
          return connectResponses(request, { whenRevoked, server }, connecting)
        } catch (error) {
          return errors.respond(error, { request, set })
        }
      },
      { generates: true, ...textDocs.connectResponses },
    )
    .post(
      '/messages',
      route(async (request) => withRequestIdHeader(await generate(request, protocols.messages, context))),
      { generates: true, ...textDocs.createMessage },
    )
    .post(
      '/messages/count_tokens',
      route(async (request) => withRequestIdHeader(await countTokens(request, context))),
      { generates: true, ...textDocs.countMessageTokens },
    )
    .get('/responses/:response_id', ownResponse('GetResponse'), { generates: true, ...textDocs.getResponse })
    .delete('/responses/:response_id', ownResponse('DeleteResponse'), { generates: true, ...textDocs.deleteResponse })
    .post('/responses/:response_id/cancel', ownResponse('CancelResponse'), {
      generates: true,
      ...textDocs.cancelResponse,
    })
    .get('/responses/:response_id/input_items', ownResponse('ListInputItems'), {
      generates: true,
      ...textDocs.listInputItems,
    })
    .get(
      '/models',
      route((request) => listModels(request, context)),
      { generates: true, ...textDocs.listModels },
    )
    .get(
      '/models/:model',
      route((request) => getModel({ ...request, id: request.params.model ?? null }, context)),
      { generates: true, ...textDocs.getModel },
    )
    // Ids with slashes. The path has a parameter above, so that documents and Eden describe it.
    .get(
      '/models/*',
      route((request) => getModel({ ...request, id: decodePath(request.params['*'] ?? '') }, context)),
      { generates: true, detail: { hide: true } },
    )
    .use(fallbackRoutes(errors, unknownPath(prefix)))
  return plugin
}

interface RouteRequest extends GenerationRequest {
  /** Path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>
}
