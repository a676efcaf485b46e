import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

/** One kind of request, with what its response must be. */
export interface LoadKind {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Whether the whole response is as it must be. */
  isRight(status: number, body: string): boolean
}

/** A load that runs. */
export interface Load {
  /** Requests that have been sent, by their kind. */
  readonly counts: () => Readonly<Record<string, number>>
  /** Requests without a response, or with a wrong one, and why. */
  readonly lost: readonly string[]
  /** Resolves when that many requests have been sent. */
  reaches(count: number): Promise<void>
  /** Sends no further request, and resolves when all responses are there. */
  end(): Promise<void>
}

/** How a load is sent. */
export interface LoadOptions {
  readonly connections: number
  /** How long a connection is idle after each response. */
  readonly pauseMs: number
  readonly next: (nth: number) => LoadKind
}

/** Sends requests over some connections, each some time after the one before has its response. */
export const startLoad = (url: string, { connections, pauseMs, next }: LoadOptions): Load => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const { hostname, port } = new URL(url)
  const counts = new Map<string, number>()
  const lost: string[] = []
  let waiting: readonly { readonly count: number; readonly resolve: () => void }[] = []
  let sent = 0
  let ends = false

  const send = ({ name, method, path, headers, body = '', isRight }: LoadKind) =>
    new Promise<void>((resolve) => {
      const lose = (why: string) => {
        lost.push(`${new Date().toISOString()} ${name}: ${why}`)
        resolve()
      }
      const length = body === '' ? undefined : { 'content-length': String(Buffer.byteLength(body)) }
      const outgoing = request({ agent, hostname, port, method, path, headers: { ...headers, ...length } })
      outgoing.on('error', (error) => lose(String(error)))
      outgoing.on('response', (incoming) => {
        const { statusCode = 0 } = incoming
        let text = ''
        incoming.setEncoding('utf8')
        incoming.on('data', (chunk: string) => {
          text += chunk
        })
        incoming.on('error', (error) => lose(`${statusCode} ${error} after ${text.slice(-100)}`))
        incoming.on('end', () => {
          if (isRight(statusCode, text)) resolve()
          else lose(`${statusCode} ${text.slice(0, 200)} … ${text.slice(200).slice(-500)}`)
        })
      })
      outgoing.end(body)
    })

  const work = async (): Promise<void> => {
    while (!ends) {
      const kind = next(sent++)
      counts.set(kind.name, (counts.get(kind.name) ?? 0) + 1)
      for (const { count, resolve } of waiting) if (count <= sent) resolve()
      waiting = waiting.filter(({ count }) => count > sent)
      await send(kind)
      await delay(pauseMs)
    }
  }
  const working = Array.from({ length: connections }, work)
  return {
    counts: () => Object.fromEntries(counts),
    lost,
    reaches: (count) =>
      new Promise((resolve) => {
        if (sent >= count) resolve()
        else waiting = [...waiting, { count, resolve }]
      }),
    async end() {
      ends = true
      await Promise.all(working)
      agent.destroy()
    },
  }
}
