/** Sends to receivers that misbehave, and prints what came of it as JSON. Runs on both runtimes. */
import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import process from 'node:process'
import { post } from '../../plugins/events/webhooks/post.ts'
import { certificate } from '../node-server/certificate.ts'

const results: Record<string, unknown> = {}
const sockets = new Set<Socket>()

const listen = async (server: Server, port = 0, host = '127.0.0.1'): Promise<number> => {
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  server.listen(port, host)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

const isLoopback = { isAllowed: (address: string) => address === '127.0.0.1' }

/** Only receivers that never answer should meet this deadline, also on a busy machine. */
const soon = { deadlineMs: 700 }

const send = async (url: string, more: Partial<Parameters<typeof post>[0]> = {}): Promise<unknown> => {
  const { signal } = new AbortController()
  const headers = { 'content-type': 'application/json', 'webhook-id': 'evt_1' }
  try {
    return await post({ url, headers, body: '{"a":"ä"}', rules: isLoopback, deadlineMs: 60_000, signal, ...more })
  } catch (error) {
    return (error as Error).message
  }
}

/** A receiver that answers with bytes of its own. */
const raw = async (onSocket: (socket: Socket) => void) => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => onSocket(socket))
  })
  return `http://127.0.0.1:${await listen(server)}/`
}

const forever = (socket: Socket, text: string): void => {
  const write = () => {
    while (!socket.destroyed && socket.writable) if (!socket.write(text)) return
  }
  socket.on('drain', write)
  write()
}

// An ordinary receiver.
let seen: Record<string, unknown> = {}
const readAll = async (request: IncomingMessage) => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts).toString()
}
const plain = createHttpServer(async (request, response) => {
  const { method, url, headers } = request
  seen = { method, url, host: headers.host, type: headers['content-type'], body: await readAll(request) }
  response.writeHead(204).end()
})
const plainPort = await listen(plain)
results.accepted = await send(`http://127.0.0.1:${plainPort}/hook?x=1`)
results.request = { ...seen, host: seen.host === `127.0.0.1:${plainPort}` }

// A redirect to another receiver.
let redirected = 0
const target = await listen(
  createHttpServer((_, response) => {
    redirected++
    response.end()
  }),
)
const redirecting = createHttpServer((_, response) =>
  response.writeHead(307, { location: `http://127.0.0.1:${target}/` }).end(),
)
results.redirect = await send(`http://127.0.0.1:${await listen(redirecting)}/`)
results.redirected = redirected

// A name that resolves to another address the next time. The system cannot resolve it at all.
let resolved = 0
let rebound = 0
const other = createHttpServer((_, response) => {
  rebound++
  response.end()
})
await listen(other, plainPort, '127.0.0.2')
results.rebinding = await send(`http://rebind.example:${plainPort}/`, {
  rules: { ...isLoopback, resolve: async () => (resolved++ === 0 ? ['127.0.0.1'] : ['127.0.0.2']) },
})
results.reboundHost = seen.host === `rebind.example:${plainPort}`
results.rebound = [resolved, rebound]
results.private = await send(`http://rebind.example:${plainPort}/`, {
  rules: { ...isLoopback, resolve: async () => ['127.0.0.2', '::1', 'fe80::1%lo'] },
})
const order: string[] = []
const slowResolve = async (_: string, signal: AbortSignal): Promise<readonly string[]> => {
  await once(signal, 'abort')
  order.push('cancelled')
  await new Promise((resolve) => setTimeout(resolve, 20))
  order.push('ended')
  return []
}
results.slowName = await send('http://slow.example/', {
  rules: { ...isLoopback, resolve: slowResolve },
  deadlineMs: 50,
})
results.slowNameOrder = [...order]

// A name with an address of each family, of which one is not reachable: no other test listens at that address of the loopback network.
const six = createHttpServer((_, response) => response.end())
const sixPort = await listen(six, 0, '::1')
const both = {
  isAllowed: (address: string) => address === '127.9.8.7' || address === '::1',
  resolve: async () => ['127.9.8.7', '::1'],
}
results.otherFamily = await send(`http://both.example:${sixPort}/`, { rules: both })

// Silence, at different places.
results.silent = await send(await raw(() => {}), soon)
results.slowHeaders = await send(
  await raw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    const timer = setInterval(() => socket.write('x'), 20)
    socket.on('close', () => clearInterval(timer))
  }),
  soon,
)
results.interim = await send(await raw((socket) => forever(socket, 'HTTP/1.1 100 Continue\r\n\r\n')), soon)

// Too much.
const before = process.memoryUsage().rss
results.endlessHeaders = typeof (await send(
  await raw((socket) => forever(socket, 'HTTP/1.1 200 OK\r\nx: y\r\n'.repeat(100))),
  soon,
))
results.longHeader = typeof (await send(
  await raw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nx: ')
    forever(socket, 'x'.repeat(10_000))
  }),
  soon,
))
let sentBytes = 0
let closed = false
results.endlessBody = await send(
  await raw((socket) => {
    socket.on('close', () => {
      closed = true
      sentBytes = socket.bytesWritten
    })
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    forever(socket, `2710\r\n${'x'.repeat(10_000)}\r\n`)
  }),
)
for (let waited = 0; !closed && waited < 100; waited++) await new Promise((resolve) => setTimeout(resolve, 20))
results.endlessBodyClosed = closed && sentBytes < 50_000_000
results.memory = process.memoryUsage().rss - before < 150_000_000

// Broken.
results.closed = await send(await raw((socket) => socket.destroy()))
results.noHttp = typeof (await send(await raw((socket) => socket.end('SSH-2.0-OpenSSH_9.0\r\n'))))
const unused = createServer()
const port = await listen(unused)
await new Promise((resolve) => unused.close(resolve))
results.refused = await send(`http://127.0.0.1:${port}/`)

// TLS: the certificate must be for the name in the URL.
const secure = createHttpsServer({ key: certificate.key, cert: certificate.cert }, async (request, response) => {
  seen = { host: request.headers.host, body: await readAll(request) }
  response.end()
})
const securePort = await listen(secure)
const named = (name: string) => ({
  ca: certificate.cert,
  rules: { ...isLoopback, resolve: async () => (name ? ['127.0.0.1'] : []) },
})
results.secure = await send(`https://localhost:${securePort}/`, named('localhost'))
results.secureHost = seen.host === `localhost:${securePort}`
results.secureAddress = await send(`https://127.0.0.1:${securePort}/`, named('127.0.0.1'))
results.wrongName = await send(`https://ann.example:${securePort}/`, named('ann.example'))
results.untrusted = await send(`https://localhost:${securePort}/`, { ...named('localhost'), ca: undefined })

// The end of the process.
const stopping = new AbortController()
const stopped = send(await raw(() => stopping.abort()), { signal: stopping.signal, deadlineMs: 60_000 })
results.stopped = await stopped

for (const socket of sockets) socket.destroy()
console.log(JSON.stringify(results))
process.exit(0)
