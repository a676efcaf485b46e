import { Problem } from '../../plugins/shared/problem.ts'
import type { IncomingBody } from './body.ts'

export interface FrontRequestInit {
  readonly method: string
  /** Request target in origin form or absolute form (RFC 9112 section 3.2). */
  readonly target: string
  /** Names and values by turns, as they came. */
  readonly rawHeaders: readonly string[]
  /** Undefined: there is none. */
  readonly body?: Pick<IncomingBody, 'stream' | 'whole'>
}

/**
 * A `Request` whose parts come into being when somebody asks for them: most requests need no signal and no body, and the runtime's own `Request` not at all, which costs
 * more than everything else that is done to hand a request over. What is not here is the runtime's: a `Request` is made for it.
 */
class LazyRequest {
  readonly method: string
  readonly url: string
  readonly #rawHeaders: readonly string[]
  readonly #incoming: FrontRequestInit['body']
  #headers: Headers | undefined
  #body: ReadableStream<Uint8Array> | undefined
  #leaving: AbortController | undefined
  #left = false
  /** Whether `bytes` has read the body. */
  #read = false
  #native: Request | undefined

  /** Throws TypeError for a target in any other form. */
  constructor({ method, target, rawHeaders, body }: FrontRequestInit) {
    this.method = method
    this.url = plainTarget.test(target) ? origin + target : new URL(originForm(target), origin).href
    this.#rawHeaders = rawHeaders
    this.#incoming = body
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
    this.#leaving ??= new AbortController()
    if (this.#left) this.#leaving.abort()
    return this.#leaving.signal
  }

  /** The runtime's own, as soon as there is one: it may have copied it for somebody. */
  get body(): ReadableStream<Uint8Array> | null {
    if (this.#native) return this.#native.body
    this.#body ??= this.#incoming?.stream()
    return this.#body ?? null
  }

  get bodyUsed(): boolean {
    return this.#read || this.native.bodyUsed
  }

  bytes(): Promise<Uint8Array> {
    this.#read ||= this.#incoming !== undefined
    if (this.#native) return this.#native.bytes()
    return this.#incoming && !this.#body ? this.#incoming.whole() : new Response(this.#body).bytes()
  }

  /** The runtime's own, for whatever else somebody may want. */
  get native(): Request {
    const { method, headers, signal, body } = this
    this.#native ??= new Request(this.url, { method, headers, signal, ...(body && { body, duplex: 'half' }) })
    return this.#native
  }

  /** Its caller has left before it had its answer. */
  leave(): void {
    this.#left = true
    this.#leaving?.abort()
  }
}

/** For whom it is a `Request`, it is one: to `instanceof` too. */
export interface FrontRequest extends Request {
  leave(): void
}

for (const [name, { get, value }] of Object.entries(Object.getOwnPropertyDescriptors(Request.prototype))) {
  if (name in LazyRequest.prototype || ['method', 'url'].includes(name)) continue
  const ofNative = get
    ? {
        get(this: LazyRequest): unknown {
          return get.call(this.native)
        },
      }
    : {
        value(this: LazyRequest, ...given: unknown[]): unknown {
          return value.apply(this.native, given)
        },
      }
  Object.defineProperty(LazyRequest.prototype, name, { configurable: true, ...ofNative })
}
Object.setPrototypeOf(LazyRequest.prototype, Request.prototype)

/** Throws TypeError for a target that is neither in origin form nor in absolute form. */
export const createRequest = (init: FrontRequestInit): FrontRequest => new LazyRequest(init) as unknown as FrontRequest

/** The app knows its own address from its configuration: what the caller says of it (Host) is no part of any decision. */
const origin = 'http://localhost'

/** What a URL's parser leaves as it is: no segment begins like `.` or `..`, written out or encoded, and no character is one that it would encode. */
const plainTarget = /^(?:\/[\w~-][\w.~%:@!$&()*+,;=-]*)+\/?(?:\?[\w.~%:@!$&()*+,;=/?-]*)?$/

const originForm = (target: string): string => {
  if (target.startsWith('/')) return origin + target
  const { protocol, pathname, search } = new URL(target)
  if (!/^https?:$/.test(protocol)) throw new TypeError('request target is not http')
  return origin + pathname + search
}
