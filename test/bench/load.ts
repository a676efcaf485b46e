/**
 * The load generator. It reads a job as one line of JSON from its input, sends requests one after the other on each of its keep-alive connections,
 * and prints the result as one line of JSON. It ends with its input.
 */
import { randomBytes } from 'node:crypto'
import { createInterface } from 'node:readline'
import { ResponseParser } from './response-parser.ts'

/** A request. `{n}` in path, headers and body is a number that cycles from 0 to `distinct` - 1. `{nonce}` is new for each job. */
export interface LoadRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly distinct: number
}

export interface Job {
  /** `http://HOST:PORT` */
  readonly url: string
  readonly request: LoadRequest
  readonly status: number
  readonly connections: number
  readonly seconds: number
  /** The job continues after `seconds` until it has sent this number of requests, but at most one minute longer. */
  readonly atLeast: number
}

const graceMs = 60_000

export interface LoadResult {
  readonly count: number
  /** Responses with another status, and interrupted ones. `problem` describes the first. */
  readonly failed: number
  readonly problem?: string
  readonly seconds: number
  /** Milliseconds to the end of the response. */
  readonly whole: Quantiles
  /** Milliseconds to the first byte of its body. */
  readonly first: Quantiles
}

export interface Quantiles {
  readonly p50: number
  readonly p99: number
}

export const quantiles = (values: readonly number[]): Quantiles => {
  const sorted = Float64Array.from(values).sort()
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0
  return { p50: at(0.5), p99: at(0.99) }
}

/** The bytes of the requests, one for each number. */
export const wireOf = (url: string, request: LoadRequest): readonly Buffer[] => {
  const nonce = randomBytes(12).toString('hex')
  const lines = [`${request.method} ${request.path} HTTP/1.1`, `host: ${new URL(url).host}`]
  for (const [name, value] of Object.entries(request.headers)) lines.push(`${name}: ${value}`)
  return Array.from({ length: request.distinct }, (_, n) => {
    const fill = (text: string) => text.replaceAll('{n}', String(n)).replaceAll('{nonce}', nonce)
    const body = fill(request.body ?? '')
    const length = request.body === undefined ? [] : [`content-length: ${Buffer.byteLength(body)}`]
    return Buffer.from(`${[...lines, ...length].map(fill).join('\r\n')}\r\n\r\n${body}`)
  })
}

const run = async (job: Job): Promise<LoadResult> => {
  const wire = wireOf(job.url, job.request)
  const { hostname, port } = new URL(job.url)
  const whole: number[] = []
  const first: number[] = []
  let sent = 0
  let failed = 0
  let problem: string | undefined
  const startedAt = performance.now()
  const endsAt = startedAt + job.seconds * 1_000
  const sockets = new Set<{ end(): void }>()
  const timeout = setTimeout(
    () => {
      for (const socket of sockets) socket.end()
    },
    job.seconds * 1_000 + graceMs,
  )
  const fail = (what: string) => {
    failed++
    problem ??= what
  }

  const connection = () =>
    new Promise<void>((resolve) => {
      const parser = new ResponseParser()
      let askedAt = 0
      let firstAt = 0
      let waiting = false
      const ask = (socket: { write(data: Buffer): number; end(): void }) => {
        if ((performance.now() >= endsAt && sent >= job.atLeast) || failed > 100) return void socket.end()
        const request = wire[sent++ % wire.length] as Buffer
        parser.reset()
        firstAt = 0
        waiting = true
        askedAt = performance.now()
        if (socket.write(request) < request.length) throw new Error('the socket did not accept the whole request')
      }
      const closed = () => {
        if (waiting) fail(`the connection was closed after status ${parser.status || 'none'}`)
        resolve()
      }
      Bun.connect({
        hostname,
        port: Number(port),
        socket: {
          open(socket) {
            sockets.add(socket)
            ask(socket)
          },
          data(socket, data) {
            const ended = parser.feed(data)
            const now = performance.now()
            if (firstAt === 0 && parser.bytes > 0) firstAt = now
            if (!ended) return
            waiting = false
            if (parser.status === job.status) {
              whole.push(now - askedAt)
              first.push((firstAt || now) - askedAt)
            } else fail(`status ${parser.status}`)
            ask(socket)
          },
          close: closed,
          error(socket, error) {
            fail(String(error))
            socket.end()
          },
        },
      }).catch((error: unknown) => {
        fail(String(error))
        resolve()
      })
    })
  await Promise.all(Array.from({ length: job.connections }, connection))
  clearTimeout(timeout)
  const seconds = (performance.now() - startedAt) / 1_000
  return { count: whole.length, failed, problem, seconds, whole: quantiles(whole), first: quantiles(first) }
}

if (import.meta.main) {
  for await (const line of createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(await run(JSON.parse(line) as Job)))
  }
}
