/**
 * The users of the soak, in a process of their own: when it ends, all its connections do. It reads a job as one line of JSON from its input, and prints how
 * many responses of each status there were as one line of JSON.
 */
import { createInterface } from 'node:readline'
import { keepBusy } from './traffic.ts'

export interface TrafficJob {
  readonly url: string
  /** One for each user. */
  readonly tokens: readonly string[]
  readonly pauseMs: number
  readonly ms: number
}

export type Statuses = Readonly<Record<string, number>>

for await (const line of createInterface({ input: process.stdin })) {
  const { url, tokens, pauseMs, ms } = JSON.parse(line) as TrafficJob
  const statuses: Record<string, number> = {}
  const count = (status: number) => {
    statuses[status] = (statuses[status] ?? 0) + 1
  }
  const signal = AbortSignal.timeout(ms)
  await Promise.all(tokens.map((token) => keepBusy({ url, token, count }, pauseMs, signal)))
  console.log(JSON.stringify(statuses))
}
