import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Account } from './account.ts'
import { arkShape } from './ark.ts'
import type { OpenCall } from './calls.ts'
import { CONTROL_PATH, controlled } from './control.ts'
import { endOf } from './exchange.ts'
import { h5Reply } from './face/h5.ts'
import { H5_PATH } from './face/paths.ts'
import { createFaults } from './fault-registry.ts'
import type { Reply } from './faulty-reply.ts'
import { isRest, restShape } from './rest.ts'
import type { ReceivedRequest } from './shape.ts'
import { createTextHandler } from './text/calls.ts'
import { actionOf, isText } from './text/routes.ts'
import { withDefaultScope } from './text/scope.ts'

/** Starts the HTTP server: both asset APIs and text generation of one account, on one port. */
export async function startServer(account: Account) {
  const { port, host, clock } = account.settings
  const { faults: registry, strikes } = createFaults()
  const faults = withDefaultScope(registry)
  const calls: OpenCall[] = []
  const sockets = new Set<Socket>()
  const stopping = new AbortController()
  const ark = arkShape(account.settings)
  const rest = restShape(account.settings)
  const answerText = createTextHandler(account)
  let number = 0

  async function respond(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await received(incoming)
    const { method, target: path, headers, body } = request
    if (path.startsWith(CONTROL_PATH)) return send(incoming, response, controlled(request, { account, calls, faults }))
    if (path.startsWith(H5_PATH)) return send(incoming, response, h5Reply(request, account.faces))

    const shape = isRest(path) ? rest : ark
    const text = isText(path)
    const kind = text ? 'text' : shape.kind
    const action = text ? actionOf(request) : shape.actionOf(request)
    const call: OpenCall = { at: clock(), kind, action, method, path, headers, body, ...parsed(body) }
    calls.push(call)
    const disconnected = new AbortController()
    const onDisconnect = () => {
      call.aborted = true
      disconnected.abort()
    }
    response.once('close', onDisconnect)
    // the caller may have disconnected while the emulator read the end of the body
    if (incoming.socket.destroyed) onDisconnect()
    const matching = strikes(kind, action)
    number++
    if (text) {
      const signal = AbortSignal.any([disconnected.signal, stopping.signal])
      const onClose = () => void response.off('close', onDisconnect)
      return answerText({ incoming, response, request, call, number, strikes: matching, signal, onClose })
    }
    const exchange = { account, shape, request, action, number, strikes: matching, stopping: stopping.signal }
    const end = await endOf(exchange)
    if (end === 'silence' || call.aborted) return
    // from here on the emulator itself closes the connection, or the response is already complete
    if (end === 'reset' || end.keep !== undefined) response.off('close', onDisconnect)
    else response.once('finish', () => response.off('close', onDisconnect))
    if (end === 'reset') return void incoming.socket.resetAndDestroy()
    call.status = end.status
    send(incoming, response, end)
  }

  const server = createServer((incoming, response) => {
    // an incomplete request is not recorded
    respond(incoming, response).catch(() => incoming.socket.destroy())
  })
  server.requestTimeout = 0
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port

  async function stop(): Promise<void> {
    stopping.abort()
    faults.clear()
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const socket of sockets) socket.destroy()
    await closed
  }

  const origin = `http://${host.includes(':') ? `[${host}]` : host}:${bound}`
  return { origin, calls, faults, stop }
}

async function received(incoming: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Uint8Array[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  const bytes = Buffer.concat(chunks)
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value = '']) => [
      name,
      Array.isArray(value) ? value.join(', ') : value,
    ]),
  )
  return { method: incoming.method ?? '', target: incoming.url ?? '/', headers, bytes, body: bytes.toString() }
}

function send(incoming: IncomingMessage, response: ServerResponse, { status, headers, body, keep }: Reply): void {
  response.statusCode = status
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  if (status !== 204 && status !== 304) response.setHeader('content-length', body.length)
  if (keep === undefined) return void response.end(body)
  // announces one byte too many, so that even a complete body counts as truncated
  response.setHeader('content-length', body.length + 1)
  response.write(body.subarray(0, keep), () => incoming.socket.end())
}

function parsed(body: string): { readonly json?: unknown } {
  try {
    return { json: JSON.parse(body) as unknown }
  } catch {
    return {}
  }
}
