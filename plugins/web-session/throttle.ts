import { createHash, randomUUID } from 'node:crypto'
import type { Clock } from '../shared/clock.ts'
import { nameKey } from '../shared/identity/name-key.ts'
import { LoginQueue, type QueueFlow } from '../shared/login/login-queue.ts'
import { networksOf } from '../shared/login/networks.ts'
import { Problem } from '../shared/problem.ts'
import { storeCall } from '../shared/store-call.ts'
import { sessionNotChecked } from './session.ts'
import type { Attempt, AttemptStore, Counter } from './store.ts'

/** How many failed logins have no delay. */
export interface ThrottleOptions {
  /**
   * Failures for one name, of an existing user or not, from one network: an IPv4 /24, or an IPv6 /48. As many again for
   * each device of that name, and ten times as many from all networks together. Default 5. A successful login resets
   * the count.
   */
  readonly freePerName?: number
  /**
   * Failures from one address, for any names. Default 20, because many users of an office share one address. An IPv6
   * /64 counts as one address. An IPv6 /56 has four times as many, an IPv6 /48 and an IPv4 /24 sixteen times.
   */
  readonly freePerAddress?: number
}

const firstMs = 5_000
/**
 * Attackers can lock out an unknown browser for at most this time at once, because a rejected attempt does not count.
 */
const maxMs = 900_000
const forgetNameMs = 86_400_000
const forgetNetworkMs = 3_600_000
/** Networks that must use up their own failures for a name before the name is blocked for other networks. */
const networksPerName = 10
/** How long a network that has used them up must share the counter of all such networks. */
const sharedMs = 86_400_000

/**
 * Logins that run at once, in the store or with a password check: a few more than the checks, so that the next ones are
 * counted while these run.
 */
const atOnce = 8
/** Logins that wait. A rejected one has cost no query. */
const maxWaiting = 32

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
   * Runs `attempt` unless too many logins have failed. A known device has a counter of its own. Once that is used up,
   * and for every other browser, the counters of the address's networks apply, with one of three for the name: each
   * network has one of its own, which counts towards one for all networks. A network that has used up its own shares a
   * third with all others that have. So no network can block the name for another.
   *
   * The attempt waits in a fair queue before the store is asked.
   *
   * The attempt counts as failed before it runs, so that parallel attempts get no further than sequential ones. A
   * result of `attempt` takes the count back, and so does a rejection, because no password was checked.
   *
   * Throws Problem 429 with Retry-After during a delay, also for the right password, and Problem 503 when too many
   * logins wait.
   *
   * @param attempt gets the flow under which it waits for a password check
   */
  run<Result>(
    caller: LoginCaller,
    attempt: (flow: QueueFlow) => Promise<Result | undefined>,
  ): Promise<Result | undefined>
  /**
   * Like `run` for a secret that belongs to no name: only the address's networks are counted. Without an address,
   * nothing is: such a secret cannot be guessed.
   */
  runUnnamed<Result>(
    address: string | undefined,
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
  const queue = new LoginQueue({ atOnce, maxWaiting, message: 'too many logins are in progress' })
  const counter = (kind: CounterKind, text: string, free: number): Counter => {
    const forgetMs = kind === 'network' ? forgetNetworkMs : forgetNameMs
    return { key: keyOf(kind, text), free, forgetMs, firstMs, maxMs }
  }

  const networkCounters = (address: string): readonly Counter[] =>
    networksOf(address).map((each) => counter('network', each.name, freePerAddress * each.share))

  /** The sets of counters that may admit the attempt. The first set without a delay counts it. */
  const admissionsOf = ({ name, address, device }: LoginCaller): readonly [Admission, ...Admission[]] => {
    const largest = address === undefined ? undefined : networksOf(address).at(-1)?.name
    const byNetwork = address === undefined ? [] : networkCounters(address)
    const flow = { name: largest ?? '' }
    // With a network's own failures used up, the next one is the last without a delay.
    const byName = counter('name', name, largest === undefined ? freePerName : 1)
    const unknown: Admission = { counters: [byName, ...byNetwork], flow }
    const others = largest === undefined ? [unknown] : [ownOfNetwork(name, largest, byNetwork, flow), unknown]
    // The flow is that of the name: one user may have any number of devices.
    const known = { name: byName.key, known: true }
    const byDevice = device === undefined ? [] : [{ counters: [counter('device', device, freePerName)], flow: known }]
    return [...byDevice, ...others] as unknown as [Admission, ...Admission[]]
  }

  /**
   * The failures of one network for a name: a network that has used them up gets one a day, so it alone cannot keep the
   * other counter blocked.
   */
  const ownOfNetwork = (name: string, network: string, byNetwork: readonly Counter[], flow: QueueFlow): Admission => {
    const key = keyOf('name in network', `${network}\n${name}`)
    const own = { key, free: freePerName, forgetMs: 2 * sharedMs, firstMs: sharedMs, maxMs: sharedMs }
    const all = counter('name in all networks', name, freePerName * networksPerName)
    return { counters: [own, all, ...byNetwork], flow }
  }

  const take = async (
    name: string | undefined,
    admissions: readonly Admission[],
  ): Promise<{ readonly counted: Attempt; readonly flow: QueueFlow }> => {
    const time = clock.now()
    let earliest = Number.POSITIVE_INFINITY
    for (const { counters, flow } of admissions) {
      const counted = { id: randomUUID(), counters, now: time }
      const blockedUntil = await storeCall(store.takeAttempt(counted), sessionNotChecked)
      if (blockedUntil === undefined) return { counted, flow }
      earliest = Math.min(earliest, blockedUntil)
    }
    throw tooMany(earliest - time, name)
  }

  const runCounted: CountedRun = async (name, admissions, attempt) => {
    const { counted, flow } = await take(name, admissions)
    try {
      const result = await attempt(flow)
      // A login from a known device resets the device's counter, and one from a network that network's for the name.
      // Without a name nothing is reset: who has one valid secret must not get further attempts at names.
      const reset = name === undefined ? undefined : counted.counters[0].key
      if (result !== undefined) await storeCall(store.revertAttempt(counted, reset), sessionNotChecked)
      return result
    } catch (error) {
      await store.revertAttempt(counted).catch(() => {})
      throw error
    }
  }

  return {
    run(caller, attempt) {
      const name = nameKey(caller.name)
      const admissions = admissionsOf({ ...caller, name })
      return queue.run(admissions[0].flow, () => runCounted(caller.name, admissions, attempt))
    },

    runUnnamed(address, attempt) {
      const [first, ...others] = address === undefined ? [] : networkCounters(address)
      const flow = { name: first?.key ?? '' }
      const admission: Admission | undefined = first && { counters: [first, ...others], flow }
      return queue.run(flow, () => (admission ? runCounted(undefined, [admission], attempt) : attempt(flow)))
    },
  }
}

type CountedRun = <Result>(
  name: string | undefined,
  admissions: readonly Admission[],
  attempt: (flow: QueueFlow) => Promise<Result | undefined>,
) => Promise<Result | undefined>

type CounterKind = 'name' | 'name in all networks' | 'device' | 'network'

interface Admission {
  readonly counters: Attempt['counters']
  readonly flow: QueueFlow
}

const tooMany = (ms: number, name: string | undefined) =>
  new Problem(429, 'too many failed logins; try again later', {
    headers: { 'retry-after': String(Math.max(1, Math.ceil(ms / 1000))) },
    event: { action: 'session.lockout', ...(name !== undefined && { name }) },
  })

/** A hash, so that the store keeps no entered name: it may be a password that a user typed into the wrong field. */
const keyOf = (kind: string, text: string): string => createHash('sha256').update(`${kind}\n${text}`).digest('hex')
