import type { FetchHandler } from '../../../plugins/concurrency-limits/index.ts'
import type { Metrics } from '../../../plugins/metrics/index.ts'
import { andThen } from '../../../plugins/shared/awaitable.ts'
import { loggedStatus } from '../../../plugins/shared/http/disconnection.ts'
import { withInertHeaders } from '../../../plugins/shared/http/headers.ts'
import { requestPath } from '../../../plugins/shared/http/request-path.ts'
import type { LeveledLog } from '../../log.ts'

/** Counts and logs the requests that a handler answers. */
export const measured = (handle: FetchHandler, recorder: Metrics, log: LeveledLog): FetchHandler => {
  const logsRequests = log.isLevelEnabled?.('debug') ?? true
  return (request) => {
    const startedAt = performance.now()
    return andThen(handle(request), (response) => {
      const seconds = (performance.now() - startedAt) / 1000
      const { method } = request
      const status = loggedStatus(request, response)
      recorder.request({ method, status, seconds })
      if (logsRequests) log.debug({ method, path: logPathOf(request.url), status, seconds }, 'request')
      return withInertHeaders(response)
    })
  }
}

/**
 * The path for logs, without secrets: without the query, the state in a callback path, and the links of an upload and
 * of a consent.
 */
export const logPathOf = (url: string): string =>
  requestPath(url).replace(
    /(\/face-verifications\/(?:callback|consent)\/|\/contents\/generations\/callbacks\/[^/]*\/|\/mcp\/uploads\/).*/,
    '$1…',
  )
