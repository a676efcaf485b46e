import { describe, expect, test } from 'bun:test'
import { getEventListeners } from 'node:events'
import { UpstreamRejectedError, UpstreamUnreachableError } from '../../plugins/upstream-proxy/index.ts'
import { type FlightRequest, SingleFlight } from '../../plugins/upstream-proxy/single-flight.ts'
import { settled } from '../support/virtual-clock.ts'

/** Calls that wait until the test resolves them. */
const open = () => {
  const singleFlight = new SingleFlight<string, string>((reason) => reason as Error)
  const calls: (PromiseWithResolvers<string> & { permit: string | undefined; abandoned: boolean })[] = []
  const ask = (key: string, request: Partial<FlightRequest<string, string>> = {}): Promise<string> => {
    const start = (permit: string | undefined) => {
      const call = { ...Promise.withResolvers<string>(), permit, abandoned: false }
      calls.push(call)
      return {
        result: call.promise,
        abandon() {
          call.abandoned = true
        },
      }
    }
    const answer = singleFlight.run(key, { start, ...request })
    answer.catch(() => {})
    return answer
  }
  return { singleFlight, calls, ask }
}

/** A rate limit permit that the test grants. */
const permit = () => {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const acquire = (signal: AbortSignal): Promise<string> => {
    signal.addEventListener('abort', () => reject(new Error('cancelled')))
    return promise
  }
  return { acquire, resolve, reject }
}

describe('concurrent calls with the same key', () => {
  test('share one call and its response', async () => {
    const { calls, ask } = open()
    const answers = [ask('a'), ask('a'), ask('b'), ask('a')]
    expect(calls).toHaveLength(2)
    for (const [nth, call] of calls.entries()) call.resolve(`answer ${nth}`)
    expect(await Promise.all(answers)).toEqual(['answer 0', 'answer 0', 'answer 1', 'answer 0'])
  })

  test('share its error, which is not cached', async () => {
    const { calls, ask } = open()
    const both = [ask('a'), ask('a')]
    calls[0]?.reject(new Error('no'))
    for (const each of both) expect(each).rejects.toThrow('no')
    await settled()
    const again = ask('a')
    calls[1]?.resolve('yes')
    expect(await again).toBe('yes')
  })

  test('share nothing after the response: the next call is new', async () => {
    const { calls, ask } = open()
    const first = ask('a')
    calls[0]?.resolve('old')
    expect(await first).toBe('old')
    void ask('a')
    expect(calls).toHaveLength(2)
  })

  test('do not share a call that started before a change', async () => {
    const { singleFlight, calls, ask } = open()
    const before = ask('a')
    singleFlight.forgetStarted()
    const after = ask('a')
    expect(calls).toHaveLength(2)
    calls[0]?.resolve('old')
    calls[1]?.resolve('new')
    expect([await before, await after]).toEqual(['old', 'new'])
  })
})

describe('a caller who disconnects', () => {
  test('does not affect the other callers', async () => {
    const { calls, ask } = open()
    const caller = new AbortController()
    const [left, stays] = [ask('a', { signal: caller.signal }), ask('a')]
    caller.abort(new Error('left'))
    await expect(left).rejects.toThrow('left')
    await settled()
    expect(calls[0]?.abandoned).toBe(false)
    calls[0]?.resolve('yes')
    expect(await stays).toBe('yes')
    expect(getEventListeners(caller.signal, 'abort')).toHaveLength(0)
  })

  test('as the last one aborts the call, and the next caller starts a new one', async () => {
    const { calls, ask } = open()
    const caller = [new AbortController(), new AbortController()]
    for (const { signal } of caller) void ask('a', { signal })
    caller[0]?.abort()
    await settled()
    expect(calls[0]?.abandoned).toBe(false)
    caller[1]?.abort()
    await settled()
    expect(calls[0]?.abandoned).toBe(true)
    const next = ask('a')
    calls[0]?.reject(new Error('aborted'))
    calls[1]?.resolve('yes')
    expect(await next).toBe('yes')
  })

  test('before the call starts none', async () => {
    const { calls, ask } = open()
    const rejected = ask('a', { signal: AbortSignal.abort(new Error('left')), acquire: async () => 'entry' })
    await expect(rejected).rejects.toThrow('left')
    await settled()
    expect(calls).toHaveLength(0)
  })
})

describe('with a rate limit', () => {
  test('the first granted permit is used for all callers', async () => {
    const { calls, ask } = open()
    const entries = [permit(), permit(), permit()]
    const answers = entries.map(({ acquire }) => ask('a', { acquire }))
    expect(calls).toHaveLength(0)
    entries[1]?.resolve('second')
    await settled()
    expect(calls.map((call) => call.permit)).toEqual(['second'])
    calls[0]?.resolve('yes')
    expect(await Promise.all(answers)).toEqual(['yes', 'yes', 'yes'])
  })

  test('a permit that is granted too late is returned', async () => {
    const { calls, ask } = open()
    const given: string[] = []
    const release = (each: string) => void given.push(each)
    const late = Promise.withResolvers<string>()
    const first = ask('a', { acquire: async () => 'first', release })
    const second = ask('a', { acquire: () => late.promise, release })
    await settled()
    late.resolve('late')
    await settled()
    expect(given).toEqual(['late'])
    calls[0]?.resolve('yes')
    expect([await first, await second]).toEqual(['yes', 'yes'])
  })

  test('a caller without a permit is rejected, and the others are not', async () => {
    const { calls, ask } = open()
    const [one, other] = [permit(), permit()]
    const [rejected, served] = [ask('a', { acquire: one.acquire }), ask('a', { acquire: other.acquire })]
    one.reject(new Error('too long'))
    await expect(rejected).rejects.toThrow('too long')
    other.resolve('entry')
    await settled()
    calls[0]?.resolve('yes')
    expect(await served).toBe('yes')
  })
})

test('a shared error renders a separate response for each caller', async () => {
  const answer = {
    status: 404,
    headers: new Headers({ 'x-request-id': '1' }),
    bytes: new TextEncoder().encode('{"a":1}'),
  }
  for (const error of [new UpstreamRejectedError(answer), new UpstreamUnreachableError(new Error('x'), true)]) {
    const texts = await Promise.all([error.toResponse(), error.toResponse()].map((response) => response.text()))
    expect(texts[0]).toBe(texts[1] ?? '')
    expect(texts[0]).toStartWith('{')
  }
})
