/**
 * Holds streams open. It reads jobs as lines of JSON from its input and prints the result of each as a line of JSON. It ends with its input.
 * `open` opens streams and waits for an event of each. `listen` measures the delay of the events during some seconds. `close` closes all streams.
 */
import { createInterface } from 'node:readline'
import { type LoadRequest, type Quantiles, quantiles, wireOf } from './load.ts'

export type HoldJob =
  | { readonly kind: 'open'; readonly url: string; readonly request: LoadRequest; readonly count: number }
  | { readonly kind: 'listen'; readonly seconds: number }
  | { readonly kind: 'close' }

export interface HoldResult {
  readonly open: number
  /** Streams that ended or did not start. `problem` describes the first. */
  readonly failed: number
  readonly problem?: string
  /** Events during `listen`, and their delay in milliseconds. */
  readonly events: number
  readonly delay: Quantiles
}

const atOnce = 64
const sockets = new Set<{ end(): void }>()
let failed = 0
let problem: string | undefined
let closing = false
let delays: number[] = []

const open = (hostname: string, port: number, request: Buffer): Promise<void> =>
  new Promise((resolve) => {
    const fail = (what: string) => {
      if (!closing) {
        failed++
        problem ??= what
      }
      resolve()
    }
    let begun = false
    Bun.connect({
      hostname,
      port,
      socket: {
        open(socket) {
          sockets.add(socket)
          socket.write(request)
        },
        data(_, data) {
          const now = performance.timeOrigin + performance.now()
          const text = data.toString('latin1')
          for (const [, sent] of text.matchAll(/sent (\d+)"/g)) {
            delays.push(now - Number(sent) / 1_000)
            begun = true
          }
          if (begun) resolve()
          else if (/^HTTP\/1\.1 (?!200)/.test(text)) fail(text.slice(0, 300))
        },
        close(socket) {
          sockets.delete(socket)
          fail('a stream ended')
        },
        error: (_, error) => fail(String(error)),
      },
    }).catch((error: unknown) => fail(String(error)))
  })

const openMany = async ({ url, request, count }: HoldJob & { kind: 'open' }): Promise<void> => {
  const { hostname, port } = new URL(url)
  const [bytes = Buffer.alloc(0)] = wireOf(url, request)
  closing = false
  failed = 0
  problem = undefined
  let left = count
  const next = async () => {
    while (left-- > 0 && failed === 0) await open(hostname, Number(port), bytes)
  }
  await Promise.all(Array.from({ length: atOnce }, next))
}

const perform = async (job: HoldJob): Promise<void> => {
  if (job.kind === 'open') return openMany(job)
  if (job.kind === 'listen') {
    delays = []
    return Bun.sleep(job.seconds * 1_000)
  }
  closing = true
  for (const socket of sockets) socket.end()
  while (sockets.size > 0) await Bun.sleep(10)
}

for await (const line of createInterface({ input: process.stdin })) {
  await perform(JSON.parse(line) as HoldJob)
  const result: HoldResult = { open: sockets.size, failed, problem, events: delays.length, delay: quantiles(delays) }
  console.log(JSON.stringify(result))
}
