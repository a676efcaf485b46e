/** Runs with `--all`: a benchmark with four processes under load, whose CPU time it compares. The tests of test/routes and test/text-generation hold what these requests do. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type Case, cases, chat, type Front } from './cases.ts'
import { startComparedServer } from './compared-servers.ts'
import type { Job, LoadResult } from './load.ts'
import { cleanUp, startWorker, type Worker } from './processes.ts'
import { requestOf } from './requests.ts'
import { startGateway, startUpstream, type Target } from './targets.ts'

const named = (name: string): Case => {
  const found = cases.find((each) => each.name === name)
  if (!found) throw new Error(`there is no case ${name}`)
  return found
}

/**
 * Upper bounds for the CPU time of a request, as a multiple of the bare relay's in the same run. They are about twice the current values,
 * so that the test detects a doubling. The targets are hardly warmed up here: `bun run bench` gives better figures.
 */
const bounds: readonly { readonly which: Case; readonly requests: number; readonly max: Record<Front, number> }[] = [
  { which: named('detail'), requests: 1_000, max: { on: 10, off: 7 } },
  { which: named('401'), requests: 1_000, max: { on: 8, off: 5 } },
  { which: named('assets'), requests: 600, max: { on: 18, off: 14 } },
  { which: named('chat-22'), requests: 300, max: { on: 17, off: 14 } },
  // Without pauses between the events: only CPU time matters, and the test should be short.
  { which: { ...named('stream-22'), request: chat('events-22-0', true) }, requests: 300, max: { on: 15, off: 13 } },
]
/** The relay gets more requests, because it needs less CPU time and ticks are 10 ms. */
const relayTimes = 2
const attempts = 4

const startMs = 300_000
const runMs = 300_000

describe('the CPU time of a request is a small multiple of the bare relay’s', () => {
  let load: Worker<Job, LoadResult>
  let relay: Target
  const gateways = new Map<Front, Target>()

  const ask = async (target: Target, which: Case, requests: number): Promise<void> => {
    const { request, status } = requestOf(which, target)
    const job = { url: target.process.url, request, status, connections: 16, seconds: 0, atLeast: requests }
    const { failed, problem } = await load.ask(job)
    if (failed > 0) throw new Error(`${target.name}, ${which.name}: ${problem}`)
  }

  /** CPU time of a request in milliseconds. */
  const cpuOf = async (target: Target, which: Case, requests: number): Promise<number> => {
    const before = target.process.cpuMs()
    await ask(target, which, requests)
    return (target.process.cpuMs() - before) / requests
  }

  beforeAll(async () => {
    load = startWorker('load.ts')
    const upstream = await startUpstream()
    const setting = {
      tree: join(import.meta.dir, '../..'),
      database: 'sqlite',
      workers: 1,
      large: false,
      limited: false,
    } as const
    const targets = await Promise.all([
      startComparedServer('bun', upstream.url),
      startGateway('on', { ...setting, front: 'on' }, upstream.url),
      startGateway('off', { ...setting, front: 'off' }, upstream.url),
    ])
    relay = targets[0]
    gateways.set('on', targets[1]).set('off', targets[2])
    for (const { which, requests } of bounds) await Promise.all(targets.map((target) => ask(target, which, requests)))
  }, startMs)

  afterAll(cleanUp)

  for (const { which, requests, max } of bounds) {
    test(
      `${which.title}`,
      async () => {
        const min = { relay: Number.POSITIVE_INFINITY, on: Number.POSITIVE_INFINITY, off: Number.POSITIVE_INFINITY }
        const within = () => min.on <= max.on * min.relay && min.off <= max.off * min.relay
        // Other load on the machine only increases a figure. So the test repeats the measurement and takes the minimum.
        for (let attempt = 0; attempt < attempts && !(attempt > 0 && within()); attempt++) {
          min.relay = Math.min(min.relay, await cpuOf(relay, which, relayTimes * requests))
          for (const [front, gateway] of gateways) {
            min[front] = Math.min(min[front], await cpuOf(gateway, which, requests))
          }
        }
        expect(min.on / min.relay).toBeLessThanOrEqual(max.on)
        expect(min.off / min.relay).toBeLessThanOrEqual(max.off)
      },
      runMs,
    )
  }
})
