import { describe, expect, test } from 'bun:test'
import { RejectedValueError } from '../../src/store/database/error.ts'
import { type UsageBatch, UsageBuffer } from '../../src/store/usage/usage-buffer.ts'
import { settled, VirtualClock } from '../support/virtual-clock.ts'

const noon = Date.UTC(2026, 8, 21, 12)
const tokens = { input: 10, cachedInput: 4, output: 5, reasoning: 3 }
const call = { user: 'ann', token: 't', model: 'm', at: noon, tokens }

/** A buffer whose `write` is the given function. */
const openBuffer = (write: (batch: UsageBatch) => void | Promise<void> = () => {}) => {
  const clock = new VirtualClock()
  const batches: UsageBatch[] = []
  const logged: { readonly words: string; readonly members: object }[] = []
  const note = (members: object, words: string) => void logged.push({ words, members })
  const buffer = new UsageBuffer({
    async write(batch) {
      batches.push(structuredClone(batch))
      await write(batch)
    },
    clock,
    log: { debug: note, info: note, warn: note, error: note },
  })
  const callsIn = (of: readonly UsageBatch[]) =>
    of.flatMap(({ sums }) => sums).reduce((all, { calls }) => all + calls, 0)
  return { buffer, clock, batches, logged, callsIn }
}

describe('the usage buffer', () => {
  test('calls of 50 ms are summed, and written together', async () => {
    const { buffer, clock, batches } = openBuffer()
    for (let nth = 0; nth < 5; nth++) {
      buffer.add({ ...call, tokens: nth === 2 ? undefined : tokens })
      await clock.pass(9)
    }
    buffer.add({ ...call, user: 'bob' })
    expect(batches).toEqual([])
    await clock.pass(10)
    const ann = { user: 'ann', token: 't', day: '2026-09-21', model: 'm' }
    const { input, cachedInput, output, reasoning } = tokens
    const four = { input: 4 * input, cachedInput: 4 * cachedInput, output: 4 * output, reasoning: 4 * reasoning }
    expect(batches.map(({ sums }) => sums)).toEqual([
      [
        { ...ann, calls: 5, unreported: 1, ...four },
        { ...ann, user: 'bob', calls: 1, unreported: 0, ...tokens },
      ],
    ])
  })

  test('an empty buffer has no timer, and all calls share one', async () => {
    const { buffer, clock } = openBuffer()
    expect(clock.pending).toBe(0)
    for (let nth = 0; nth < 5; nth++) buffer.add({ ...call, model: `m${nth}` })
    expect(clock.pending).toBe(1)
    await clock.pass(50)
    expect(clock.pending).toBe(0)
  })

  test('users, tokens, days and models are kept apart, whatever characters they contain', async () => {
    const { buffer, batches } = openBuffer()
    const { token: _, ...without } = call
    for (const each of [without, call, { ...call, user: 'annt', token: '' }, { ...call, at: noon + 86_400_000 }])
      buffer.add(each)
    buffer.add({ ...call, model: 'n' })
    await buffer.flush()
    expect(batches[0]?.sums.map(({ calls }) => calls)).toEqual([1, 1, 1, 1, 1])
  })

  test('a flush ends even when calls are added meanwhile, and has written all earlier calls', async () => {
    const opened = openBuffer((batch) => {
      // A call is added during every write.
      if (opened.batches.length < 100) opened.buffer.add({ ...call, model: batch.id })
    })
    const { buffer, batches, callsIn } = opened
    buffer.add(call)
    await buffer.flush()
    expect(callsIn(batches)).toBe(1)
    await buffer.flush()
    expect(callsIn(batches)).toBe(2)
  })

  test('flushes during a write share one further write', async () => {
    const finishWrites: (() => void)[] = []
    const { buffer, batches } = openBuffer(() => new Promise((resolve) => finishWrites.push(resolve)))
    buffer.add(call)
    const first = buffer.flush()
    buffer.add({ ...call, user: 'bob' })
    const others = [buffer.flush(), buffer.flush()]
    await settled()
    expect(batches).toHaveLength(1)
    finishWrites[0]?.()
    await first
    others.push(buffer.flush())
    await settled()
    expect(batches.map(({ sums }) => sums[0]?.user)).toEqual(['ann', 'bob'])
    finishWrites[1]?.()
    await Promise.all(others)
    expect(batches).toHaveLength(2)
  })

  test('a batch with an unknown outcome is retried unchanged', async () => {
    let down = true
    const { buffer, clock, batches, logged } = openBuffer(() => {
      if (down) throw new Error('no response')
    })
    buffer.add(call)
    await clock.pass(50)
    buffer.add(call)
    await clock.pass(999)
    expect(batches).toHaveLength(1)
    down = false
    await clock.pass(1)
    const [one, again, other, ...more] = batches
    expect(again).toEqual(one as UsageBatch)
    expect(other).toMatchObject({ previous: one?.id, sums: [{ calls: 1 }] })
    expect(other?.id).not.toBe(one?.id)
    expect(more).toEqual([])
    expect(logged.map(({ words }) => words)).toEqual(['usage could not be written'])
  })

  test('a sum that the database does not accept is lost, and counted; all others are written, each once', async () => {
    const { buffer, clock, batches, logged } = openBuffer(({ sums }) => {
      if (sums.some(({ user }) => user === 'bad')) throw new RejectedValueError('not accepted')
    })
    const users = ['bad', ...Array.from({ length: 300 }, (_, index) => `user ${index}`)]
    for (const user of users) buffer.add({ ...call, user })
    await clock.pass(50)
    const written = batches.filter(({ sums }) => sums.every(({ user }) => user !== 'bad'))
    expect(written.flatMap(({ sums }) => sums.map(({ user }) => user))).toEqual(users.slice(1))
    expect(new Set(batches.map(({ id }) => id)).size).toBe(batches.length)
    // Each batch names the one that was written before it.
    expect(written.map(({ previous }) => previous)).toEqual([undefined, ...written.slice(0, -1).map(({ id }) => id)])
    expect(logged.map(({ words }) => words)).toEqual(['usage cannot be written', 'usage of calls has been lost'])
    expect(logged[1]?.members).toEqual({ calls: 1 })
  })

  test('a flush rejects while the database is unreachable', async () => {
    const { buffer } = openBuffer(() => {
      throw new Error('no response')
    })
    buffer.add(call)
    expect(await buffer.flush().catch((error: Error) => error.message)).toBe('no response')
  })

  test('while the database is unreachable, 10,000 sums are kept; calls that need another one are lost, and counted', async () => {
    let down = true
    const { buffer, clock, batches, logged, callsIn } = openBuffer(() => {
      if (down) throw new Error('no response')
    })
    buffer.add(call)
    await clock.pass(50)
    for (let nth = 0; nth < 10_003; nth++) buffer.add({ ...call, user: `user ${nth}` })
    buffer.add({ ...call, user: 'user 0' })
    expect(logged.map(({ words }) => words).slice(1)).toEqual(['usage is being lost'])
    batches.length = 0
    down = false
    await clock.pass(1_000)
    expect(callsIn(batches)).toBe(10_002)
    expect(Math.max(...batches.map(({ sums }) => sums.length))).toBe(200)
    expect(logged.at(-1)).toEqual({ words: 'usage of calls has been lost', members: { calls: 3 } })
    await clock.pass(10_000)
    expect(callsIn(batches)).toBe(10_002)
  })

  test('closing writes the buffered calls; later calls, and calls that cannot be written, are lost, and counted', async () => {
    const { buffer, clock, batches, logged, callsIn } = openBuffer()
    buffer.add(call)
    await buffer.close()
    expect(callsIn(batches)).toBe(1)
    buffer.add(call)
    await clock.pass(10_000)
    expect(callsIn(batches)).toBe(1)
    expect(logged.map(({ words }) => words)).toEqual(['usage is being lost'])

    const away = openBuffer(() => {
      throw new Error('no response')
    })
    away.buffer.add(call)
    await away.clock.pass(50)
    away.buffer.add(call)
    away.buffer.add({ ...call, model: 'other' })
    await away.buffer.close()
    expect(away.logged.at(-1)).toEqual({ words: 'usage of calls has been lost', members: { calls: 3 } })
    expect(away.clock.pending).toBe(0)
  })

  test.each([Number.NaN, 0.5, Number.MAX_SAFE_INTEGER])(
    '%p tokens too many are rejected, and other calls are written',
    async (input) => {
      const { buffer, batches, callsIn } = openBuffer()
      buffer.add(call)
      expect(() => buffer.add({ ...call, tokens: { ...tokens, input } })).toThrow(TypeError)
      await buffer.flush()
      expect(callsIn(batches)).toBe(1)
    },
  )
})
