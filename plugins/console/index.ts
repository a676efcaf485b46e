import { type AnyElysia, Elysia } from 'elysia'
import { createErrorHandler, type ErrorsOption, routesOf } from '../shared/http/error-handler.ts'
import { fallbackRoutes } from '../shared/http/fallback-routes.ts'
import { checkPath } from '../shared/plugin/options.ts'
import type { RoutesPlugin } from '../shared/plugin/plugin.ts'
import { seedOf } from '../shared/plugin/seed.ts'
import { type Log, Problem } from '../shared/problem.ts'
import { type ConsolePaths, type DocumentOptions, documentHeadersOf, documentOf, securityHeaders } from './document.ts'
import { fileResponse } from './file-response.ts'
import { type File, fileOf, readPageFiles } from './files.ts'
import { type ConsoleLogin, readLogin } from './login.ts'

export type { ErrorsOption } from '../shared/http/error-handler.ts'
export type { ConsolePaths } from './document.ts'
export type { ConsoleLogin } from './login.ts'

/** Options of `consolePages`. */
export interface ConsolePagesOptions {
  /** Path of the page, and base path of its files. Default `/console`. */
  readonly prefix?: string
  /**
   * Base paths of the routes that the page calls, where they differ from the defaults: `session: '/api/session'`,
   * `tokens: '/api/tokens'`, `usage: '/api/usage'`, `library: '/api/media/proxy'`, `faceVerification:
   * '/api/media/face-verifications'`, `text: '/v1'`.
   *
   * `video`, `uploads`, `events` and `webhooks` have no default: without one, the page says that the server does not
   * offer it. Usual paths are `/api/v3`, `/api/uploads`, `/api/events` and `/api/webhooks`. Without `invitations`,
   * usually `/api/invitations`, it has no screen for them. With `account`, usually `/api/account`, users see their
   * account; with `admin`, usually `/api/admin`, admins have the operators' screens. Without `failureAdvice`, usually
   * `/api/failure-advice`, it shows the vendor's message about a failure without advice. `limits` is usually
   * `/api/limits`, `mcp` is usually `/mcp`, and `documentation` the page of your API documentation. With `shares`,
   * usually `/api/media/proxy/assets/groups`, users lend groups; with `consents`, usually the same, they see the
   * consents of persons; and with `batches`, usually `/api/media/proxy/assets/batches`, they add many assets at once.
   *
   * In an app with a prefix of its own, the same prefix stands before `prefix` and before these paths.
   */
  readonly paths?: Partial<ConsolePaths>
  /**
   * Where users log in, if not by the page's form: the address of a page of the host app, or more about it. The page
   * asks `paths.session` for the user in every case. Default: the form, which sends a name and a password to
   * `paths.session`.
   */
  readonly login?: string | ConsoleLogin
  /** The JSON body of errors; `throw`: errors go to the `onError` of the host app. Default: `problemBody()`. */
  readonly errors?: ErrorsOption
  /** Receives unexpected errors. */
  readonly log?: Log
}

const defaultPaths: ConsolePaths = {
  session: '/api/session',
  tokens: '/api/tokens',
  usage: '/api/usage',
  library: '/api/media/proxy',
  faceVerification: '/api/media/face-verifications',
  text: '/v1',
}

/**
 * The web console: one page and its files, the same for every user.
 *
 * The page calls the routes of `paths`, at its own origin, as every other client does. Throws TypeError for a wrong
 * `prefix`, path or `login`.
 *
 * @example
 * new Elysia().use(consolePages({ prefix: '/console' }))
 */
export const consolePages = (options: ConsolePagesOptions = {}): RoutesPlugin => {
  const prefix = checkPath('prefix', options.prefix ?? '/console')
  const paths = { ...defaultPaths, ...options.paths }
  for (const [name, path] of Object.entries(paths)) if (path !== undefined) checkPath(`paths.${name}`, path)
  const page = pageOf({ prefix, paths, login: readLogin(options.login) })

  const showPage = async (request: Request): Promise<Response> => {
    // With a slash at the end, the page's relative addresses would be wrong.
    if (!pathOf(request).endsWith('/')) {
      const { file, headers } = await page()
      return fileResponse(file, request, headers)
    }
    const location = `..${prefix.slice(prefix.lastIndexOf('/'))}`
    return new Response(null, { status: 308, headers: { ...securityHeaders, location } })
  }
  const showFile = async (request: Request, name: string): Promise<Response> => {
    const file = (await readPageFiles()).files.get(name)
    if (!file) throw new Problem(404, 'not found')
    return fileResponse(file, request, securityHeaders)
  }

  const errors = createErrorHandler({
    errors: options.errors,
    log: options.log,
    finish: (response) => {
      for (const [name, value] of Object.entries(securityHeaders)) response.headers.set(name, value)
      return response
    },
  })
  const route = routesOf(errors)
  const sendPage = route(showPage)
  const sendFile = route(showFile, '*')
  const plugin: AnyElysia = new Elysia({ name: 'sluice/console', seed: seedOf(options), prefix })
    .get('', sendPage, hidden)
    .head('', sendPage, hidden)
    .get('/*', sendFile, hidden)
    .head('/*', sendFile, hidden)
    .use(fallbackRoutes(errors))
  return plugin
}

/** The document with its headers, made of the files at the first request. */
const pageOf = (options: Omit<DocumentOptions, 'page'>) => {
  let page: Promise<{ readonly file: File; readonly headers: Readonly<Record<string, string>> }> | undefined
  const load = async () => {
    const described = { ...options, page: await readPageFiles() }
    const file = await fileOf(documentOf(described), 'text/html; charset=utf-8', false)
    return { file, headers: documentHeadersOf(described) }
  }
  return () => {
    page ??= load().catch((error) => {
      page = undefined
      throw error
    })
    return page
  }
}

const hidden = { detail: { hide: true } }

const pathOf = ({ url }: Request): string => url.split('?', 1)[0] ?? ''
