import { createHash, randomUUID } from 'node:crypto'
import type { Clock } from '../shared/clock.ts'
import { Problem } from '../shared/problem.ts'
import { storeCall } from '../shared/store-call.ts'
import type { QueueFlow } from './login-queue.ts'
import { networksOf } from './networks.ts'
import { sessionNotChecked } from './session.ts'
import type { Attempt, AttemptStore, Counter } from './store.ts'

/** How many failed logins have no delay. */
export interface ThrottleOptions {
  /** Failures for one name, of an existing user or not, and as many again for each device of that name. Default 5. A successful login resets the count. */
  readonly freePerName?: number
  /**
   * Failures from one address, for any names. Default 20, because many users of an office share one address. An IPv6 /64 counts as one
   * address. An IPv6 /56 has four times as many, an IPv6 /48 and an IPv4 /24 sixteen times.
   */
  readonly freePerAddress?: number
}

const firstMs = 5_000
/** Attackers can lock out an unknown browser for at most this time at once, because a rejected attempt does not count. */
const maxMs = 900_000
const forgetNameMs = 86_400_000
const forgetNetworkMs = 3_600_000

/** The caller of a login attempt. */
export interface LoginCaller {
  /** The user name in the request. */
  readonly name: string
  /** The client address, when it is known. */
  readonly address?: string
  /** The browser's device id for that name, when a user of that name has logged in from it. */
  readonly device?: string
}

/** Limits failed logins. */
export interface Throttle {
  /**
   * Runs `attempt` unless too many logins have failed. A known device has a counter of its own. Once that is used up, and for every other
   * browser, the counters of the name and of the address's networks apply.
   *
   * The attempt counts as failed before it runs, so that parallel attempts get no further than sequential ones. A result of `attempt` takes the
   * count back, and so does a rejection, because no password was checked.
   *
   * Throws Problem 429 with Retry-After during a delay, also for the right password.
   *
   * @param attempt gets the flow under which it waits for a password check
   */
  run<Result>(
    caller: LoginCaller,
    attempt: (flow: QueueFlow) => Promise<Result | undefined>,
  ): Promise<Result | undefined>
}

export const createThrottle = (
  store: AttemptStore,
  clock: Pick<Clock, 'now'>,
  { freePerName = 5, freePerAddress = 20 }: ThrottleOptions = {},
): Throttle => {
  if (!(freePerName >= 1 && freePerAddress >= 1))
    throw new TypeError('freePerName and freePerAddress must be at least 1')
  const counter = (kind: 'name' | 'device' | 'network', text: string, free: number): Counter => {
    const forgetMs = kind === 'network' ? forgetNetworkMs : forgetNameMs
    return { key: keyOf(kind, text), free, forgetMs, firstMs, maxMs: maxMs }
  }

  /** The sets of counters that may admit the attempt. The first set without a delay counts it. */
  const admissionsOf = ({ name, address, device }: LoginCaller): readonly Admission[] => {
    const networks = address === undefined ? [] : networksOf(address)
    const byName = counter('name', name, freePerName)
    const unknown: Admission = {
      counters: [byName, ...networks.map((each) => counter('network', each.name, freePerAddress * each.share))],
      flow: { name: networks.at(-1)?.name ?? '' },
    }
    if (device === undefined) return [unknown]
    // The flow is that of the name: one user may have any number of devices.
    return [{ counters: [counter('device', device, freePerName)], flow: { name: byName.key, known: true } }, unknown]
  }

  const take = async (caller: LoginCaller): Promise<{ readonly counted: Attempt; readonly flow: QueueFlow }> => {
    const time = clock.now()
    let earliest = Number.POSITIVE_INFINITY
    for (const { counters, flow } of admissionsOf(caller)) {
      const counted = { id: randomUUID(), counters, now: time }
      const blockedUntil = await storeCall(store.takeAttempt(counted), sessionNotChecked)
      if (blockedUntil === undefined) return { counted, flow }
      earliest = Math.min(earliest, blockedUntil)
    }
    throw tooMany(earliest - time, caller.name)
  }

  return {
    async run(caller, attempt) {
      const { counted, flow } = await take(caller)
      try {
        const result = await attempt(flow)
        // A login from a known device resets the device's counter, not the name's.
        if (result !== undefined)
          await storeCall(store.revertAttempt(counted, counted.counters[0].key), sessionNotChecked)
        return result
      } catch (error) {
        await store.revertAttempt(counted).catch(() => {})
        throw error
      }
    },
  }
}

interface Admission {
  readonly counters: Attempt['counters']
  readonly flow: QueueFlow
}

const tooMany = (ms: number, name: string) =>
  new Problem(429, 'too many failed logins; try again later', {
    headers: { 'retry-after': String(Math.max(1, Math.ceil(ms / 1000))) },
    event: { action: 'session.lockout', name },
  })

/** A hash, so that the store keeps no entered name: it may be a password that a user typed into the wrong field. */
const keyOf = (kind: string, text: string): string => createHash('sha256').update(`${kind}\n${text}`).digest('hex')
