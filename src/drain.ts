import type { Server } from 'node:http'

/**
 * Makes a server stoppable without cutting anybody off. The result stops accepting, lets answers that are under way finish for at most `mostMs`, and resolves
 * when everything is closed.
 */
export const drainable = (server: Server): ((mostMs: number) => Promise<void>) => {
  let open = 0
  let stopping: (() => void) | undefined
  server.on('request', (_request, response) => {
    open++
    // A client that keeps its connection has to be told to open none of its next requests on it.
    if (stopping) response.setHeader('connection', 'close')
    response.once('close', () => {
      open--
      if (open === 0) stopping?.()
    })
  })
  return (mostMs) =>
    new Promise((resolve) => {
      // Whoever is cut off is told of it before this resolves, so that what their calls cost is counted.
      let timer = setTimeout(() => {
        server.closeAllConnections()
        timer = setTimeout(resolve, mostLateMs)
      }, mostMs)
      stopping = () => {
        clearTimeout(timer)
        server.closeAllConnections()
        resolve()
      }
      server.close()
      if (open === 0) stopping()
    })
}

/** A connection that is closed is said to be so at once. Where it is not, nobody waits for it any longer. */
const mostLateMs = 1_000
