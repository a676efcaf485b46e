import { randomUUID } from 'node:crypto'
import type { Limit, LimitStore, UsageLimits, UsageReservation } from 'sluice/usage-limits'
import { usageLimits } from 'sluice/usage-limits'
import { RevisionClock } from '../../../plugins/shared/identity/revision-clock.ts'
import { StoreClock } from '../fixture.ts'
import { createJudge, type JudgedLimit, type UpstreamCall } from './judge.ts'
import { type Random, randomFrom } from './random.ts'

export interface SimulationOptions {
  readonly seed: number
  /** One for each process: separate connections. */
  readonly stores: readonly LimitStore[]
  readonly steps: number
  readonly timeZone?: string
}

export interface SimulationResult {
  /** `NAME: USED of AMOUNT`. */
  readonly violations: readonly string[]
  readonly granted: number
  readonly refused: number
  readonly failed: number
}

interface RunningCall {
  readonly record: UpstreamCall
  readonly reservation: UsageReservation
  readonly process: SimulatedProcess
  /** What the model will generate. */
  readonly wanted: number
  isExtending: boolean
}

interface ProcessState {
  isKilled: boolean
  /** Until then it does not reach the store. */
  cutOffUntil: number
}

interface SimulatedProcess extends ProcessState {
  readonly limits: UsageLimits
}

const userLimits: readonly Limit[] = [
  { unit: 'requests', amount: 40, window: 'minute' },
  { unit: 'tokens', amount: 9_000, window: 'hour' },
  { unit: 'tokens', amount: 30_000, window: 'day' },
  { unit: 'streams', amount: 6 },
]
const accountLimits: readonly Limit[] = [
  { unit: 'tokens', amount: 70_000, window: 'day' },
  { unit: 'tokens', amount: 8_000, window: 'day', model: 'large*' },
  { unit: 'requests', amount: 90, window: 'minute' },
]
const teamLimits: readonly Limit[] = [{ unit: 'tokens', amount: 200_000, window: 'week' }]
const tokenLimits: readonly Limit[] = [{ unit: 'tokens', amount: 60_000 }]

/** What is left of a lease when it is about to be extended. */
const shortestLeaseMs = 20_000

const users = ['ann', 'bob', 'cid'] as const
const models = ['small', 'large-1', 'large-2'] as const
const teamOf = (user: string) => (user === 'cid' ? 'team-2' : 'team-1')
const tokensOf = (user: string) => [`${user}-1`, `${user}-2`]

const judged: readonly JudgedLimit[] = [
  ...accountLimits.map((limit) => ({ name: 'account', limit, covers: () => true })),
  ...['team-1', 'team-2'].flatMap((team) =>
    teamLimits.map((limit) => ({ name: team, limit, covers: ({ user }: UpstreamCall) => teamOf(user) === team })),
  ),
  ...users.flatMap((name) =>
    userLimits.map((limit) => ({ name, limit, covers: ({ user }: UpstreamCall) => user === name })),
  ),
  ...users
    .flatMap(tokensOf)
    .flatMap((name) =>
      tokenLimits.map((limit) => ({ name, limit, covers: ({ token }: UpstreamCall) => token === name })),
    ),
]

/** A store that fails now and then, before or after it has done its work, and that the clock waits for. */
const unreliable = (store: LimitStore, random: Random, process: ProcessState, clock: StoreClock): LimitStore => ({
  ...store,
  async exchange(exchange) {
    // A killed process sends nothing more, and gets no answer.
    if (process.isKilled || clock.now() < process.cutOffUntil || random.chance(0.02)) throw new Error('not sent')
    const counts = await store.exchange(exchange)
    if (process.isKilled || random.chance(0.02)) throw new Error('no answer')
    return counts
  },
  async sweepLimits(now) {
    if (!process.isKilled) await store.sweepLimits(now)
  },
  limitSubjects: async (user, token) => ({
    user: { id: user, name: user },
    team: { id: teamOf(user), name: teamOf(user), limits: teamLimits },
    ...(token !== undefined && { token: { id: token, name: token, limits: tokenLimits } }),
  }),
})

/** Calls of several users through several processes, with random use, aborts, kills and failures of the store. */
export const simulate = async (options: SimulationOptions): Promise<SimulationResult> => {
  const { seed, stores, steps, timeZone = 'America/New_York' } = options
  const random = randomFrom(seed)
  // Twenty minutes before the clock goes forward, four hours before the day ends.
  const clock = new StoreClock(Date.parse('2026-03-08T06:40:00Z') + random.integer(0, 86_400_000))
  const judgeAt = createJudge(timeZone)
  const calls: UpstreamCall[] = []
  const running = new Set<RunningCall>()
  const waiting = new Set<AbortController>()
  const violations = new Set<string>()
  const counts = { granted: 0, refused: 0, failed: 0 }

  // Lists are read again by the clock of the simulation, so that a seed is the same run on a busy machine.
  let revision = 0
  const startProcess = (nth: number): SimulatedProcess => {
    const revisionClock = new RevisionClock(async () => ++revision, {
      refreshAfterMs: 1_000,
      staleAfterMs: 1_000,
      clock,
    })
    const state = { isKilled: false, cutOffUntil: 0 }
    const store = stores[nth]
    if (!store) throw new Error('no store')
    const limits = usageLimits({
      store: clock.watched(unreliable(store, random, state, clock)),
      ...{ clock, revisionClock, timeZone, userLimits, accountLimits },
    })
    return Object.assign(state, { limits })
  }
  const processes = stores.map((_, nth) => startProcess(nth))

  const check = () => {
    for (const of of judged) {
      const used = judgeAt(calls, of, clock.now())
      const { unit, amount, window = 'ever', model = '' } = of.limit
      if (used > amount) violations.add(`${of.name} ${unit} ${window} ${model}: ${used} of ${amount}`)
    }
  }

  const begin = async (process: SimulatedProcess): Promise<void> => {
    const user = random.pick(users)
    const token = random.pick(tokensOf(user))
    const model = random.pick(models)
    const wanted = random.integer(20, 700)
    const expected = random.chance(0.3) ? wanted : random.integer(50, 500)
    const aborting = new AbortController()
    waiting.add(aborting)
    try {
      const uses = { requests: 1, tokens: expected, streams: 1 }
      const atLeast = random.chance(0.5) ? { ...uses, tokens: Math.min(20, expected) } : undefined
      const reservation = await process.limits.reserve({ user, token, model, uses, atLeast, signal: aborting.signal })
      if (process.isKilled || !reservation) return
      if (random.chance(0.1)) {
        reservation.release()
        return
      }
      reservation.settle({ requests: 1 })
      counts.granted++
      const grants = [{ at: clock.now(), tokens: reservation.reserved.tokens ?? 0 }]
      const isTask = random.chance(0.2)
      const record: UpstreamCall = { user, token, model, isTask, grants, tokens: 0 }
      if (isTask) {
        await holdForTask(record, reservation)
        return
      }
      calls.push(record)
      running.add({ record, reservation, process, wanted, isExtending: false })
      check()
    } catch (error) {
      if (error instanceof Error && error.name === 'LimitProblem') counts.refused++
      else counts.failed++
    } finally {
      waiting.delete(aborting)
    }
  }

  /** A task that nobody records: what it holds is given back after a minute, and not before. */
  const holdForTask = async (record: UpstreamCall, reservation: UsageReservation): Promise<void> => {
    reservation.settle({ streams: 0 })
    const until = clock.now() + 60_000
    await reservation.hold(`task:${randomUUID()}`)
    calls.push(record)
    check()
    clock.at(until, () => {
      record.endedAt = clock.now()
    })
  }

  const end = (call: RunningCall): void => {
    const { record, reservation } = call
    running.delete(call)
    record.endedAt = clock.now()
    reservation.settle({ tokens: record.tokens })
    reservation.release()
    check()
  }

  const advance = async (call: RunningCall): Promise<void> => {
    const { record, reservation, process, wanted } = call
    if (process.isKilled || call.isExtending || !running.has(call)) return
    const mayUse = record.grants.reduce((sum, { tokens }) => sum + tokens, 0)
    const next = Math.min(wanted, record.tokens + random.integer(10, 200))
    if (next > mayUse) {
      const more = Math.max(next - mayUse, 50)
      call.isExtending = true
      const extended = await Promise.resolve(reservation.extend({ tokens: more })).catch(() => false)
      call.isExtending = false
      if (process.isKilled || !running.has(call)) return
      if (!extended) {
        record.tokens = mayUse
        end(call)
        return
      }
      record.grants.push({ at: clock.now(), tokens: more })
      check()
    }
    record.tokens = next
    if (next === wanted) end(call)
  }

  const kill = (nth: number): void => {
    const process = processes[nth]
    if (!process) return
    process.isKilled = true
    for (const call of [...running].filter((one) => one.process === process)) {
      running.delete(call)
      call.record.endedAt = clock.now()
    }
    processes[nth] = startProcess(nth)
  }

  const cutOff = (process: SimulatedProcess, ms: number): void => {
    process.cutOffUntil = clock.now() + ms
    if (ms < shortestLeaseMs) return
    for (const call of running) if (call.process === process) call.record.lostAt = clock.now()
  }

  for (let step = 0; step < steps; step++) {
    for (let calling = random.integer(0, 4); calling > 0; calling--) void begin(random.pick(processes))
    for (const aborting of waiting) if (random.chance(0.02)) aborting.abort(new Error('the client has left'))
    for (const call of running) if (random.chance(0.5)) void advance(call)
    for (const call of running) if (!call.isExtending && random.chance(0.02)) end(call)
    if (random.chance(0.01)) kill(random.integer(0, processes.length - 1))
    if (random.chance(0.02)) cutOff(random.pick(processes), random.integer(5_000, 120_000))
    const ms = random.integer(1, random.pick([100, 300, 1_000, 1_000, 10_000, random.chance(0.2) ? 1_800_000 : 300]))
    await clock.pass(ms)
    check()
  }
  for (const aborting of waiting) aborting.abort(new Error('the end'))
  for (const call of running) end(call)
  await Promise.all(processes.map(({ limits }) => limits.stop()))
  return { violations: [...violations], ...counts }
}
