import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Account } from './account.ts'
import type { ReceivedRequest } from './action.ts'
import { createArkApi } from './api/ark.ts'
import { type AssetApi, type AssetCall, assetReply } from './api/asset-api.ts'
import { createRestApi, isRest } from './api/rest.ts'
import type { OpenCall } from './calls.ts'
import { controlPath, controlReply } from './control.ts'
import { h5Reply } from './face/h5.ts'
import { h5Path } from './face/link.ts'
import { handleExchange } from './faults/exchange.ts'
import { assetServerError, type Reply } from './faults/faulty-reply.ts'
import { withDefaultScope } from './faults/registry.ts'
import { assetFilesPath } from './files/asset-files.ts'
import { actionOf, isText } from './text/routes.ts'
import { createTextHandler } from './text/service.ts'
import { isVideo, videoActionOf } from './video/routes.ts'

/** A request, its number, and its faults. */
type Received = Omit<AssetCall, 'account' | 'api'>

/** Longer than the pause between two requests of a test on a busy machine. */
const keepAliveMs = 600_000

/** Starts the HTTP server: both asset APIs, text generation and video generation of one account, on one port. */
export const startServer = async (account: Account) => {
  const { port, host, clock } = account.settings
  const { faults: registry, faultsFor } = account.faultRegistry
  const faults = withDefaultScope(registry)
  const calls: OpenCall[] = []
  const sockets = new Set<Socket>()
  const stopping = new AbortController()
  const ark = createArkApi(account.settings)
  const rest = createRestApi(account.settings)
  const respondToText = createTextHandler(account)
  let number = 0

  const respond = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await readRequest(incoming)
    const { method, target: path, headers, body } = request
    if (path.startsWith(controlPath)) return send(incoming, response, controlReply(request, { account, calls, faults }))
    if (path.startsWith(assetFilesPath)) return send(incoming, response, await account.files.reply(request))
    if (path.startsWith(h5Path)) return send(incoming, response, h5Reply(request, account.faces))

    const assetApi = isRest(path) ? rest : ark
    const text = isText(path)
    const video = isVideo(path)
    const api = text ? 'text' : video ? 'video' : assetApi.name
    const action = text ? actionOf(request) : video ? videoActionOf(request) : assetApi.actionOf(request)
    const call: OpenCall = { at: clock(), api, action, method, path, headers, body, ...parsedJson(body) }
    calls.push(call)
    const disconnected = new AbortController()
    const onDisconnect = () => {
      call.aborted = true
      disconnected.abort()
    }
    response.once('close', onDisconnect)
    // the caller may have disconnected while the emulator read the end of the body
    if (incoming.socket.destroyed) onDisconnect()
    const matching = faultsFor(api, action)
    number++
    if (text) {
      const signal = AbortSignal.any([disconnected.signal, stopping.signal])
      const onClose = () => void response.off('close', onDisconnect)
      return respondToText({ incoming, response, request, call, number, appliedFaults: matching, signal, onClose })
    }
    const received = { request, action, number, appliedFaults: matching }
    const exchange = video ? videoExchange(received) : assetExchange(assetApi, received)
    const result = await handleExchange({ ...exchange, appliedFaults: matching, stopping: stopping.signal })
    if (result === 'no response' || call.aborted) return
    // from here on the emulator itself closes the connection, or the response is already complete
    if (result === 'reset' || result.keep !== undefined) response.off('close', onDisconnect)
    else response.once('finish', () => response.off('close', onDisconnect))
    if (result === 'reset') return void incoming.socket.resetAndDestroy()
    call.status = result.status
    send(incoming, response, result)
  }

  const videoExchange = ({ request, number, appliedFaults }: Received) => ({
    run: () => account.video.reply(request, number, appliedFaults),
    secret: account.settings.video.key,
    serverError: account.video.serverError(number),
  })

  const assetExchange = (api: AssetApi, received: Received) => ({
    run: () => assetReply({ ...received, account, api }),
    secret: api.secret,
    serverError: assetServerError,
  })

  const server = createServer((incoming, response) => {
    // an incomplete request is not recorded
    respond(incoming, response).catch(() => incoming.socket.destroy())
  })
  server.requestTimeout = 0
  // The default is 5 s: a client whose request meets the end of an idle connection cannot know whether it was received.
  server.keepAliveTimeout = keepAliveMs
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

  const stop = async (): Promise<void> => {
    stopping.abort()
    faults.clear()
    account.video.stop()
    account.files.stop()
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const socket of sockets) socket.destroy()
    await closed
  }

  const origin = `http://${host.includes(':') ? `[${host}]` : host}:${bound}`
  return { origin, calls, faults, stop }
}

const readRequest = async (incoming: IncomingMessage): Promise<ReceivedRequest> => {
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

const send = (incoming: IncomingMessage, response: ServerResponse, { status, headers, body, keep }: Reply): void => {
  response.statusCode = status
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  if (status !== 204 && status !== 304) response.setHeader('content-length', body.length)
  if (keep === undefined) return void response.end(body)
  // announces one byte too many, so that even a complete body counts as truncated
  response.setHeader('content-length', body.length + 1)
  response.write(body.subarray(0, keep), () => incoming.socket.end())
}

const parsedJson = (body: string): { readonly json?: unknown } => {
  try {
    return { json: JSON.parse(body) as unknown }
  } catch {
    return {}
  }
}
