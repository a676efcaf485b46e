import type { AddressInfo } from 'node:net'
import { andThen } from '../../plugins/shared/awaitable.ts'
import { deliverBody } from '../../plugins/shared/body.ts'
import { setPeerAddress } from '../../plugins/shared/client-address.ts'
import { createCoarseTimers } from '../../plugins/shared/coarse-timers.ts'
import { inNextTurn } from '../../plugins/shared/next-turn.ts'
import { Problem } from '../../plugins/shared/problem.ts'
import { type Handle, refusalIn } from '../app.ts'
import type { Config } from '../config.ts'
import { createGracefulStop } from '../drain.ts'
import { type Framing, framingProblem, hasBody } from '../node-listener/framing.ts'
import { isStream } from '../node-listener/send.ts'
import { createFront, maxUnwantedBytes, usualTimes } from '../node-listener.ts'
import { withDirectBody } from './direct.ts'

export interface Listening {
  readonly port: number
  /** Stops accepting, lets what is under way finish for at most so many milliseconds, and closes everything. */
  stop(maxMs: number): Promise<void>
}

type Place = Pick<Config['http'], 'host' | 'port' | 'getBodies' | 'maxBodyBytes'>

export interface ListenOptions {
  readonly http: Place
  readonly media: Pick<Config['media'], 'segment'>
  /** Whether other processes listen on the same port. */
  readonly shared: boolean
  readonly times?: { readonly keepAliveMs: number; readonly bodyStallMs: number }
}

/** `node:http`, which delivers bodies of GET; for Deno in any case, whose own server (2.9.6) does not tell when a caller leaves before its answer begins. */
export const listenFront = async (handle: Handle, { http, media, shared }: ListenOptions): Promise<Listening> => {
  const server = createFront({ handle, getBodies: http.getBodies, refuse: refusalIn(media.segment) })
  const stop = createGracefulStop(server)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: http.host, port: http.port, reusePort: shared }, resolve)
  })
  return { port: (server.address() as AddressInfo).port, stop }
}

/**
 * Bun's own server, which is faster. It has one timer a connection, of whole seconds and looked at every four, which also runs while a request is answered: it is off
 * while a call takes its time, and set anew for each stretch of a body that is read, and for the pause to the next request. Headers get the runtime's own 12 seconds.
 */
export const listenBun = async (
  handle: Handle,
  { http, media, shared, times = usualTimes }: ListenOptions,
): Promise<Listening> => {
  const refuse = refusalIn(media.segment)
  const idleSeconds = Math.ceil(times.keepAliveMs / 1_000)
  const stallSeconds = Math.ceil(times.bodyStallMs / 1_000)
  const waits = createCoarseTimers(1_000)

  /** When a stream ends nobody says so: until then its connection is kept from being idle, time and again. */
  const keepOpen = (request: Request) => {
    server.timeout(request, idleSeconds)
    const again = {
      until: performance.now() + times.keepAliveMs / 3,
      over() {
        if (server.requestIP(request)) keepOpen(request)
      },
    }
    waits.add(again)
  }

  const server = Bun.serve({
    hostname: http.host,
    port: http.port,
    reusePort: shared,
    idleTimeout: idleSeconds,
    // Above the gateway's own limit, so that the answer to too much is the gateway's.
    maxRequestBodySize: http.maxBodyBytes + 2 ** 20,
    fetch(request) {
      const framing = framingIn(request.headers)
      const problem = framingProblem(framing) ?? (request.url.startsWith('http') ? undefined : invalid)
      if (problem) return refuse(problem, request.url.replace(/^https?:\/\/[^/]*/, ''))
      const call = new Call(request, server)
      setPeerAddress(request, call)
      inNextTurn(() => call.last())
      const body = hasBody(framing)
        ? watchBody(request, (stalls) => {
            call.reading = stalls > 0
            server.timeout(request, stalls * stallSeconds)
          })
        : undefined
      return andThen(handle(request), (answer) => {
        call.answered = true
        const response = withDirectBody(answer)
        if (isStream(response.headers)) keepOpen(request)
        else if (call.lasts || body) server.timeout(request, idleSeconds)
        if (body && !body.isDispensable()) response.headers.set('connection', 'close')
        return response
      })
    },
  })
  return { port: server.port ?? 0, stop: (maxMs) => within(maxMs, server.stop()).then(() => server.stop(true)) }
}

/** A request that is being answered. Most refusals need neither the address nor the timer, which cost more than they do. */
class Call {
  readonly #request: Request
  readonly #server: Bun.Server<unknown>
  #address: string | undefined
  answered = false
  lasts = false
  /** Whether the body is waited for, which has a timer of its own. */
  reading = false

  constructor(request: Request, server: Bun.Server<unknown>) {
    this.#request = request
    this.#server = server
  }

  /** The runtime knows it for as long as the connection is there. */
  get address(): string | undefined {
    this.#address ??= this.#server.requestIP(this.#request)?.address
    return this.#address
  }

  /** It has not been answered in the turn in which it came: from now on its caller may leave. */
  last(): void {
    if (this.answered) return
    this.lasts = true
    void this.address
    // A call may be silent for longer than any timer of the runtime; its own deadline ends it.
    if (!this.reading) this.#server.timeout(this.#request, 0)
  }
}

/** The runtime joins repeated fields with commas, which neither field may hold; it refuses other codings than chunks, and differing lengths, by itself. */
const framingIn = (headers: Headers): Framing => ({
  host: headers.get('host') ?? undefined,
  length: headers.get('content-length') ?? undefined,
  coding: headers.get('transfer-encoding') ?? undefined,
  repeated: false,
})

const invalid = new Problem(400, 'request is not valid')

/** Bytes of a body that is read at one go, and for how many times the pause between two pieces of a longer one it may go on coming. */
const short = { bytes: 2 ** 16, stalls: 4 }

/** Tells when a body is waited for, and for how many times the longest pause; 0: no more. The runtime hands out no body of a GET, and throws it away. */
const watchBody = (request: Request, waiting: (stalls: number) => void) => {
  const length = request.headers.get('content-length')
  let reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined
  let ended = false
  const read = async () => {
    reader ??= request.body?.getReader() as typeof reader
    waiting(1)
    const { done, value } = (await reader?.read()) ?? { done: true }
    waiting(0)
    ended = done
    return value
  }
  /** Nobody says how much of it has come: so its time is that of the whole. To ask for each piece would cost more than all that is done with it. */
  const readShort = async () => {
    waiting(short.stalls)
    const bytes = (await request.bytes()) as Uint8Array<ArrayBuffer>
    waiting(0)
    ended = true
    return bytes
  }
  /** Of announced length. */
  const readLong = async () => {
    const chunks: Uint8Array<ArrayBuffer>[] = []
    let left = Number(length)
    // Its end need not be waited for: the runtime gives no more than was announced.
    while (left > 0) {
      const chunk = await read()
      if (!chunk) break
      chunks.push(chunk)
      left -= chunk.length
    }
    ended = true
    return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
  }
  const stream = () =>
    new ReadableStream(
      {
        async pull(controller) {
          const chunk = await read()
          if (chunk) controller.enqueue(chunk)
          else controller.close()
        },
        cancel: (reason) => reader?.cancel(reason),
      },
      { highWaterMark: 0 },
    )
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    deliverBody(request, length === null ? stream() : Number(length) <= short.bytes ? readShort : readLong)
  }
  return {
    /** Whether the connection can go on when it has been answered: the runtime reads, and drops, what nobody wanted. */
    isDispensable: () => ended || (length !== null && Number(length) <= maxUnwantedBytes),
  }
}

const within = (ms: number, done: Promise<unknown>): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    void done.finally(() => {
      clearTimeout(timer)
      resolve()
    })
  })
