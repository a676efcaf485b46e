import { createHash, randomUUID } from 'node:crypto'
import { Problem } from '../shared/problem.ts'
import { asked } from './session.ts'
import type { Attempt, AttemptStore } from './store.ts'

/** How many wrong passwords have no consequence. */
export interface ThrottleOptions {
  /** For one name, whether somebody has it or not. Default 5. A right password begins anew. */
  readonly freePerName?: number
  /** From one address, for whatever names. Default 20: an office has one address and many who mistype. */
  readonly freePerAddress?: number
}

const firstMs = 5_000
/** Also the longest that a stranger's tries can keep somebody out at a time: what is refused does not count. */
const mostMs = 900_000
const rememberNameMs = 86_400_000
const rememberAddressMs = 3_600_000

/** Lets a try to log in happen, or not. */
export interface Throttle {
  /**
   * Does `attempt` if it is this name's and this address's turn. The try counts as failed before it begins, so that no number of parallel ones gets
   * further than as many in a row; what `attempt` finds takes that back. So does a rejection: nothing was tried.
   *
   * Throws Problem 429 with Retry-After when it is too early, even for a right password.
   */
  run<Result>(
    name: string,
    address: string | undefined,
    attempt: () => Promise<Result | undefined>,
  ): Promise<Result | undefined>
}

export const createThrottle = (
  store: AttemptStore,
  now: () => number,
  { freePerName = 5, freePerAddress = 20 }: ThrottleOptions = {},
): Throttle => {
  if (!(freePerName >= 1 && freePerAddress >= 1)) throw new TypeError('at least one failure has to be free')
  const attemptOf = (name: string, address: string | undefined): Attempt => {
    const byName = { key: keyOf('name', name), free: freePerName, forgetMs: rememberNameMs, firstMs, mostMs }
    const byAddress = address === undefined ? undefined : keyOf('address', networkOf(address))
    return {
      id: randomUUID(),
      counters: byAddress
        ? [byName, { key: byAddress, free: freePerAddress, forgetMs: rememberAddressMs, firstMs, mostMs }]
        : [byName],
      now: now(),
    }
  }

  return {
    async run(name, address, attempt) {
      const counted = attemptOf(name, address)
      const blockedUntil = await asked(store.takeAttempt(counted))
      if (blockedUntil !== undefined) throw tooMany(blockedUntil - counted.now)
      try {
        const result = await attempt()
        if (result !== undefined) await asked(store.returnAttempt(counted, counted.counters[0].key))
        return result
      } catch (error) {
        await store.returnAttempt(counted).catch(() => {})
        throw error
      }
    },
  }
}

const tooMany = (ms: number) =>
  new Problem(429, 'too many failed logins; try again later', {
    headers: { 'retry-after': String(Math.max(1, Math.ceil(ms / 1000))) },
  })

/** Of one length, whatever was typed; a name that is nobody's, perhaps a password in the wrong field, is not kept. */
const keyOf = (kind: 'name' | 'address', text: string): string =>
  createHash('sha256').update(`${kind}\n${text}`).digest('hex')

/**
 * What counts as one address: an IPv4 address, also one written as IPv6 (RFC 4291 section 2.5.5.2), else the first 64 bits of an IPv6 address, below
 * which one customer has them all. Any other text is itself.
 */
export const networkOf = (address: string): string => {
  const [plain = ''] = address.split('%', 1)
  if (!plain.includes(':') || !URL.canParse(`http://[${plain}]`)) return address
  const [head = '', tail = ''] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::')
  const [before, after] = [head, tail].map((part) => (part === '' ? [] : part.split(':')))
  const groups = [...(before ?? []), ...Array(8).fill('0'), ...(after ?? [])]
  groups.splice(before?.length ?? 0, groups.length - 8)
  if (!/^(?:0:){5}ffff:/.test(groups.join(':'))) return groups.slice(0, 4).join(':')
  const bytes = groups.slice(6).map((group) => Number.parseInt(group, 16))
  return bytes.flatMap((group) => [group >> 8, group & 255]).join('.')
}
