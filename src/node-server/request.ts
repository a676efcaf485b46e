import {
  callerDisconnected,
  callerDisconnection,
  type Disconnection,
  type DisconnectionListener,
} from '../../plugins/shared/http/disconnection.ts'
import { Problem } from '../../plugins/shared/problem.ts'
import type { IncomingBody } from './body.ts'

export interface NodeRequestInit {
  readonly method: string
  /** Scheme and host, from `createOriginOf`. */
  readonly origin: string
  /** Request target in origin form or absolute form (RFC 9112 section 3.2). */
  readonly target: string
  /** Alternating names and values, as in `IncomingMessage.rawHeaders`. */
  readonly rawHeaders: readonly string[]
}

/**
 * A `Request` that creates its parts on first use.
 *
 * Most requests need neither signal nor body. A native `Request` costs more than the rest of the server's work for a
 * request. It is created only for members that this class does not implement.
 */
class LazyRequest {
  readonly method: string
  readonly url: string
  readonly #rawHeaders: readonly string[]
  #incomingBody: Pick<IncomingBody, 'stream' | 'bytes'> | undefined
  #headers: Headers | undefined
  #body: ReadableStream<Uint8Array> | undefined
  #controller: AbortController | undefined
  #disconnection: CallerDisconnection | undefined
  #aborted = false
  /** Whether `bytes` has read the body. */
  #bytesRead = false
  #native: Request | undefined

  /** Throws TypeError for a target in another form than those of `NodeRequestInit`. */
  constructor({ method, origin, target, rawHeaders }: NodeRequestInit) {
    this.method = method
    this.url = normalizedTarget.test(target) ? origin + target : urlOf(target, origin)
    this.#rawHeaders = rawHeaders
  }

  setBody(body: Pick<IncomingBody, 'stream' | 'bytes'>): void {
    this.#incomingBody = body
  }

  get headers(): Headers {
    if (this.#headers) return this.#headers
    const headers = new Headers()
    const raw = this.#rawHeaders
    try {
      for (let at = 0; at < raw.length; at += 2) headers.append(raw[at] ?? '', raw[at + 1] ?? '')
    } catch {
      throw new Problem(400, 'request is not valid', { headers: { connection: 'close' } })
    }
    this.#headers = headers
    return headers
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#aborted) this.#controller.abort()
    return this.#controller.signal
  }

  get [callerDisconnection](): Disconnection {
    this.#disconnection ??= new CallerDisconnection(this.#aborted)
    return this.#disconnection
  }

  /** Once the native request exists, its body: `clone` may have replaced the stream. */
  get body(): ReadableStream<Uint8Array> | null {
    if (this.#native) return this.#native.body
    this.#body ??= this.#incomingBody?.stream()
    return this.#body ?? null
  }

  get bodyUsed(): boolean {
    return this.#bytesRead || this.native.bodyUsed
  }

  bytes(): Promise<Uint8Array> {
    this.#bytesRead ||= this.#incomingBody !== undefined
    if (this.#native) return this.#native.bytes()
    return this.#incomingBody && !this.#body ? this.#incomingBody.bytes() : new Response(this.#body).bytes()
  }

  /** The runtime's own `Request`, for all members that this class does not implement. */
  get native(): Request {
    const { method, headers, signal, body } = this
    this.#native ??= new Request(this.url, { method, headers, signal, ...(body && { body, duplex: 'half' }) })
    return this.#native
  }

  get [callerDisconnected](): boolean {
    return this.#aborted
  }

  /** Aborts the signal: the caller has disconnected before the end of the response. */
  abort(): void {
    this.#aborted = true
    this.#controller?.abort()
    this.#disconnection?.abort()
  }
}

class CallerDisconnection implements Disconnection {
  aborted: boolean
  #reason: DOMException | undefined
  #listeners: DisconnectionListener[] = []

  constructor(aborted: boolean) {
    this.aborted = aborted
  }

  get reason(): unknown {
    if (this.aborted) this.#reason ??= new DOMException('The operation was aborted.', 'AbortError')
    return this.#reason
  }

  addEventListener(_type: 'abort', listener: DisconnectionListener): void {
    if (!this.#listeners.includes(listener)) this.#listeners.push(listener)
  }

  removeEventListener(_type: 'abort', listener: DisconnectionListener): void {
    const index = this.#listeners.indexOf(listener)
    if (index >= 0) this.#listeners.splice(index, 1)
  }

  abort(): void {
    if (this.aborted) return
    this.aborted = true
    for (const listener of this.#listeners.splice(0)) listener.handleEvent()
  }
}

/** The request that the app gets. `instanceof Request` is true for it. */
export interface NodeRequest extends Request {
  /** Call it before the app gets the request. Otherwise it has no body. */
  setBody(body: Pick<IncomingBody, 'stream' | 'bytes'>): void
  /** Aborts its signal. */
  abort(): void
}

for (const [name, { get, value }] of Object.entries(Object.getOwnPropertyDescriptors(Request.prototype))) {
  if (name in LazyRequest.prototype || ['method', 'url'].includes(name)) continue
  const delegate = get
    ? {
        get(this: LazyRequest): unknown {
          return get.call(this.native)
        },
      }
    : {
        value(this: LazyRequest, ...args: unknown[]): unknown {
          return value.apply(this.native, args)
        },
      }
  Object.defineProperty(LazyRequest.prototype, name, { configurable: true, ...delegate })
}
Object.setPrototypeOf(LazyRequest.prototype, Request.prototype)

/**
 * Creates the request for the app. Throws TypeError for a target that is neither in origin form nor in absolute form.
 */
export const createRequest = (init: NodeRequestInit): NodeRequest => new LazyRequest(init) as unknown as NodeRequest

/**
 * Request targets that a URL parser leaves unchanged: no segment that could be `.` or `..`, also percent-encoded, and
 * no character that it would encode.
 */
const normalizedTarget = /^(?:\/[\w~-][\w.~%:@!$&()*+,;=-]*)+\/?(?:\?[\w.~%:@!$&()*+,;=/?-]*)?$/

/**
 * In absolute form the target names the host, and the Host header does not count (RFC 9112 section 3.2.2). The scheme
 * is that of the server.
 */
const urlOf = (target: string, origin: string): string => {
  if (target.startsWith('/')) return withOrigin(new URL(origin + target), origin)
  const url = new URL(target)
  if (!/^https?:$/.test(url.protocol)) throw new TypeError('the request target is not an http or https URL')
  const scheme = origin.slice(0, origin.indexOf(':'))
  const own = new URL(`${scheme}://${url.host}${url.pathname}${url.search}`)
  return withOrigin(own, longOriginOf(own))
}

const withOrigin = (url: URL, origin: string): string => origin + url.href.slice(url.origin.length)

/**
 * The origin of a URL, at least 11 characters long: a shorter one, such as `http://a`, gets its port.
 *
 * By default Elysia (1.4.30) searches the path from the 11th character on. With a shorter origin, a caller could reach
 * `/admin` as `/abc/admin`, which a proxy in front of the server permits.
 */
const longOriginOf = ({ origin, port }: URL): string => {
  if (origin.length >= 11) return origin
  return port ? origin.replace(/\d+$/, port.padStart(2, '0')) : `${origin}:${origin.startsWith('https:') ? 443 : 80}`
}

/**
 * Returns a function that creates the origin of a request from its Host. Without a host (RFC 9110 section 7.2 permits
 * an empty one), the host is `localhost`. The function throws TypeError for a host that no URL can have, such as
 * `1.2.3.4.5`.
 */
export const createOriginOf = (scheme: 'http' | 'https'): ((host: string | undefined) => string) => {
  // Most requests have the same host as the request before.
  let lastHost = 'localhost'
  let lastOrigin = `${scheme}://localhost`
  return (host) => {
    const name = host || 'localhost'
    if (name !== lastHost) {
      lastOrigin = longOriginOf(new URL(`${scheme}://${name}`))
      lastHost = name
    }
    return lastOrigin
  }
}
