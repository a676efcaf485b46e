import { type LimitStore, usageLimits } from 'sluice/usage-limits'
import { StoreClock } from '../fixture.ts'
import { randomFrom } from './random.ts'

/** What requests got through that came all the time. */
export interface Slid {
  /** The most within a minute. */
  readonly most: number
  /** All of five minutes. */
  readonly passed: number
}

/** Requests through several processes, several a second, under a limit of a minute. */
export const slide = async (seed: number, stores: readonly LimitStore[], amount: number): Promise<Slid> => {
  const random = randomFrom(seed)
  const clock = new StoreClock()
  const userLimits = [{ unit: 'requests', amount, window: 'minute' }] as const
  const processes = stores.map((store) => usageLimits({ store: clock.watched(store), clock, userLimits }))
  const times: number[] = []
  let most = 0

  const send = async (nth: number): Promise<void> => {
    const reservation = await processes[nth]?.reserve({ user: `sliding-${seed}`, uses: { requests: 1 } })
    reservation?.settle({ requests: 1 })
    times.push(clock.now())
    most = Math.max(most, times.filter((time) => time > clock.now() - 60_000).length)
  }

  const end = clock.now() + 300_000
  while (clock.now() < end) {
    void send(random.integer(0, processes.length - 1)).catch(() => {})
    await clock.pass(random.integer(20, 400))
  }
  await Promise.all(processes.map((process) => process.stop()))
  return { most, passed: times.length }
}
