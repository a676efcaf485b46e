/**
 * A load generator of clients that do not wait for each other: requests become due at equal intervals, and one that finds no free connection is given up. Connections that
 * the server closes are opened again. It reads a job as one line of JSON from its input, and prints the result as one line of JSON. It ends with its input.
 */
import { createInterface } from 'node:readline'
import { type LoadRequest, type Quantiles, quantiles, wireOf } from '../load.ts'
import { ResponseParser } from '../response-parser.ts'

export interface OpenJob {
  /** `http://HOST:PORT` */
  readonly url: string
  /** Of each user one, in turns. */
  readonly requests: readonly LoadRequest[]
  readonly perSecond: number
  readonly seconds: number
  readonly connections: number
}

export interface OpenResult {
  /** Responses with status 200, and the milliseconds until their ends. */
  readonly good: number
  readonly whole: Quantiles
  /** Responses with status 429 or 503, and the milliseconds until their ends. */
  readonly refused: number
  readonly refusal: Quantiles
  /** Other responses, and connections that were lost. `problem` describes the first. */
  readonly failed: number
  readonly problem?: string
  /** Requests that found no free connection. */
  readonly givenUp: number
  /** Requests that were sent, or given up, more than 10 ms after they were due: the generator had too much to do. */
  readonly late: number
  /** Milliseconds from when requests were due until they were sent or given up. */
  readonly lag: Quantiles
  /** CPU time of the generator. */
  readonly cpuSeconds: number
  /** From the first request to the last response. */
  readonly seconds: number
}

/** How long the generator waits for responses after the last request. */
const graceMs = 3_000
/** Requests become due at the ticks of this timer. */
const tickMs = 1
const lateMs = 10

/** A keep-alive connection, which is opened again when it was closed. */
class Connection {
  readonly #url: URL
  readonly #parser = new ResponseParser()
  readonly #onIdle: (connection: Connection) => void
  readonly #onEnd: (status: number, ms: number) => void
  #socket: { write(data: Buffer): number; end(): void } | undefined
  #askedAt = 0
  #isOver = false

  constructor(url: string, onIdle: (connection: Connection) => void, onEnd: (status: number, ms: number) => void) {
    this.#url = new URL(url)
    this.#onIdle = onIdle
    this.#onEnd = onEnd
  }

  /** Resolves when it is open. */
  async open(): Promise<void> {
    const ended = () => {
      if (this.#socket === undefined) return
      this.#socket = undefined
      if (this.#askedAt !== 0) this.#end(0)
      if (!this.#isOver) void this.open().catch(() => this.#onEnd(0, 0))
    }
    this.#socket = await Bun.connect({
      hostname: this.#url.hostname,
      port: Number(this.#url.port),
      socket: {
        data: (_, data) => {
          if (this.#askedAt === 0 || !this.#parser.feed(data)) return
          this.#end(this.#parser.status)
          this.#onIdle(this)
        },
        close: ended,
        error: ended,
      },
    })
    this.#onIdle(this)
  }

  /** Returns whether the request was sent. */
  ask(request: Buffer): boolean {
    if (this.#socket === undefined) return false
    this.#parser.reset()
    this.#askedAt = performance.now()
    return this.#socket.write(request) === request.length
  }

  close(): void {
    this.#isOver = true
    this.#socket?.end()
  }

  #end(status: number): void {
    const ms = performance.now() - this.#askedAt
    this.#askedAt = 0
    this.#onEnd(status, ms)
  }
}

/** Sends all requests of a job. */
export const runOpen = async (job: OpenJob): Promise<OpenResult> => {
  const wires = job.requests.map((request) => wireOf(job.url, request))
  const total = Math.round(job.perSecond * job.seconds)
  const idle: Connection[] = []
  const whole: number[] = []
  const refusals: number[] = []
  const lags: number[] = []
  let [failed, givenUp, due, open] = [0, 0, 0, 0]
  let problem: string | undefined
  let settle = () => {}
  const onEnd = (status: number, ms: number): void => {
    open--
    if (status === 200) whole.push(ms)
    else if (status === 429 || status === 503) refusals.push(ms)
    else {
      failed++
      problem ??= status === 0 ? 'a connection was lost' : `status ${status}`
    }
    settle()
  }
  const connections = Array.from(
    { length: job.connections },
    () => new Connection(job.url, (connection) => idle.push(connection), onEnd),
  )
  await Promise.all(connections.map((connection) => connection.open()))
  const cpuBefore = process.cpuUsage()
  const startedAt = performance.now()
  const sendOne = (nth: number): void => {
    const wire = wires[nth % wires.length] ?? []
    const request = wire[Math.floor(nth / wires.length) % wire.length] as Buffer
    for (let connection = idle.pop(); connection; connection = idle.pop()) {
      if (!connection.ask(request)) continue
      open++
      return
    }
    givenUp++
  }
  const timer = setInterval(() => {
    const until = Math.min(total, Math.floor(((performance.now() - startedAt) / 1_000) * job.perSecond) + 1)
    for (; due < until; due++) {
      lags.push(performance.now() - startedAt - (1_000 * due) / job.perSecond)
      sendOne(due)
    }
    if (due === total) clearInterval(timer)
    settle()
  }, tickMs)
  await new Promise<void>((resolve) => {
    const giveUp = setTimeout(resolve, job.seconds * 1_000 + graceMs)
    settle = () => {
      if (due < total || open > 0) return
      clearTimeout(giveUp)
      resolve()
    }
  })
  clearInterval(timer)
  const seconds = (performance.now() - startedAt) / 1_000
  const { user, system } = process.cpuUsage(cpuBefore)
  for (const connection of connections) connection.close()
  return {
    ...{ good: whole.length, whole: quantiles(whole), refused: refusals.length, refusal: quantiles(refusals) },
    ...{ failed: failed + open, givenUp, seconds, ...(problem !== undefined && { problem }) },
    ...{ late: lags.filter((lag) => lag > lateMs).length, lag: quantiles(lags), cpuSeconds: (user + system) / 1e6 },
  }
}

if (import.meta.main) {
  for await (const line of createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(await runOpen(JSON.parse(line) as OpenJob)))
  }
}
