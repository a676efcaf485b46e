import { describe, expect, test } from 'bun:test'
import type { Clock } from '../../plugins/shared/clock.ts'
import { noLog } from '../../plugins/shared/problem.ts'
import type { CircuitBreakerOptions } from '../../plugins/shared/upstream/circuit.ts'
import { createCircuitBreakers } from '../../plugins/shared/upstream/circuit-breaker.ts'
import { RetryBudget } from '../../plugins/shared/upstream/retry-budget.ts'
import {
  CircuitOpenError,
  isNeverSent,
  UpstreamUnreachableError,
} from '../../plugins/shared/upstream/upstream-error.ts'

type Reply = number | 'unreachable' | 'timeout' | 'left' | Promise<number>

/** An upstream that replies as told, behind circuits whose time a test moves. */
const setUp = (options: CircuitBreakerOptions = {}) => {
  const timers = new Set<{ readonly time: number; readonly run: () => void }>()
  const time = {
    now: 1_000_000,
    /** The timers that are due then. */
    run() {
      for (const timer of [...timers]) if (timer.time <= time.now && timers.delete(timer)) timer.run()
    },
  }
  const clock: Clock = {
    now: () => time.now,
    at(when, run) {
      const timer = { time: when, run }
      timers.add(timer)
      return () => timers.delete(timer)
    },
  }
  let sent = 0
  let reply: Reply = 200
  const logged: [string, object][] = []
  const log = {
    ...noLog,
    warn: (fields: object) => void logged.push(['warn', fields]),
    info: (fields: object) => void logged.push(['info', fields]),
  }
  const circuits = createCircuitBreakers({ ...options, clock, log })
  const fetch = circuits.wrap(async (_url, { signal }) => {
    sent++
    const now = reply
    if (now === 'unreachable') throw Object.assign(new Error('no connection'), { code: 'ECONNREFUSED' })
    if (now === 'timeout' || now === 'left') throw (signal as AbortSignal).reason
    return new Response(null, { status: await now })
  })
  const call = async (next: Reply, path = '/api/assets', init: RequestInit = {}) => {
    reply = next
    const reason = next === 'timeout' ? new DOMException('late', 'TimeoutError') : new Error('left')
    const signal = next === 'timeout' || next === 'left' ? AbortSignal.abort(reason) : null
    const before = sent
    const result = await fetch(`https://upstream.example${path}`, { method: 'GET', signal, ...init }).then(
      ({ status }) => String(status),
      (error: Error) => (error instanceof CircuitOpenError ? 'refused' : 'failed'),
    )
    return sent > before ? result : `${result} unsent`
  }
  const calls = async (count: number, next: Reply, path?: string) => {
    let last = ''
    for (let at = 0; at < count; at++) last = await call(next, path)
    return last
  }
  return { call, calls, circuits, fetch, logged, sent: () => sent, time, timers }
}

/** When calls that can go on without time have done so. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('a circuit', () => {
  test('opens after five calls in a row without a response, and then sends nothing', async () => {
    const { call, calls, circuits } = setUp()
    await calls(4, 'unreachable')
    expect(await call(200)).toBe('200')
    await calls(4, 'unreachable')
    expect(circuits.counts()).toEqual({ closed: 1, open: 0, 'half-open': 0, refused: 0 })
    expect(await call('timeout')).toBe('failed')
    expect(await call(200)).toBe('refused unsent')
    expect(circuits.counts()).toEqual({ closed: 0, open: 1, 'half-open': 0, refused: 1 })
  })

  test('opens when half of 20 calls in ten seconds have failed, and not by fewer or later ones', async () => {
    for (const status of [502, 503, 504]) {
      const { call, calls, time } = setUp()
      await calls(10, 200)
      await calls(9, status)
      expect(await call(200)).toBe('200')
      expect(await call(status)).toBe(String(status))
      expect(await call(200)).toBe('200')
      time.now += 10_000
      await calls(9, 200)
      await calls(10, status)
      expect(await call(200)).toBe('200')
      expect(await call(status)).toBe(String(status))
      expect(await call(200)).toBe('refused unsent')
    }
  })

  test('does not open by errors of callers, by a limit of calls, or by clients that have left', async () => {
    const { call, calls, time } = setUp()
    for (const reply of [400, 401, 404, 429, 500, 'left'] as const) {
      await calls(50, reply)
      expect([reply, await call(200)]).toEqual([reply, '200'])
      time.now += 10_000
    }
  })

  test('tries one call at a time after a second, and closes when that succeeds', async () => {
    const { call, calls, circuits, sent, time } = setUp()
    await calls(5, 'unreachable')
    time.now += 999
    expect(await call(200)).toBe('refused unsent')
    time.now += 1
    expect(circuits.counts()['half-open']).toBe(1)
    const answer = Promise.withResolvers<number>()
    const probe = call(answer.promise)
    time.now += 1_000
    expect(await call(200)).toBe('refused unsent')
    expect(sent()).toBe(6)
    answer.resolve(200)
    expect(await probe).toBe('200')
    expect(await calls(3, 200)).toBe('200')
    // It begins anew: one failure is one.
    await calls(4, 'unreachable')
    expect(await call(200)).toBe('200')
  })

  test('lets calls wait for a try, and sends them all when it succeeds', async () => {
    const { call, calls, circuits, sent, time, timers } = setUp()
    await calls(5, 'unreachable')
    time.now += 1_000
    const answer = Promise.withResolvers<number>()
    const probe = call(answer.promise)
    const others = Array.from({ length: 100 }, () => call(200))
    await settled()
    expect([sent(), timers.size]).toEqual([6, 1])
    answer.resolve(200)
    expect(await probe).toBe('200')
    expect(new Set(await Promise.all(others))).toEqual(new Set(['200']))
    expect([sent(), timers.size]).toEqual([106, 0])
    expect(circuits.counts()).toEqual({ closed: 1, open: 0, 'half-open': 0, refused: 0 })
  })

  test('refuses the calls that wait when the try fails, and a second after its begin', async () => {
    const { call, calls, circuits, sent, time, timers } = setUp()
    await calls(5, 'unreachable')
    time.now += 1_000
    const answers = [Promise.withResolvers<number>(), Promise.withResolvers<number>()] as const
    const first = call(answers[0].promise)
    const waiting = call(200)
    await settled()
    answers[0].resolve(503)
    expect([await first, await waiting]).toEqual(['503', 'refused unsent'])
    time.now += 2_000
    const second = call(answers[1].promise)
    time.now += 999
    const late = [call(200), call(200)]
    time.run()
    await settled()
    expect([circuits.counts().refused, timers.size]).toEqual([1, 1])
    time.now += 1
    time.run()
    expect(await Promise.all(late)).toEqual(['refused unsent', 'refused unsent'])
    expect(await call(200)).toBe('refused unsent')
    answers[1].resolve(200)
    expect(await second).toBe('200')
    expect([await call(200), sent(), timers.size]).toEqual(['200', 8, 0])
  })

  test('lets one of the calls that wait try, when the client of the try has left', async () => {
    const { call, calls, fetch, sent, time } = setUp()
    await calls(5, 'unreachable')
    time.now += 1_000
    const abort = new AbortController()
    const answers = [Promise.withResolvers<number>(), Promise.withResolvers<number>()] as const
    const first = call(answers[0].promise, '/api/assets', { signal: abort.signal })
    const others = [call(answers[1].promise), call(answers[1].promise)]
    // Its client leaves while it waits.
    const gone = new AbortController()
    const impatient = fetch('https://upstream.example/api/assets', { method: 'GET', signal: gone.signal })
    gone.abort(new Error('left'))
    expect(await impatient.catch(({ message }: Error) => message)).toBe('left')
    // Its time limit ends.
    const late = AbortSignal.abort(new DOMException('late', 'TimeoutError'))
    const limited = fetch('https://upstream.example/api/assets', { method: 'GET', signal: late })
    expect(await limited.catch((error: unknown) => isNeverSent(error))).toBe(true)
    abort.abort(new Error('left'))
    answers[0].reject(abort.signal.reason)
    expect(await first).toBe('failed')
    await settled()
    expect(sent()).toBe(7)
    answers[1].resolve(200)
    expect(await Promise.all(others)).toEqual(['200', '200'])
    expect(sent()).toBe(8)
  })

  test('stays open twice as long after each failed try, at most four seconds', async () => {
    const { call, calls, time } = setUp()
    await calls(5, 'unreachable')
    let waited = 1_000
    for (const next of [2_000, 4_000, 4_000, 4_000]) {
      time.now += waited - 1
      expect(await call(200)).toBe('refused unsent')
      time.now += 1
      expect(await call(503)).toBe('503')
      waited = next
    }
    time.now += waited
    expect(await call(200)).toBe('200')
    // Then the first pause is a second again.
    await calls(5, 'unreachable')
    time.now += 1_000
    expect(await call(200)).toBe('200')
  })

  test('tries again at once when the client of the try has left', async () => {
    const { call, calls, time } = setUp()
    await calls(5, 'unreachable')
    time.now += 1_000
    expect(await call('left')).toBe('failed')
    expect(await call(200)).toBe('200')
  })

  test('is not closed, nor kept open, by calls that began before it opened', async () => {
    const { call, calls, time } = setUp()
    const [late, later] = [Promise.withResolvers<number>(), Promise.withResolvers<number>()]
    const [first, second] = [call(late.promise), call(later.promise)]
    await calls(5, 'unreachable')
    late.resolve(200)
    await first
    expect(await call(200)).toBe('refused unsent')
    time.now += 1_000
    const answer = Promise.withResolvers<number>()
    const probe = call(answer.promise)
    later.resolve(503)
    await second
    time.now += 1_000
    expect(await call(200)).toBe('refused unsent')
    answer.resolve(200)
    await probe
    expect(await call(200)).toBe('200')
  })

  test('sends the next try after four seconds, if one gets no response', async () => {
    const { call, calls, time } = setUp()
    await calls(5, 'unreachable')
    time.now += 1_000
    const [first, second] = [Promise.withResolvers<number>(), Promise.withResolvers<number>()]
    const probes = [call(first.promise)]
    time.now += 3_999
    expect(await call(200)).toBe('refused unsent')
    time.now += 1
    probes.push(call(second.promise))
    time.now += 1_000
    expect(await call(200)).toBe('refused unsent')
    // The upstream is back: either may tell.
    first.resolve(200)
    await probes[0]
    expect(await call(200)).toBe('200')
    // What the other one tells is not new.
    second.resolve(503)
    await probes[1]
    expect(await call(200)).toBe('200')
  })

  test('opens when 20 calls wait and none has got a response for 30 seconds, and closes at the first one', async () => {
    const { call, circuits, time } = setUp()
    const answers = Array.from({ length: 21 }, () => Promise.withResolvers<number>())
    const [first, ...others] = answers as [(typeof answers)[0], ...typeof answers]
    const waiting = [call(first.promise)]
    // One that waits for long does not count by itself.
    time.now += 60_000
    for (const { promise } of others.slice(0, 19)) waiting.push(call(promise))
    time.now += 29_999
    expect(await call('left')).toBe('failed')
    first.resolve(200)
    await waiting[0]
    waiting.push(call((others[19] as typeof first).promise))
    time.now += 29_999
    expect(await call('left')).toBe('failed')
    time.now += 1
    expect(await call(200)).toBe('refused unsent')
    expect(circuits.counts().open).toBe(1)
    others[0]?.resolve(200)
    await waiting[1]
    expect(await call(200)).toBe('200')
    // Those that still wait have done so for long, but there was a response.
    expect(circuits.counts()).toMatchObject({ closed: 1, open: 0 })
  })

  test('tells callers when to come again, and its log once when it opens and once when it closes', async () => {
    const { call, calls, fetch, logged, time } = setUp()
    await calls(5, 'unreachable')
    const rejection = () =>
      fetch('https://upstream.example/api/assets', { method: 'GET' }).then(
        () => undefined,
        (cause: unknown) => new UpstreamUnreachableError(cause, !isNeverSent(cause)).headers['retry-after'],
      )
    expect(await rejection()).toBe('1')
    time.now += 1_000
    expect(await call(503)).toBe('503')
    expect(await rejection()).toBe('2')
    time.now += 1_999
    expect(await rejection()).toBe('1')
    time.now += 1
    const answer = Promise.withResolvers<number>()
    const probe = call(answer.promise)
    time.now += 1_000
    expect(await rejection()).toBe('3')
    answer.resolve(200)
    await probe
    const circuit = 'GET https://upstream.example/api/assets'
    expect(logged).toEqual([
      ['warn', { circuit, reason: '5 calls in a row got no response' }],
      ['info', { circuit }],
    ])
  })

  test('is one of its upstream and action: ids in a path make no difference', async () => {
    const { call, calls } = setUp()
    await calls(5, 'unreachable', '/api/v3/tasks/cgt-1?x=1')
    expect(await call(200, '/api/v3/tasks/cgt-2')).toBe('refused unsent')
    expect(await call(200, '/api/v3/tasks')).toBe('200')
    expect(await call(200, '/api/v3/tasks/cgt-2', { method: 'DELETE' })).toBe('200')
    await calls(5, 'unreachable', '/?Action=GetAsset&Version=1')
    expect(await call(200, '/?Version=1&Action=GetAsset')).toBe('refused unsent')
    expect(await call(200, '/?Action=ListAssets&Version=1')).toBe('200')
  })

  test('has a bound: paths with words of callers do not fill the memory', async () => {
    const { call, circuits } = setUp()
    for (let at = 0; at < 2_500; at++)
      await call(200, `/${[...String(at)].map((digit) => 'abcdefghij'[Number(digit)]).join('')}`)
    expect(circuits.counts().closed).toBeLessThanOrEqual(1_000)
  })

  test('fails with an error that proves that nothing was sent', () => {
    expect(isNeverSent(new CircuitOpenError(1))).toBe(true)
  })

  test('rejects options that are not above 0', () => {
    for (const option of ['failures', 'calls', 'ratio', 'windowMs', 'silentMs', 'openMs', 'maxOpenMs', 'probeWaitMs'])
      expect(() => createCircuitBreakers({ [option]: 0 })).toThrow(TypeError)
  })
})

test('a retry budget allows three repetitions in ten seconds, or a tenth of the calls', () => {
  let now = 0
  const budget = new RetryBudget({ now: () => now })
  const taken = () => Array.from({ length: 20 }, () => budget.take()).filter(Boolean).length
  budget.count()
  expect(taken()).toBe(3)
  now += 10_000
  for (let at = 0; at < 100; at++) budget.count()
  expect(taken()).toBe(10)
  now += 9_999
  expect(taken()).toBe(0)
  now += 1
  expect(taken()).toBe(3)
})
