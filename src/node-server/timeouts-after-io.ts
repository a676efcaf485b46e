import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers'

/**
 * Makes Deno (2.9) read what has arrived before it closes a connection at a timeout. It changes nothing on Bun, which
 * does so by itself.
 *
 * The timeouts of `node:http` for headers and for idle connections are timers. After the process was blocked for longer
 * than a timeout, for example by a lock of SQLite, Deno runs them before it reads, and would close connections whose
 * requests have arrived in time.
 *
 * @param everyMs time between two checks of the timeout for headers
 */
export const closeAfterIo = (server: Server, everyMs: number): void => {
  if (!('Deno' in globalThis)) return
  server.on('timeout', (socket: Socket) => {
    const { bytesRead } = socket
    setTimeout(() => socket.bytesRead === bytesRead && socket.destroy(), readMs)
  })
  const { headersTimeout } = server
  let checkedAt = performance.now()
  let isLate = false
  // Each check reads it, perhaps several times. A late one closes nothing, unless the one before was late, too.
  const get = () => {
    const now = performance.now()
    if (now - checkedAt > everyMs / 2) {
      isLate = !isLate && now - checkedAt > everyMs * lateFactor
      checkedAt = now
    }
    return isLate ? 0 : headersTimeout
  }
  Object.defineProperty(server, 'headersTimeout', { get })
}

/** For what a process finds to read after it was blocked. */
const readMs = 100
/** A check that comes after so many of its intervals is late: the process was blocked. */
const lateFactor = 1.5
