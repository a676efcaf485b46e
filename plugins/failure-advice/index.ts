import { type AnyElysia, Elysia } from 'elysia'
import { responseOf } from '../shared/http/body/known-body.ts'
import { createErrorHandler, type ErrorsOption, routesOf } from '../shared/http/error-handler.ts'
import { fallbackRoutes } from '../shared/http/fallback-routes.ts'
import { checkElysia, checkPath } from '../shared/plugin/options.ts'
import type { RoutesAt, RoutesPlugin } from '../shared/plugin/plugin.ts'
import { seedOf } from '../shared/plugin/seed.ts'
import { type Log, Problem } from '../shared/problem.ts'
import { adviceFor, allAdvice } from './advice.ts'
import { codeDocs, type FailureAdviceRoutes, listDocs } from './openapi.ts'

export { adviceFor, allAdvice } from './advice.ts'
export { type FailureAdvice, type FailureChange, failureChanges } from './entry.ts'
export {
  adviceSchema,
  type FailureAdviceList,
  type FailureAdviceOfCode,
  type FailureAdviceRoutes,
} from './openapi.ts'

/** Options of `failureAdvice`. */
export interface FailureAdviceOptions {
  /** Base path of the routes. Default `/api/failure-advice`. */
  readonly prefix?: string
  /** The JSON body of errors; `throw`: errors go to the `onError` of the host app. Default: `problemBody()`. */
  readonly errors?: ErrorsOption
  readonly log?: Log
}

/**
 * Routes that say what to do about the error codes of the vendor: `GET` of the prefix lists all, `GET` of the prefix
 * and a code has one. They need no credential, and caches may keep their responses.
 *
 * Throws TypeError for a wrong `prefix`.
 *
 * @example
 * new Elysia().use(failureAdvice())
 */
export const failureAdvice = <const Prefix extends string = '/api/failure-advice'>(
  options: FailureAdviceOptions & { readonly prefix?: Prefix } = {},
): RoutesPlugin<RoutesAt<Prefix, FailureAdviceRoutes>> => {
  checkElysia(Elysia)
  const prefix = checkPath('prefix', options.prefix ?? '/api/failure-advice')
  const errors = createErrorHandler(options)
  const list = JSON.stringify({ success: true, advice: allAdvice() })
  const one = (request: Request, code: string): Response => {
    const advice = adviceFor(code, new URL(request.url).searchParams.get('message')?.slice(0, maxMessageLength))
    if (!advice) throw new Problem(404, 'nothing is known about this code')
    return cacheable(JSON.stringify({ success: true, advice }))
  }
  const plugin: AnyElysia = new Elysia({ name: 'sluice/failure-advice', seed: seedOf(options), prefix })
    .get('', () => cacheable(list), listDocs)
    .get('/:code', routesOf(errors)(one, 'code'), codeDocs)
    .use(fallbackRoutes(errors))
  return plugin
}

/** Longer than any message that tells what a code means. */
const maxMessageLength = 1_024

/** The list is the same for everybody, and changes with the version only. */
const cacheable = (json: string): Response =>
  responseOf(json, { headers: { 'content-type': 'application/json', 'cache-control': 'public, max-age=3600' } })
