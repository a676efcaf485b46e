import { createServer } from 'node:net'

/**
 * A port of 127.0.0.1 that is free, for a server that starts later, or that stops and starts again on it.
 *
 * The system gives the ports from 32,768 on (Linux) to whoever asks for any port, and to the connections of clients: one of those that was
 * free just now may be in use when the server starts. So this takes lower ones, a hundred for each process.
 */
export const freePort = async (): Promise<number> => {
  for (let tries = 0; tries < portsOfProcess; tries++) {
    const port = firstPort + (next++ % portsOfProcess)
    if (await isFree(port)) return port
  }
  throw new Error(`no port from ${firstPort} on is free`)
}

const portsOfProcess = 100
const firstPort = 10_000 + (process.pid % 220) * portsOfProcess
let next = 0

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
