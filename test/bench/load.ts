/**
 * The load generator: takes a job as a line of JSON on its input, asks over kept connections, one request after the other on each, and prints what it saw as a line of JSON.
 * It ends with its input.
 */
import { randomBytes } from 'node:crypto'
import { createInterface } from 'node:readline'
import { Answers } from './answers.ts'

/** `{n}` in the address, the headers and the body is a number from 0 to `distinct` - 1, each in turn; `{nonce}` is new in each job. */
export interface Asked {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly distinct: number
}

export interface Job {
  /** `http://HOST:PORT` */
  readonly url: string
  readonly asked: Asked
  readonly status: number
  readonly connections: number
  readonly seconds: number
  /** It goes on until so many are answered, though the time is over; for a minute at most. */
  readonly atLeast: number
}

const graceMs = 60_000

export interface Seen {
  readonly count: number
  /** Of another status, or cut off; `problem` says of the first what it was. */
  readonly failed: number
  readonly problem?: string
  readonly seconds: number
  /** Milliseconds to the end of the answer, and to the first byte of its body. */
  readonly whole: Quantiles
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

/** The requests as they are sent, one for each number. */
export const wireOf = (url: string, asked: Asked): readonly Buffer[] => {
  const nonce = randomBytes(12).toString('hex')
  const lines = [`${asked.method} ${asked.path} HTTP/1.1`, `host: ${new URL(url).host}`]
  for (const [name, value] of Object.entries(asked.headers)) lines.push(`${name}: ${value}`)
  return Array.from({ length: asked.distinct }, (_, n) => {
    const fill = (text: string) => text.replaceAll('{n}', String(n)).replaceAll('{nonce}', nonce)
    const body = fill(asked.body ?? '')
    const length = asked.body === undefined ? [] : [`content-length: ${Buffer.byteLength(body)}`]
    return Buffer.from(`${[...lines, ...length].map(fill).join('\r\n')}\r\n\r\n${body}`)
  })
}

const run = async (job: Job): Promise<Seen> => {
  const wire = wireOf(job.url, job.asked)
  const { hostname, port } = new URL(job.url)
  const whole: number[] = []
  const first: number[] = []
  let asked = 0
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
      const answers = new Answers()
      let askedAt = 0
      let firstAt = 0
      let waiting = false
      const ask = (socket: { write(data: Buffer): number; end(): void }) => {
        if ((performance.now() >= endsAt && asked >= job.atLeast) || failed > 100) return void socket.end()
        const request = wire[asked++ % wire.length] as Buffer
        answers.reset()
        firstAt = 0
        waiting = true
        askedAt = performance.now()
        if (socket.write(request) < request.length) throw new Error('a request was not taken whole')
      }
      const closed = () => {
        if (waiting) fail(`the connection was closed after status ${answers.status || 'none'}`)
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
            const ended = answers.feed(data)
            const now = performance.now()
            if (firstAt === 0 && answers.bytes > 0) firstAt = now
            if (!ended) return
            waiting = false
            if (answers.status === job.status) {
              whole.push(now - askedAt)
              first.push((firstAt || now) - askedAt)
            } else fail(`status ${answers.status}`)
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
