import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http'
import { deliverAddress } from '../plugins/shared/address.ts'
import { announcesBody, deliverBody } from '../plugins/shared/body.ts'
import { Problem } from '../plugins/shared/problem.ts'

export interface FrontOptions {
  readonly handle: (request: Request) => Response | Promise<Response>
  /** Bytes of a body on GET that are read before the rest is left alone: one more than the app accepts is enough for it to say so. Undefined: none is delivered. */
  readonly maxQueryBodyBytes: number | undefined
  /** How a request is refused that no server should have to understand. Default: as the problem renders itself. */
  readonly refuse?: (problem: Problem, target: string) => Response
}

/**
 * A server on `node:http`, which alone delivers a body on GET: the runtimes' own servers throw it away. Such a body is handed over with `deliverBody`; every
 * other request pays nothing for it.
 */
export const createFront = (options: FrontOptions): Server => {
  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing, options).catch(() => outgoing.destroy())
  })
  // Longer than balancers keep theirs (60 s): who closes first must not be the one whose requests come in.
  server.keepAliveTimeout = 75_000
  return server
}

const answer = async (incoming: IncomingMessage, outgoing: ServerResponse, options: FrontOptions): Promise<void> => {
  const gone = new AbortController()
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort()
  })
  const request = await toRequest(incoming, gone.signal, options.maxQueryBodyBytes)
  const response = request ? await options.handle(request) : refuse(incoming.url ?? '', options)
  await send(response, outgoing, incoming.method === 'HEAD')
  // Nobody wanted the body: it has to be out of the way of the connection's next request.
  if (request?.body && !request.bodyUsed) await request.body.cancel()
}

const refuse = (target: string, options: FrontOptions): Response => {
  const problem = new Problem(400, 'request is not valid')
  return options.refuse?.(problem, target) ?? problem.toResponse()
}

/** Undefined for a request that no server should have to understand. */
const toRequest = async (
  incoming: IncomingMessage,
  signal: AbortSignal,
  maxQueryBodyBytes: number | undefined,
): Promise<Request | undefined> => {
  const { method = 'GET', url: target = '', rawHeaders } = incoming
  let hosts = 0
  let request: Request
  try {
    const headers = new Headers()
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = rawHeaders[at] ?? ''
      if (name.length === 4 && name.toLowerCase() === 'host') hosts++
      headers.append(name, rawHeaders[at + 1] ?? '')
    }
    // RFC 9112 section 3.2: one Host, neither none nor two; before HTTP/1.1 there was none.
    if (hosts > 1 || (hosts === 0 && incoming.httpVersion !== '1.0')) return undefined
    const bodied = method !== 'GET' && method !== 'HEAD' && announcesBody(headers)
    request = new Request(origin + pathOf(target), {
      method,
      headers,
      signal,
      ...(bodied && { body: streamOf(incoming), duplex: 'half' }),
    })
  } catch {
    return undefined
  }
  deliverAddress(request, incoming.socket.remoteAddress)
  if (method === 'GET' && announcesBody(request.headers)) {
    if (maxQueryBodyBytes === undefined) incoming.resume()
    else deliverBody(request, await collect(incoming, maxQueryBodyBytes))
  }
  return request
}

/**
 * A body as it arrives, no faster than it is read. Not `Readable.toWeb`, which on Deno ends the process when the stream is cancelled with more to come. What is
 * left of a cancelled body is read and dropped, so that its sender gets to see the answer.
 */
const streamOf = (incoming: IncomingMessage): ReadableStream<Uint8Array> => {
  let wanted = true
  return new ReadableStream({
    start(controller) {
      incoming.pause()
      incoming.on('data', (chunk: Uint8Array) => {
        if (!wanted) return
        controller.enqueue(chunk)
        if ((controller.desiredSize ?? 0) <= 0) incoming.pause()
      })
      const end = (error?: Error) => {
        if (!wanted) return
        wanted = false
        if (error) controller.error(error)
        else controller.close()
      }
      incoming.once('end', () => end())
      incoming.once('error', end)
      incoming.once('close', () => end(new Error('the caller left in the middle of its request')))
    },
    pull() {
      incoming.resume()
    },
    cancel() {
      wanted = false
      incoming.resume()
    },
  })
}

/** The app knows its own address from its configuration: what the caller says of it (Host) is no part of any decision. */
const origin = 'http://localhost'

/** Path and query of a request target in origin form or absolute form (RFC 9112 section 3.2); throws for any other. */
const pathOf = (target: string): string => {
  if (target.startsWith('/')) return target
  const { protocol, pathname, search } = new URL(target)
  if (!/^https?:$/.test(protocol)) throw new TypeError('request target is not http')
  return pathname + search
}

/** The first `most` bytes of a body, and one more if there are more; the rest is read and dropped. */
const collect = (incoming: IncomingMessage, most: number): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let length = 0
    incoming.on('data', (chunk: Uint8Array) => {
      if (length > most) return
      chunks.push(chunk)
      length += chunk.length
      if (length > most) resolve(Buffer.concat(chunks).subarray(0, most + 1))
    })
    incoming.once('end', () => resolve(Buffer.concat(chunks)))
    incoming.once('close', () => reject(new Error('the caller left in the middle of its request')))
  })

const send = async (response: Response, outgoing: ServerResponse, headOnly: boolean): Promise<void> => {
  const headers: OutgoingHttpHeaders = Object.fromEntries(response.headers)
  if ('set-cookie' in headers) headers['set-cookie'] = response.headers.getSetCookie()
  const { status, body } = response
  if (body && !headOnly && isStream(response.headers)) {
    outgoing.writeHead(status, headers)
    outgoing.flushHeaders()
    await relay(body, outgoing)
    return
  }
  const bytes = new Uint8Array(await response.arrayBuffer())
  // RFC 9110 section 8.6: two statuses have no length; and what answers HEAD without a body does not know it.
  if (status !== 204 && status !== 304 && (!headOnly || bytes.length > 0)) headers['content-length'] = bytes.length
  outgoing.writeHead(status, headers)
  outgoing.end(headOnly ? undefined : bytes)
}

/** Whether a body comes into being as it is sent, so that it must not be waited for. */
const isStream = (headers: Headers): boolean => (headers.get('content-type') ?? '').startsWith('text/event-stream')

/** No faster than the caller reads, and no longer than it is there: also a stream that is silent when its caller leaves is cancelled. */
const relay = async (body: ReadableStream<Uint8Array>, outgoing: ServerResponse): Promise<void> => {
  const reader = body.getReader()
  const leave = () => void reader.cancel().catch(() => {})
  outgoing.once('close', leave)
  for (let read = await reader.read(); !read.done && !outgoing.destroyed; read = await reader.read()) {
    if (!outgoing.write(read.value)) await drained(outgoing)
  }
  outgoing.off('close', leave)
  outgoing.end()
}

const drained = (outgoing: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      outgoing.off('drain', end)
      outgoing.off('close', end)
      resolve()
    }
    outgoing.on('drain', end)
    outgoing.on('close', end)
  })
