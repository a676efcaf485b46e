import { type Limit, LimitProblem, type LimitStore, type UsageLimits, usageLimits } from 'sluice/usage-limits'
import { StoreClock } from '../fixture.ts'
import type { UpstreamCall } from './judge.ts'
import { type Random, randomFrom } from './random.ts'

export interface ExhaustionOptions {
  readonly seed: number
  /** One for each process. */
  readonly stores: readonly LimitStore[]
  /** A limit of tokens. */
  readonly limit: Limit
  /** How many processes are killed while the limit is used up. */
  readonly kills?: number
  /** Part of the requests to the store, and of its answers, that get lost. Default 0. */
  readonly lost?: number
  /** When the processes start, and when the callers begin. Default: at once, in UTC. */
  readonly time?: { readonly zone: string; readonly startAt: string; readonly beginAt: string }
}

/** What 20 parallel callers get of a limit until each of them is refused. */
export interface Exhausted {
  readonly calls: readonly UpstreamCall[]
  /** Tokens that the upstream has generated. */
  readonly used: number
  /** Tokens that killed processes had reserved and not used. */
  readonly killed: number
}

/** Callers of one user through several processes, each until it is refused. */
export const exhaust = async (options: ExhaustionOptions): Promise<Exhausted> => {
  const { seed, stores, limit, kills = 0, lost = 0, time } = options
  const random = randomFrom(seed)
  const clock = new StoreClock(Date.parse(time?.startAt ?? '2026-05-04T09:00:00Z'))
  const user = `user-${seed}`
  const killed = new Set<UsageLimits>()
  const start = (nth: number): UsageLimits => {
    const store = stores[nth]
    if (!store) throw new Error('no store')
    const own = clock.watched<LimitStore>({
      ...store,
      exchange: async (exchange) => {
        if (killed.has(limits) || random.chance(lost)) throw new Error('not sent')
        const counts = await store.exchange(exchange)
        if (killed.has(limits) || random.chance(lost)) throw new Error('no answer')
        return counts
      },
    })
    const limits: UsageLimits = usageLimits({
      ...{ store: own, clock, userLimits: [limit], timeZone: time?.zone ?? 'UTC' },
    })
    return limits
  }
  const processes = stores.map((_, nth) => start(nth))
  const calls: UpstreamCall[] = []
  let unused = 0
  let callers = 0

  const generate = async (process: UsageLimits, estimate: number): Promise<void> => {
    const reservation = await process.reserve({ user, uses: { tokens: estimate }, atLeast: { tokens: 50 } })
    if (!reservation) throw new Error('there is no limit')
    const call: UpstreamCall = { user, token: '', model: '', grants: [], tokens: 0 }
    calls.push(call)
    let mayUse = reservation.reserved.tokens ?? 0
    call.grants.push({ at: clock.now(), tokens: mayUse })
    const wanted = usualUse(random)
    await clock.sleep(random.integer(50, 900))
    while (wanted > mayUse && !killed.has(process)) {
      if (!(await Promise.resolve(reservation.extend({ tokens: 100 })).catch(() => false))) break
      mayUse += 100
      call.grants.push({ at: clock.now(), tokens: 100 })
      await clock.sleep(random.integer(5, 50))
    }
    call.tokens = Math.min(wanted, mayUse)
    call.endedAt = clock.now()
    if (killed.has(process)) unused += mayUse - call.tokens
    reservation.settle({ tokens: call.tokens })
    reservation.release()
  }

  const callUntilRefused = async (nth: number): Promise<void> => {
    callers++
    for (;;) {
      const process = processes[nth % processes.length]
      if (!process) throw new Error('no process')
      try {
        await generate(process, random.integer(150, 450))
      } catch (error) {
        if (!(error instanceof LimitProblem)) continue
        callers--
        return
      }
    }
  }

  if (time) {
    // Each process then knows the day in which it has started.
    for (const process of processes) await process.report({ user })
    await clock.pass(Date.parse(time.beginAt) - clock.now())
  }
  const done = Promise.all(Array.from({ length: 20 }, (_, nth) => callUntilRefused(nth)))
  for (let passed = 0; callers > 0; passed++) {
    if (passed > 5_000) throw new Error('the callers are never refused')
    if (killed.size < kills && random.chance(0.02)) {
      const nth = random.integer(0, processes.length - 1)
      const process = processes[nth]
      if (process) killed.add(process)
      processes[nth] = start(nth)
    }
    await clock.pass(100)
  }
  await done
  await Promise.all(processes.map((process) => process.stop()))
  return { calls, used: calls.reduce((sum, { tokens }) => sum + tokens, 0), killed: unused }
}

/** Most answers are of similar length, a few are long. */
const usualUse = (random: Random): number =>
  random.chance(0.1) ? random.integer(500, 2_000) : random.integer(100, 400)
