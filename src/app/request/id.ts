import type { FetchHandler } from '../../../plugins/concurrency-limits/index.ts'
import { andThen } from '../../../plugins/shared/awaitable.ts'
import { runWithRequestId } from '../../../plugins/shared/http/current-request.ts'

const header = 'x-request-id'

/**
 * Gives every request one id: the `x-request-id` of the caller if it has 1 to 128 letters, digits and `. _ -`, else a
 * new one.
 *
 * The response has it in the same header, and the plugins send it to upstreams. The id of the upstream stays beside it,
 * in `x-upstream-request-id`.
 *
 * @example
 * const server = createNodeServer(withRequestIds((request) => app.fetch(request)))
 */
export const withRequestIds = (handle: FetchHandler): FetchHandler => {
  if (typeof handle !== 'function') throw new TypeError('handle must be a function')
  const respond = (request: Request, id: string) =>
    andThen<Response, Response>(handle(request), (response) => withRequestId(response, id))
  return (request) => {
    const id = idOf(request)
    return runWithRequestId(id, respond, request, id)
  }
}

/** A response that belongs to no request, because the server could not read it. */
export const withNewRequestId = (response: Response): Response => withRequestId(response, crypto.randomUUID())

const withRequestId = (response: Response, id: string): Response => {
  response.headers.set(header, id)
  return response
}

const idOf = (request: Request): string => {
  try {
    const given = request.headers.get(header)
    if (given !== null && valid.test(given)) return given
  } catch {
    // A header is invalid; the app rejects the request.
  }
  return crypto.randomUUID()
}

const valid = /^[\w.-]{1,128}$/
