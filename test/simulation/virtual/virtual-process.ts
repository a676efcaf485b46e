/*
 * Replaces the clocks, the timers and the random numbers of this process by those of the simulation, so that a seed
 * determines everything that the gateways do. It must be imported before any module that uses them: `node:timers` and
 * `node:crypto` keep what they export when they are first imported.
 */
import { Random } from './random.ts'
import { Timeline } from './timeline.ts'

/** Time and random numbers of the present schedule. */
export const simulated = { timeline: new Timeline(0), random: new Random(0) }

/**
 * Each schedule has ten minutes of its own: modules that keep the last time go on with the next seed as they would begin
 * with it.
 */
const startOf = (seed: number): number => Date.UTC(2026, 0, 1) + seed * 600_000

/** Begins a schedule: what the last one has left waiting never goes on. */
export const beginSchedule = (seed: number): void => {
  simulated.timeline = new Timeline(startOf(seed))
  simulated.random = new Random(seed)
}

/** What `setTimeout` and `setInterval` return. */
class VirtualTimer {
  cancel: () => void = () => {}
  ref = (): this => this
  unref = (): this => this
  hasRef = (): boolean => false
}

const start = (run: (...values: unknown[]) => void, ms = 0, values: unknown[], repeats: boolean): VirtualTimer => {
  const timer = new VirtualTimer()
  const { timeline } = simulated
  const plan = () => {
    timer.cancel = timeline.after(Math.max(1, ms), () => {
      if (repeats) plan()
      run(...values)
    })
  }
  plan()
  return timer
}

const stop = (timer: unknown): void => {
  if (timer instanceof VirtualTimer) timer.cancel()
}

type Run = (...values: unknown[]) => void

Object.assign(globalThis, {
  setTimeout: (run: Run, ms?: number, ...values: unknown[]) => start(run, ms, values, false),
  setInterval: (run: Run, ms?: number, ...values: unknown[]) => start(run, ms, values, true),
  clearTimeout: stop,
  clearInterval: stop,
})
Object.assign(AbortSignal, {
  timeout(ms: number) {
    const abort = new AbortController()
    simulated.timeline.after(ms, () => abort.abort(new DOMException('The operation timed out.', 'TimeoutError')))
    return abort.signal
  },
})
Date.now = () => Math.floor(simulated.timeline.now)
performance.now = () => simulated.timeline.now
Math.random = () => simulated.random.next()

const randomBytes = (length: number) => Buffer.from(simulated.random.bytes(length))

const randomUUID = () => {
  const hex = randomBytes(16).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`
}

const getRandomValues = <Values extends Uint8Array>(values: Values): Values => {
  values.set(simulated.random.bytes(values.length))
  return values
}

const randomInt = (first: number, end?: number): number =>
  end === undefined ? simulated.random.below(first) : first + simulated.random.below(end - first)

// Elysia collects the memory of the process after it has composed an app. A schedule has several apps.
Bun.gc = () => 0

const nodeCrypto = process.getBuiltinModule('node:crypto')
Object.assign(nodeCrypto, { randomUUID, randomBytes, randomInt, getRandomValues })
Object.assign(crypto, { randomUUID, getRandomValues })
Object.assign(crypto.subtle, {
  // The runtime's own runs in another thread, which ends when it ends.
  digest: async (algorithm: string, bytes: Uint8Array) =>
    Uint8Array.from(nodeCrypto.createHash(algorithm.replace('-', '')).update(bytes).digest()).buffer,
})
