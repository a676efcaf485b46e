import { describe, expect, test } from 'bun:test'
import { getEventListeners } from 'node:events'
import { Refusal, Unreachable } from '../../plugins/upstream-proxy/index.ts'
import { type Asker, Sharing } from '../../plugins/upstream-proxy/sharing.ts'
import { settled } from '../support/virtual-clock.ts'

/** Calls that are held until the test answers them. */
const open = () => {
  const sharing = new Sharing<string, string>((reason) => reason as Error)
  const calls: (PromiseWithResolvers<string> & { entry: string | undefined; abandoned: boolean })[] = []
  const ask = (key: string, asker: Partial<Asker<string, string>> = {}): Promise<string> => {
    const begin = (entry: string | undefined) => {
      const call = { ...Promise.withResolvers<string>(), entry, abandoned: false }
      calls.push(call)
      return {
        answer: call.promise,
        abandon() {
          call.abandoned = true
        },
      }
    }
    const answer = sharing.ask(key, { begin, ...asker })
    answer.catch(() => {})
    return answer
  }
  return { sharing, calls, ask }
}

/** An entry that is had when the test says so. */
const entry = () => {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const enter = (signal: AbortSignal): Promise<string> => {
    signal.addEventListener('abort', () => reject(new Error('called off')))
    return promise
  }
  return { enter, resolve, reject }
}

describe('those who ask the same at the same time share one call', () => {
  test('and its answer', async () => {
    const { calls, ask } = open()
    const answers = [ask('a'), ask('a'), ask('b'), ask('a')]
    expect(calls).toHaveLength(2)
    for (const [nth, call] of calls.entries()) call.resolve(`answer ${nth}`)
    expect(await Promise.all(answers)).toEqual(['answer 0', 'answer 0', 'answer 1', 'answer 0'])
  })

  test('and its error, which is not remembered', async () => {
    const { calls, ask } = open()
    const both = [ask('a'), ask('a')]
    calls[0]?.reject(new Error('no'))
    for (const each of both) expect(each).rejects.toThrow('no')
    await settled()
    const again = ask('a')
    calls[1]?.resolve('yes')
    expect(await again).toBe('yes')
  })

  test('nothing is kept: who asks after the answer asks anew', async () => {
    const { calls, ask } = open()
    const first = ask('a')
    calls[0]?.resolve('old')
    expect(await first).toBe('old')
    void ask('a')
    expect(calls).toHaveLength(2)
  })

  test('but not with a call that began before a change was made', async () => {
    const { sharing, calls, ask } = open()
    const before = ask('a')
    sharing.seal()
    const after = ask('a')
    expect(calls).toHaveLength(2)
    calls[0]?.resolve('old')
    calls[1]?.resolve('new')
    expect([await before, await after]).toEqual(['old', 'new'])
  })
})

describe('who leaves', () => {
  test('leaves alone: the others get their answer', async () => {
    const { calls, ask } = open()
    const leaving = new AbortController()
    const [left, stays] = [ask('a', { signal: leaving.signal }), ask('a')]
    leaving.abort(new Error('left'))
    expect(left).rejects.toThrow('left')
    await settled()
    expect(calls[0]?.abandoned).toBe(false)
    calls[0]?.resolve('yes')
    expect(await stays).toBe('yes')
    expect(getEventListeners(leaving.signal, 'abort')).toHaveLength(0)
  })

  test('last takes the call along, and who comes then begins anew', async () => {
    const { calls, ask } = open()
    const leaving = [new AbortController(), new AbortController()]
    for (const { signal } of leaving) void ask('a', { signal })
    leaving[0]?.abort()
    await settled()
    expect(calls[0]?.abandoned).toBe(false)
    leaving[1]?.abort()
    await settled()
    expect(calls[0]?.abandoned).toBe(true)
    const next = ask('a')
    calls[0]?.reject(new Error('aborted'))
    calls[1]?.resolve('yes')
    expect(await next).toBe('yes')
  })

  test('before he asks, asks nothing', async () => {
    const { calls, ask } = open()
    const refused = ask('a', { signal: AbortSignal.abort(new Error('left')), enter: async () => 'entry' })
    expect(refused).rejects.toThrow('left')
    await settled()
    expect(calls).toHaveLength(0)
  })
})

describe('where an entry is needed', () => {
  test('who gets one first asks for all, and the others need none', async () => {
    const { calls, ask } = open()
    const entries = [entry(), entry(), entry()]
    const answers = entries.map(({ enter }) => ask('a', { enter }))
    expect(calls).toHaveLength(0)
    entries[1]?.resolve('second')
    await settled()
    expect(calls.map((call) => call.entry)).toEqual(['second'])
    calls[0]?.resolve('yes')
    expect(await Promise.all(answers)).toEqual(['yes', 'yes', 'yes'])
  })

  test('one that comes too late is given back', async () => {
    const { calls, ask } = open()
    const given: string[] = []
    const unused = (each: string) => void given.push(each)
    const late = Promise.withResolvers<string>()
    const first = ask('a', { enter: async () => 'first', unused })
    const second = ask('a', { enter: () => late.promise, unused })
    await settled()
    late.resolve('late')
    await settled()
    expect(given).toEqual(['late'])
    calls[0]?.resolve('yes')
    expect([await first, await second]).toEqual(['yes', 'yes'])
  })

  test('who is refused one is refused alone', async () => {
    const { calls, ask } = open()
    const [one, other] = [entry(), entry()]
    const [refused, served] = [ask('a', { enter: one.enter }), ask('a', { enter: other.enter })]
    one.reject(new Error('too long'))
    expect(refused).rejects.toThrow('too long')
    other.resolve('entry')
    await settled()
    calls[0]?.resolve('yes')
    expect(await served).toBe('yes')
  })
})

test('an error that is shared can be rendered for each of them', async () => {
  const answer = {
    status: 404,
    headers: new Headers({ 'x-request-id': '1' }),
    bytes: new TextEncoder().encode('{"a":1}'),
  }
  for (const error of [new Refusal(answer), new Unreachable(new Error('x'), true)]) {
    const texts = await Promise.all([error.toResponse(), error.toResponse()].map((response) => response.text()))
    expect(texts[0]).toBe(texts[1] ?? '')
    expect(texts[0]).toStartWith('{')
  }
})
