import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A reverse proxy that serves an upstream below a prefix, which it removes, and nothing else. */
export const startProxy = async (prefix: string) => {
  let upstream = ''
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url = '' } = incoming
    if (!url.startsWith(`${prefix}/`)) {
      outgoing.writeHead(404).end()
      return
    }
    // Without an agent: a kept connection may close just when the next request takes it.
    const options = { method, headers, agent: false } as const
    const forwarded = request(upstream + url.slice(prefix.length), options, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(outgoing)
    })
    // A stream of the browser is still open when its server stops.
    forwarded.on('error', () => outgoing.destroy())
    incoming.pipe(forwarded)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`,
    to(url: string) {
      upstream = url
    },
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}
