import { expect } from 'bun:test'
import { type AnyElysia, Elysia } from 'elysia'
import { gateway } from 'sluice'
import { account } from 'sluice/account'
import { apiToken, consoleTokens } from 'sluice/api-token'
import { consolePages } from 'sluice/console'
import { events } from 'sluice/events'
import { faceVerification } from 'sluice/face-verification'
import { mcp } from 'sluice/mcp'
import { createMetrics, metrics } from 'sluice/metrics'
import { oidcLogin } from 'sluice/oidc-login'
import { ownership } from 'sluice/ownership'
import { paginationNormalizer } from 'sluice/pagination-normalizer'
import type { ErrorsOption } from 'sluice/shared'
import { sseRelay } from 'sluice/sse-relay'
import { openStore } from 'sluice/store'
import { textGeneration } from 'sluice/text-generation'
import { createUpstream, rest } from 'sluice/upstream-proxy'
import { createVideoService, openaiVideos, videoGeneration } from 'sluice/video-generation'
import { webSession } from 'sluice/web-session'
import { MemoryStore } from '../ownership/memory.ts'
import { as, identify, list } from './fixture.ts'

/** A request, and the plugin's own response to it. */
export interface ErrorCase {
  readonly request: {
    readonly path: string
    readonly method?: string
    readonly headers?: Record<string, string>
    readonly body?: string
  }
  readonly status: number
  readonly body: object
  /** Whether the plugin sets `set.status`. Default true. */
  readonly setsStatus?: boolean
}

interface PluginCases {
  /** Creates the plugin; a plugin with macros only, with a route behind them. */
  readonly mount: (options: { readonly errors?: ErrorsOption }) => AnyElysia
  readonly errors: readonly ErrorCase[]
}

const error = (request: ErrorCase['request'], status: number, message: string, type = 'request_error'): ErrorCase => ({
  request,
  status,
  body: { success: false, error: { message, type } },
})

/** An error of the routes whose error type the documents of the asset library name. */
const libraryError = (request: ErrorCase['request'], status: number, message: string) =>
  error(request, status, message, 'media_proxy_error')

const textError = (
  request: ErrorCase['request'],
  status: number,
  message: string,
  { type = 'invalid_request_error', param = null, code = null }: Record<string, string | null> = {},
): ErrorCase => ({ request, status, body: { error: { message, type, param, code } } })

const videoError = (
  request: ErrorCase['request'],
  status: number,
  code: string,
  type: string,
  message: string,
  param = '',
): ErrorCase => ({ request, status, body: { error: { code, message, param, type } } })

const unauthenticated = (path: string, method = 'GET') => error({ path, method }, 401, 'not authenticated')

const kind = rest({ url: 'http://upstream.invalid/api/media/proxy', key: 'upstream-key' })
const unreachable = async () => {
  throw new Error('unreachable')
}
const publicUrl = 'http://localhost'
const secrets = ['sixteen bytes or more'] as const
const store = openStore('sqlite::memory:')
await store.migrate()
const owned = new MemoryStore()
owned.add({ id: 'g-ann', user: 'ann' })

const library = '/api/media/proxy/assets'
const face = '/api/media/face-verifications'
const tasks = '/api/v3/contents/generations/tasks'
const videoUpstream = { url: 'http://upstream.invalid/api/v3', key: 'video-key' }

/** Errors of guards, of handlers, and of the routes for other paths and methods. */
export const cases = {
  'api-token': {
    mount: (options) =>
      new Elysia()
        .use(apiToken({ ...options, store: { ownerOf: async () => undefined, revision: async () => 0 } }))
        .get('/mine', ({ identity }) => identity.user, { token: true }),
    errors: [unauthenticated('/mine')],
  },
  'console tokens': {
    mount: (options) => consoleTokens({ ...options, store, identify, publicUrl }),
    errors: [
      unauthenticated('/api/tokens'),
      error({ path: '/api/tokens', method: 'POST', ...as('ann') }, 403, 'request comes from a foreign origin'),
      error({ path: '/api/tokens', method: 'PUT' }, 405, 'method not allowed'),
      error({ path: '/api/tokens/a/b' }, 404, 'not found'),
    ],
  },
  ownership: {
    mount: (options) =>
      new Elysia()
        .use(ownership({ ...options, store: owned, identify }))
        .get('/groups/:group', ({ group }) => group.id, { ownsGroup: 'group' })
        .get('/assets/:asset', ({ asset }) => asset.id, { ownsAsset: 'asset' }),
    errors: [
      unauthenticated('/groups/g-ann'),
      error({ path: '/groups/g-ann', ...as('bob') }, 403, 'group_id does not belong to your asset groups'),
      error({ path: '/assets/a', ...as('bob') }, 403, 'asset not found in your asset group'),
    ],
  },
  'pagination-normalizer': {
    mount: (options) =>
      new Elysia()
        .use(paginationNormalizer({ ...options, secrets }))
        .get('/list', ({ listing }) => listing.page([], 'ann'), { lists: list }),
    errors: [error({ path: '/list?PageSize=0' }, 400, 'PageSize must be an integer from 1 to 100')],
  },
  'sse-relay': {
    mount: (options) => new Elysia().use(sseRelay(options)).get('/news', ({ relay }) => relay(unreachable)),
    errors: [{ ...error({ path: '/news' }, 502, 'upstream unavailable'), setsStatus: false }],
  },
  gateway: {
    mount: (options) => gateway({ ...options, store: owned, identify, secrets, kind, fetch: unreachable }),
    errors: [
      libraryError({ path: library }, 401, 'not authenticated'),
      libraryError({ path: `${library}/groups`, method: 'POST' }, 401, 'not authenticated'),
      libraryError(
        { path: `${library}/groups?PageSize=0`, ...as('ann') },
        400,
        'PageSize must be an integer from 1 to 100',
      ),
      libraryError({ path: `${library}/a`, ...as('ann') }, 502, 'Seedance upstream unavailable'),
      libraryError({ path: `${library}/groups`, method: 'POST', ...as('ann'), body: '{}' }, 400, 'Name is required'),
      libraryError({ path: `${library}/groups`, method: 'DELETE' }, 405, 'method not allowed'),
      libraryError({ path: '/api/media/proxy/nothing' }, 404, 'not found'),
    ],
  },
  'text-generation': {
    mount: (options) => textGeneration({ ...options, upstreams: [{ url: 'http://upstream.invalid/v1' }], identify }),
    errors: [
      textError({ path: '/v1/models' }, 401, 'not authenticated', {
        type: 'authentication_error',
        code: 'invalid_api_key',
      }),
      textError(
        { path: '/v1/chat/completions', method: 'POST', ...as('ann'), body: '{"model":"m"}' },
        400,
        'messages is required',
        { param: 'messages' },
      ),
      textError({ path: '/v1/chat/completions' }, 405, 'method not allowed'),
      textError({ path: '/v1/nothing' }, 404, expect.stringContaining('GET /v1/nothing does not exist. ') as never, {
        code: 'unknown_url',
      }),
    ],
  },
  'video-generation': {
    mount: (options) => videoGeneration({ ...options, store, identify, upstream: videoUpstream }),
    errors: [
      videoError({ path: tasks }, 401, 'AuthenticationError', 'Unauthorized', 'not authenticated'),
      videoError(
        { path: `${tasks}/x`, ...as('ann') },
        404,
        'NotFound.Task',
        'NotFound',
        'The task is not found.',
        'id',
      ),
      videoError({ path: tasks, method: 'PUT' }, 405, 'MethodNotAllowed', 'MethodNotAllowed', 'method not allowed'),
      videoError({ path: '/api/v3/x' }, 404, 'NotFound', 'NotFound', 'not found'),
    ],
  },
  'the OpenAI API for videos': {
    mount: (options) => {
      const service = createVideoService({ store, upstream: videoUpstream })
      return openaiVideos({ ...options, service, identify })
    },
    errors: [
      textError({ path: '/v1/videos' }, 401, 'not authenticated', {
        type: 'authentication_error',
        code: 'invalid_api_key',
      }),
      textError({ path: '/v1/videos', method: 'POST', ...as('ann'), body: '{}' }, 400, 'prompt is required', {
        param: 'prompt',
      }),
      textError({ path: '/v1/videos/x', ...as('ann') }, 404, 'The task is not found.', {
        ...{ param: 'id', code: 'NotFound.Task' },
      }),
      textError({ path: '/v1/videos', method: 'PUT' }, 405, 'method not allowed'),
      textError({ path: '/v1/videos/a/b' }, 404, 'not found'),
    ],
  },
  'web-session': {
    mount: (options) =>
      new Elysia()
        .use(webSession({ ...options, store, publicUrl, secrets }))
        .get('/mine', ({ identity }) => identity.user, { session: true }),
    errors: [
      unauthenticated('/mine'),
      unauthenticated('/api/session'),
      error({ path: '/api/session', method: 'POST', body: '{}' }, 415, 'content type must be application/json'),
      error({ path: '/api/session', method: 'PUT' }, 405, 'method not allowed'),
    ],
  },
  'oidc-login': {
    mount: (options) =>
      oidcLogin({
        ...{ ...options, store, publicUrl, secrets, beginSession: async () => undefined },
        ...{ issuer: 'https://provider.invalid', clientId: 'client', clientSecret: 'client-secret' },
        fetch: async () => new Response(null, { status: 503 }),
      }),
    errors: [
      error({ path: '/api/session/oidc' }, 502, 'the identity provider is unavailable'),
      error({ path: '/api/session/oidc?invitation=x' }, 403, 'this invitation is not valid'),
      error(
        { path: '/api/session/oidc/callback?code=c&state=s' },
        400,
        'this login was started too long ago, or in another browser',
      ),
      error({ path: '/api/session/oidc', method: 'POST' }, 405, 'method not allowed'),
      error({ path: '/api/session/oidc/other' }, 404, 'not found'),
    ],
  },
  'face-verification': {
    mount: (options) =>
      faceVerification({ ...options, upstream: createUpstream({ kind }), store, identify, publicUrl }),
    errors: [
      libraryError({ path: face, method: 'POST' }, 401, 'not authenticated'),
      libraryError({ path: `${face}/x`, ...as('ann') }, 404, 'verification not found'),
      libraryError({ path: face, method: 'PUT' }, 405, 'method not allowed'),
    ],
  },
  events: {
    mount: (options) => events({ ...options, store, identify, webhooks: { store, identify, publicUrl } }),
    errors: [
      unauthenticated('/api/events'),
      error(
        { path: '/api/events?types=x', ...as('ann') },
        400,
        'types must be 1 to 50 types of events such as video.succeeded or video.*',
      ),
      error({ path: '/api/events', method: 'POST' }, 405, 'method not allowed'),
      unauthenticated('/api/webhooks'),
      error({ path: '/api/webhooks', method: 'POST', ...as('ann') }, 403, 'request comes from a foreign origin'),
      error({ path: '/api/webhooks/x', method: 'GET' }, 405, 'method not allowed'),
    ],
  },
  console: {
    mount: (options) => consolePages(options),
    errors: [
      error({ path: '/console/nothing.js' }, 404, 'not found'),
      error({ path: '/console', method: 'POST' }, 405, 'method not allowed'),
    ],
  },
  mcp: {
    mount: (options) => mcp({ ...options, fetch: unreachable, identify, secrets, publicUrl, uploads: '/api/uploads' }),
    errors: [
      unauthenticated('/mcp', 'POST'),
      error({ path: '/mcp', method: 'POST', ...as('ann') }, 415, 'content type must be application/json'),
      error({ path: '/mcp' }, 405, 'method not allowed'),
      error({ path: '/mcp/uploads/x', method: 'PUT' }, 404, 'this upload link is not valid'),
      error({ path: '/mcp/other' }, 404, 'not found'),
    ],
  },
  metrics: {
    mount: (options) => metrics({ ...options, metrics: createMetrics(), token: 'token' }),
    errors: [unauthenticated('/metrics')],
  },
  account: {
    mount: (options) =>
      account({ ...options, store, publicUrl, secrets, face: { store, upstream: createUpstream({ kind }) } }),
    errors: [
      unauthenticated('/api/session'),
      unauthenticated('/api/tokens'),
      unauthenticated('/api/usage'),
      error({ path: '/api/usage', method: 'POST' }, 405, 'method not allowed'),
      libraryError({ path: `${face}/x` }, 401, 'not authenticated'),
      error({ path: '/console/nothing.js' }, 404, 'not found'),
    ],
  },
} satisfies Record<string, PluginCases>
