import { createHash, randomUUID } from 'node:crypto'
import { Problem } from '../shared/problem.ts'
import type { Flow } from './login-queue.ts'
import { networksOf } from './networks.ts'
import { fromStore } from './session.ts'
import type { Attempt, AttemptStore, Counter } from './store.ts'

/** How many wrong passwords have no consequence. */
export interface ThrottleOptions {
  /** For one name, whether somebody has it or not, and once more for each browser that has logged in by it. Default 5. A right password begins anew. */
  readonly freePerName?: number
  /**
   * From one address, for whatever names. Default 20: an office has one address and many who mistype. Of IPv6, 64 bits are one address; 56 bits have four times as
   * many, and 48 bits, and 24 of IPv4, sixteen times.
   */
  readonly freePerAddress?: number
}

const firstMs = 5_000
/** Also the longest that strangers' tries can keep an unknown browser out at a time: what is refused does not count. */
const mostMs = 900_000
const rememberNameMs = 86_400_000
const rememberNetworkMs = 3_600_000

/** Who tries to log in. */
export interface LoginCaller {
  readonly name: string
  /** Where the try comes from, if that is known. */
  readonly address?: string
  /** The browser's id for that name, if somebody of that name has logged in from it. */
  readonly device?: string
}

/** Lets a try to log in happen, or not. */
export interface Throttle {
  /**
   * Does `attempt` if it is the caller's turn: a known device by its own count; when that is used up, and from any other device, by those of the name and of
   * the address's networks. The try counts as failed before it begins, so that no number of parallel ones gets further than as many in a row; what `attempt`
   * finds takes that back. So does a rejection: nothing was tried.
   *
   * @param attempt gets the flow that the try belongs to where it has to queue
   *
   * Throws Problem 429 with Retry-After when it is too early, even for a right password.
   */
  run<Result>(caller: LoginCaller, attempt: (flow: Flow) => Promise<Result | undefined>): Promise<Result | undefined>
}

export const createThrottle = (
  store: AttemptStore,
  now: () => number,
  { freePerName = 5, freePerAddress = 20 }: ThrottleOptions = {},
): Throttle => {
  if (!(freePerName >= 1 && freePerAddress >= 1)) throw new TypeError('at least one failure has to be free')
  const counter = (kind: 'name' | 'device' | 'network', text: string, free: number): Counter => {
    const forgetMs = kind === 'network' ? rememberNetworkMs : rememberNameMs
    return { key: keyOf(kind, text), free, forgetMs, firstMs, mostMs }
  }

  /** What the try may be counted under: of the first that is open, it is. */
  const waysOf = ({ name, address, device }: LoginCaller): readonly Way[] => {
    const networks = address === undefined ? [] : networksOf(address)
    const byName = counter('name', name, freePerName)
    const unknown: Way = {
      counters: [byName, ...networks.map((each) => counter('network', each.name, freePerAddress * each.share))],
      flow: { name: networks.at(-1)?.name ?? '' },
    }
    if (device === undefined) return [unknown]
    // By the name, of which one may have any number of devices.
    return [{ counters: [counter('device', device, freePerName)], flow: { name: byName.key, known: true } }, unknown]
  }

  const take = async (caller: LoginCaller): Promise<{ readonly counted: Attempt; readonly flow: Flow }> => {
    const time = now()
    let earliest = Number.POSITIVE_INFINITY
    for (const { counters, flow } of waysOf(caller)) {
      const counted = { id: randomUUID(), counters, now: time }
      const blockedUntil = await fromStore(store.takeAttempt(counted))
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
        // What others have done to the name stays when a known device logs in.
        if (result !== undefined) await fromStore(store.returnAttempt(counted, counted.counters[0].key))
        return result
      } catch (error) {
        await store.returnAttempt(counted).catch(() => {})
        throw error
      }
    },
  }
}

interface Way {
  readonly counters: Attempt['counters']
  readonly flow: Flow
}

const tooMany = (ms: number, name: string) =>
  new Problem(429, 'too many failed logins; try again later', {
    headers: { 'retry-after': String(Math.max(1, Math.ceil(ms / 1000))) },
    event: { action: 'session.lockout', name },
  })

/** Of one length, whatever was typed; a name that is nobody's, perhaps a password in the wrong field, is not kept. */
const keyOf = (kind: string, text: string): string => createHash('sha256').update(`${kind}\n${text}`).digest('hex')
