import { TextProblem } from '../problem.ts'

/** Whether the caller asks for WebSocket (RFC 6455 section 4.1). */
export const requestsWebSocket = ({ headers }: Request): boolean =>
  (headers.get('upgrade') ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .includes('websocket')

/**
 * 426 for a caller that wants WebSocket where only HTTP is served, and the other way round. The response names the protocol to use (RFC 9110 section 15.5.22).
 *
 * Clients fall back to HTTP after a 426, and repeat the request after any other error: codex six times, with growing delays.
 */
export const upgradeRequired = (request: Request): TextProblem => (requestsWebSocket(request) ? useHttp : useWebSocket)

const useHttp = new TextProblem(426, 'WebSocket is not available here; send POST /responses over HTTP', {
  code: 'upgrade_required',
  headers: { connection: 'Upgrade', upgrade: 'HTTP/1.1' },
})

const useWebSocket = new TextProblem(426, 'GET is for WebSocket only; send POST to create a response over HTTP', {
  code: 'upgrade_required',
  headers: { connection: 'Upgrade', upgrade: 'websocket' },
})
