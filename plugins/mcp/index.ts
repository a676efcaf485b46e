import { type AnyElysia, Elysia } from 'elysia'
import { type Audit, noAudit } from '../shared/audit.ts'
import { type Clock, systemClock } from '../shared/clock.ts'
import { attachBody, bodyStream, readJsonRequest } from '../shared/http/body/body.ts'
import { createErrorHandler, type ErrorsOption, routesOf } from '../shared/http/error-handler.ts'
import { fallbackRoutes } from '../shared/http/fallback-routes.ts'
import { identifySameOrigin, type PublicUrl, publicBase, type RequireSameOrigin } from '../shared/http/origin.ts'
import { type Identify, requireIdentity } from '../shared/identity/identify.ts'
import { type JsonLimits, nextTurn } from '../shared/json/json.ts'
import {
  checkAbove0,
  checkElysia,
  checkIdentify,
  checkPath,
  checkPublicUrl,
  checkSecrets,
} from '../shared/plugin/options.ts'
import type { RoutesAt, RoutesPlugin } from '../shared/plugin/plugin.ts'
import { seedOf } from '../shared/plugin/seed.ts'
import { type Log, noLog, Problem } from '../shared/problem.ts'
import { type AppFetch, ofSameCaller } from './api.ts'
import { createConfirmations } from './confirmation.ts'
import { type McpRoutes, mcpDocs } from './openapi.ts'
import type { McpTool } from './tool.ts'
import { assetTools } from './tools/asset-tools.ts'
import { taskTools } from './tools/task-tools.ts'
import { type UploadLink, uploadTools } from './tools/upload-tools.ts'
import { videoTools } from './tools/video-tools.ts'
import { createUploadLinks } from './upload-links.ts'

export type { Audit, AuditEvent } from '../shared/audit.ts'
export type { ErrorsOption } from '../shared/http/error-handler.ts'
export type { Identify, Identity } from '../shared/identity/identify.ts'
export type { AppFetch } from './api.ts'
export type { McpMessage, McpRoutes } from './openapi.ts'

/** Options of `mcp`. */
export interface McpOptions {
  /**
   * Handles a request of the app in this process. The tools call the app's own routes with it, as the caller: for
   * example `(request) => app.fetch(request)`.
   */
  readonly fetch: AppFetch
  /** Identifies the caller by headers, as the routes do that the tools call. */
  readonly identify: Identify
  /**
   * Throws when a page of another origin sends a message. Needed where `identify` reads a cookie. Default: no check,
   * for callers with a token.
   */
  readonly requireSameOrigin?: RequireSameOrigin
  /**
   * Keys for confirmations and upload links, of at least 16 characters: the first signs and encrypts, all verify. All
   * processes need the same ones.
   */
  readonly secrets: readonly string[]
  /** The address that clients use: upload links begin with it. */
  readonly publicUrl: PublicUrl
  /** Base path of the asset library, such as `/api/media/proxy`. Undefined: no tools for assets. */
  readonly library?: string | undefined
  /** Path of uploads, such as `/api/uploads`. Undefined: no uploads. */
  readonly uploads?: string | undefined
  /** Base path of video generation, such as `/api/v3`. Undefined: no tools for videos. */
  readonly videos?: string | undefined
  /** Names of models that the tools suggest. Default: none. */
  readonly models?: readonly string[]
  /**
   * A video that costs more, in currency units, or whose price is not known, is created only after a confirmation.
   * Default 5. Null: no confirmations.
   */
  readonly confirmAbove?: number | null
  /** How long a confirmation is valid, in milliseconds. Default 10 minutes. */
  readonly confirmationTtlMs?: number
  /** How long an upload link works, in milliseconds. Default 10 minutes. */
  readonly uploadLinkTtlMs?: number
  /**
   * The longest wait of one call of a tool, in milliseconds. Default 50,000: many clients end a call after a minute.
   */
  readonly maxWaitMs?: number
  /** Maximum length of a message, in bytes; a longer one is rejected with 413. Default 1 MiB. */
  readonly maxBodyBytes?: number
  /** Base path of the routes. Default `/mcp`. */
  readonly prefix?: string
  /** The JSON body of errors; `throw`: errors go to the `onError` of the host app. Default: `problemBody()`. */
  readonly errors?: ErrorsOption
  /** Default: the system clock. */
  readonly clock?: Clock
  readonly log?: Log
  /** Receives an event for each rejected request. Default: no audit. */
  readonly audit?: Audit
}

/**
 * An MCP server (Model Context Protocol, Streamable HTTP) with tools for assets and videos: `POST` of the prefix.
 *
 * It needs the package `@modelcontextprotocol/server`, which it loads at the first message. Throws TypeError for wrong
 * options.
 *
 * @example
 * app.use(videoGeneration({ upstream, store, identify }))
 * app.use(mcp({ fetch: (request) => app.fetch(request), identify, secrets, publicUrl, videos: '/api/v3' }))
 */
export const mcp = <const Prefix extends string = '/mcp'>(
  options: McpOptions & { readonly prefix?: Prefix },
): RoutesPlugin<RoutesAt<Prefix, McpRoutes>> => {
  checkElysia(Elysia)
  const { fetch, publicUrl, clock = systemClock, log = noLog, audit = noAudit, uploads } = options
  const { maxBodyBytes = 2 ** 20, uploadLinkTtlMs = 600_000 } = options
  const prefix = checkPath('prefix', options.prefix ?? '/mcp')
  if (typeof fetch !== 'function') throw new TypeError('fetch must be a function')
  checkIdentify(options.identify)
  checkSecrets(options.secrets)
  checkPublicUrl(publicUrl)
  checkAbove0({ maxBodyBytes, uploadLinkTtlMs })
  const identify = identifySameOrigin(options.identify, options.requireSameOrigin)
  const errors = createErrorHandler({ errors: options.errors, log, audit })
  const links = createUploadLinks(options.secrets)
  const createLink = (headers: Headers): UploadLink | undefined => {
    const expiresAt = clock.now() + uploadLinkTtlMs
    const link = links.create(headers, expiresAt)
    return link === undefined ? undefined : { url: `${publicBase(publicUrl)}${prefix}/uploads/${link}`, expiresAt }
  }
  const tools = toolsOf(options, createLink)

  const respond = async (request: Request): Promise<Response> => {
    const identity = await requireIdentity(identify, request)
    const { json } = await readJsonRequest(request, maxBodyBytes, messageLimits)
    const { respondToMessage } = await loadProtocol()
    if (json.entryCount > entriesAtOnce) await nextTurn()
    return respondToMessage({ request, identity, message: json.value() }, { tools, fetch, clock, log })
  }

  const receive = async (request: Request, link: string, path: string): Promise<Response> => {
    const credential = links.open(link, clock.now())
    if (!credential) throw new Problem(404, 'this upload link is not valid')
    const upload = new Request(new URL(path, request.url).href, {
      method: 'POST',
      headers: { ...uploadHeaders(request.headers), ...credential },
      signal: request.signal,
    })
    const body = bodyStream(request)
    if (body) attachBody(upload, body)
    return fetch(ofSameCaller(upload, request))
  }

  const route = routesOf(errors)
  const routes = new Elysia({ name: 'sluice/mcp', seed: seedOf(options), prefix }).post(
    '',
    route(respond),
    mcpDocs.message,
  )
  if (uploads !== undefined) {
    const receiveUpload = route((request, link) => receive(request, link, uploads), 'link')
    routes
      .put('/uploads/:link', receiveUpload, mcpDocs.upload('put'))
      .post('/uploads/:link', receiveUpload, mcpDocs.upload('post'))
  }
  return routes.use(fallbackRoutes(errors)) as AnyElysia
}

const toolsOf = (options: McpOptions, createLink: (headers: Headers) => UploadLink | undefined): readonly McpTool[] => {
  const { library, uploads, videos, models = [], confirmAbove = 5, secrets } = options
  const { confirmationTtlMs = 600_000, maxWaitMs = 50_000 } = options
  checkAbove0({ confirmationTtlMs, maxWaitMs })
  if (confirmAbove !== null && !(typeof confirmAbove === 'number' && confirmAbove >= 0))
    throw new TypeError('confirmAbove must be a number from 0, or null')
  const confirmations = createConfirmations(secrets, confirmationTtlMs)
  return [
    ...(library === undefined
      ? []
      : [...assetTools(library, maxWaitMs), ...uploadTools({ library, uploads, maxWaitMs, createLink })]),
    ...(videos === undefined
      ? []
      : [...videoTools({ videos, models, confirmAbove, confirmations }), ...taskTools(videos, maxWaitMs)]),
  ]
}

/** A message with more keys and values is handled in a turn of the event loop of its own. Few have so many. */
const entriesAtOnce = 64

/** The protocol's library looks at each value several times, in one turn of the event loop. */
const messageLimits: JsonLimits = { maxValues: 300, maxKeyBytes: 2 ** 14 }

/** Loaded with the first message: a server without clients of the protocol needs neither its time nor its memory. */
const loadProtocol = () => import('./protocol.ts')

/** The headers of a request about its body, and those that proxies have written about the client. */
const uploadHeaders = (headers: Headers): Record<string, string> =>
  Object.fromEntries(
    [...headers].filter(([name]) =>
      /^(?:content-(?:length|type|encoding)|transfer-encoding|x-forwarded-for)$/.test(name),
    ),
  )
