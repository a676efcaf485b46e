/**
 * A load generator with a given rate: requests become due at equal intervals, whether or not earlier ones have been answered, so that a slow server cannot slow
 * down the load. It reads a job as one line of JSON from its input, and prints the result as one line of JSON. It ends with its input.
 */
import { createInterface } from 'node:readline'
import { type LoadRequest, type Quantiles, quantiles, wireOf } from '../load.ts'
import { ResponseParser } from '../response-parser.ts'

export interface PacedJob {
  /** `http://HOST:PORT` */
  readonly url: string
  readonly request: LoadRequest
  readonly status: number
  readonly perSecond: number
  readonly seconds: number
  /** Keep-alive connections, all opened before the first request. A request waits for a free one, and the wait counts. */
  readonly connections: number
}

export interface PacedResult {
  readonly count: number
  /** Responses with another status, interrupted ones, and requests without a response. `problem` describes the first. */
  readonly failed: number
  readonly problem?: string
  /** Responses per second, from the first request to the last response. */
  readonly perSecond: number
  /** Milliseconds from the moment when a request is due to the end of its response. */
  readonly whole: Quantiles
}

/** How long the generator waits for responses after the last request. */
const graceMs = 3_000
/** Requests become due at the ticks of this timer. */
const tickMs = 1

interface Connection {
  ask(dueAt: number): void
  close(): void
}

const run = async (job: PacedJob): Promise<PacedResult> => {
  const wire = wireOf(job.url, job.request)
  const total = Math.round(job.perSecond * job.seconds)
  const idle: Connection[] = []
  const waiting: number[] = []
  const whole: number[] = []
  let failed = 0
  let problem: string | undefined
  let sent = 0
  let settle = () => {}
  const fail = (what: string) => {
    failed++
    problem ??= what
    settle()
  }

  const open = async (): Promise<Connection> => {
    const { hostname, port } = new URL(job.url)
    const parser = new ResponseParser()
    /** When the request in flight was due. 0: there is none. */
    let askedAt = 0
    let closing = false
    const connection: Connection = {
      ask(dueAt) {
        const bytes = wire[sent++ % wire.length] as Buffer
        parser.reset()
        askedAt = dueAt
        if (socket.write(bytes) < bytes.length) fail('the socket did not accept the whole request')
      },
      close() {
        closing = true
        socket.end()
      },
    }
    const socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        data(_, data) {
          if (askedAt === 0 || !parser.feed(data)) return
          const since = askedAt
          askedAt = 0
          if (parser.status === job.status) {
            whole.push(performance.now() - since)
            settle()
          } else fail(`status ${parser.status}`)
          const due = waiting.shift()
          if (due === undefined) idle.push(connection)
          else connection.ask(due)
        },
        close() {
          if (!closing) fail('a connection was closed')
        },
        error: (_, error) => fail(String(error)),
      },
    })
    return connection
  }

  const connections = await Promise.all(Array.from({ length: job.connections }, open))
  idle.push(...connections)
  const startedAt = performance.now()
  let due = 0
  const timer = setInterval(() => {
    const now = performance.now()
    const until = Math.min(total, Math.floor(((now - startedAt) / 1_000) * job.perSecond) + 1)
    for (; due < until; due++) {
      // The one that has rested longest, so that no server closes it as idle.
      const connection = idle.shift()
      if (connection) connection.ask(now)
      else waiting.push(now)
    }
    if (due === total) clearInterval(timer)
  }, tickMs)
  await new Promise<void>((resolve) => {
    const giveUp = setTimeout(resolve, job.seconds * 1_000 + graceMs)
    settle = () => {
      if (whole.length + failed < total) return
      clearTimeout(giveUp)
      resolve()
    }
  })
  clearInterval(timer)
  const seconds = (performance.now() - startedAt) / 1_000
  for (const connection of connections) connection.close()
  const missing = Math.max(0, total - whole.length - failed)
  if (missing > 0) problem ??= 'no response'
  return {
    count: whole.length,
    failed: failed + missing,
    problem,
    perSecond: whole.length / seconds,
    whole: quantiles(whole),
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line) as PacedJob
  const result = await run(job).catch(
    (error): PacedResult => ({ count: 0, failed: 1, problem: String(error), perSecond: 0, whole: { p50: 0, p99: 0 } }),
  )
  console.log(JSON.stringify(result))
}
