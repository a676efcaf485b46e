import type { Server } from 'node:http'

/**
 * Returns a function that stops a server gracefully. It closes the listener, lets responses in flight finish for at most `timeoutMs`, and
 * resolves when all connections are closed.
 */
export const createGracefulStop = (server: Server): ((timeoutMs: number) => Promise<void>) => {
  let openRequests = 0
  let finish: (() => void) | undefined
  server.on('request', (_request, response) => {
    openRequests++
    // Tells a keep-alive client not to send its next request on this connection.
    if (finish) response.setHeader('connection', 'close')
    response.once('close', () => {
      openRequests--
      if (openRequests === 0) finish?.()
    })
  })
  return (timeoutMs) =>
    new Promise((resolve) => {
      // Requests that are cut off get their close events before this resolves, so that their usage is recorded.
      let timer = setTimeout(() => {
        server.closeAllConnections()
        timer = setTimeout(resolve, closeTimeoutMs)
      }, timeoutMs)
      finish = () => {
        clearTimeout(timer)
        server.closeAllConnections()
        resolve()
      }
      server.close()
      if (openRequests === 0) finish()
    })
}

/** How long to wait for the close events after `closeAllConnections`. They normally come at once. */
const closeTimeoutMs = 1_000
