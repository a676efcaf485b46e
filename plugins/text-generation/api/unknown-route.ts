import type { UnknownPath } from '../../shared/http/fallback-routes.ts'
import { requestPath } from '../../shared/http/request-path.ts'
import { TextProblem } from '../protocol/problem.ts'

/**
 * Problem 404 for a path below `prefix` without a route. The message names the path and all routes, and says so if the
 * prefix is doubled: then a client that adds it was given a base address that ends with it.
 */
export const unknownPath =
  (prefix: string): UnknownPath =>
  (routes) => {
    const list = routes
      // The other form of a route with a parameter.
      .filter(({ path }) => !path.endsWith('*'))
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
      .join(', ')
    return ({ method, url }) => {
      const path = requestPath(url)
      const isDoubled = path.includes(`${prefix}${prefix}/`)
      return notFound(
        method,
        path,
        isDoubled ? `the base address of the client must not end with ${prefix} twice` : '',
        list,
      )
    }
  }

/** Problem 404 for the path of a route without its prefix: the client was given a base address without it. */
export const missingPrefix = (prefix: string, { method, url }: Request): TextProblem => {
  const path = requestPath(url)
  return notFound(
    method,
    path,
    `the base address of the client must end with ${prefix}, as in ${prefix}${shortened(path)}`,
  )
}

const notFound = (method: string, path: string, hint: string, list?: string): TextProblem => {
  const sentences = [`${method} ${shortened(path)} does not exist${hint && ': '}${hint}.`, list && `There is: ${list}.`]
  return new TextProblem(404, sentences.filter(Boolean).join(' '), { code: 'unknown_url' })
}

/** A caller may send a path of any length. */
const shortened = (path: string): string => (path.length <= maxPathLength ? path : `${path.slice(0, maxPathLength)}…`)

const maxPathLength = 128
