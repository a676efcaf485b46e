import { describe, expect, test } from 'bun:test'
import type { PoolLimits } from '../../plugins/video-generation/store/pool.ts'
import { nextUser, strideOf, type WaitingUser } from '../../plugins/video-generation/store/turns.ts'

interface Source {
  readonly user: string
  readonly weight?: number
  /** Duration of each task. */
  readonly ticks?: number
  /** Tasks, all there from the start. */
  readonly tasks?: number
  /** When they arrive. */
  readonly from?: number
}

/** Runs tasks on slots, as a pool does. Returns the ticks of slots that each user had, and the order of the starts. */
const run = (slots: number, sources: readonly Source[], ticks: number, more: Partial<PoolLimits> = {}) => {
  const weightOf = (user: string) => sources.find((source) => source.user === user)?.weight ?? 1
  const limits = { running: slots, weightOf, ...more }
  const passes = new Map<string, number>()
  const left = new Map(sources.map(({ user, tasks = Number.POSITIVE_INFINITY }) => [user, tasks]))
  const used = new Map(sources.map(({ user }) => [user, 0]))
  const starts: { readonly user: string; readonly at: number }[] = []
  let virtual = 0
  let running: { readonly user: string; readonly end: number }[] = []
  let place = 0
  for (let tick = 0; tick < ticks; tick++) {
    running = running.filter(({ end }) => end > tick)
    while (running.length < slots) {
      const users = sources.flatMap(({ user, from = 0 }): WaitingUser[] => {
        if (from > tick || (left.get(user) ?? 0) === 0) return []
        if (from === tick && !passes.has(user)) passes.set(user, virtual)
        const count = running.filter((each) => each.user === user).length
        return [{ user, pass: passes.get(user) ?? 0, running: count, place: place++ }]
      })
      const next = nextUser(users, limits)
      if (!next) break
      virtual = Math.max(next.pass, virtual)
      passes.set(next.user, next.pass + strideOf(next.user, limits))
      left.set(next.user, (left.get(next.user) ?? 0) - 1)
      starts.push({ user: next.user, at: tick })
      running.push({ user: next.user, end: tick + (sources.find(({ user }) => user === next.user)?.ticks ?? 10) })
    }
    for (const { user } of running) used.set(user, (used.get(user) ?? 0) + 1)
  }
  return { used, starts, busy: [...used.values()].reduce((sum, each) => sum + each, 0) / slots / ticks }
}

const users = (count: number, source: Partial<Source> = {}): readonly Source[] =>
  Array.from({ length: count }, (_, index) => ({ user: `user-${index}`, ...source }))

describe('the users of a pool get its slots', () => {
  test.each([3, 10])('evenly, on %i slots', (slots) => {
    const { used, busy } = run(slots, users(20), 4_000)
    const fair = (slots * 4_000) / 20
    for (const ticks of used.values()) expect(ticks / fair).toBeWithin(0.97, 1.03)
    expect(busy).toBe(1)
  })

  test.each([3, 10])('in the ratio of their weights, on %i slots', (slots) => {
    const sources = [...users(18), { user: 'double', weight: 2 }, { user: 'five', weight: 5 }]
    const { used } = run(slots, sources, 10_000)
    const one = (slots * 10_000) / 25
    for (const { user, weight = 1 } of sources) expect((used.get(user) ?? 0) / one / weight).toBeWithin(0.93, 1.05)
  })

  test('and a batch of 500 delays the task of another user by one task at most', () => {
    for (const slots of [1, 3, 10]) {
      const sources = [
        { user: 'batch', tasks: 500 },
        { user: 'one', tasks: 1, from: 57 },
      ]
      const { starts } = run(slots, sources, 200)
      expect(starts.find(({ user }) => user === 'one')?.at).toBeWithin(57, 57 + 10)
    }
  })

  test('by the number of their tasks, also when those of one take longer', () => {
    const { starts } = run(10, [{ user: 'long', ticks: 100 }, { user: 'short' }], 10_000)
    expect(starts.filter(({ user }) => user === 'long').length / starts.length).toBeWithin(0.49, 0.51)
  })

  test('all of them when nobody else wants any', () => {
    expect(run(10, [{ user: 'only' }, { user: 'idle', tasks: 0 }], 100).busy).toBe(1)
  })

  test('up to the maximum of one user', () => {
    const { used, busy } = run(10, [{ user: 'capped' }], 100, { runningPerUser: 4 })
    expect(used.get('capped')).toBe(400)
    expect(busy).toBe(0.4)
  })

  test('without credit for the time in which they sent nothing', () => {
    const { starts } = run(1, [{ user: 'early' }, { user: 'late', from: 1_000 }], 2_000)
    const later = starts.filter(({ at }) => at >= 1_000).slice(0, 20)
    expect(later.filter(({ user }) => user === 'late').length).toBeWithin(9, 12)
  })
})

test('a weight must be greater than 0', () => {
  for (const weight of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(() => strideOf('ann', { weightOf: () => weight })).toThrow(RangeError)
  }
})
