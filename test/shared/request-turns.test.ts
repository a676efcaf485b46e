import { describe, expect, test } from 'bun:test'
import { AsyncLocalStorage } from 'node:async_hooks'
import {
  createLoop,
  type Loop,
  longTurn,
  maxAtOnce,
  maxPerTurn,
  maxWaiting,
  minPerTurn,
  slow,
  times,
} from './turn-loop.ts'

test('requests of a turn are handled at once, up to a number, and further ones in the following turns', async () => {
  const loop = createLoop()
  times(80, (nth) => loop.ask(`${nth}`))
  expect(loop.handled).toHaveLength(maxPerTurn)
  expect(await loop.handledInTurn(0)).toHaveLength(maxPerTurn)
  expect(await loop.handledInTurn(0)).toHaveLength(16)
  expect(loop.turns.waiting).toBe(0)
  expect(loop.isDue()).toBeFalse()
})

test('after long turns fewer requests are begun in each, and after short turns more', async () => {
  const loop = createLoop()
  times(200, (nth) => loop.ask(`${nth}`))
  const perTurn: number[] = []
  for (let nth = 0; nth < 5; nth++) perTurn.push((await loop.handledInTurn(longTurn)).length)
  for (let nth = 0; nth < 4; nth++) perTurn.push((await loop.handledInTurn(0.5)).length)
  expect(perTurn).toEqual([16, 8, minPerTurn, minPerTurn, minPerTurn, 5, 6, 7, 8])
})

test('while one caller only waits, long turns do not become shorter', async () => {
  const loop = createLoop()
  times(200, (nth) => loop.ask(`${nth}`, { token: 'a' }))
  for (let nth = 0; nth < 4; nth++) expect(await loop.handledInTurn(longTurn)).toHaveLength(maxPerTurn)
})

describe('beside a user who floods', () => {
  test('a quiet user’s request is handled at once, however many of the other’s wait', async () => {
    const loop = createLoop()
    times(1_000, () => loop.ask('flood', { token: 'a', user: 'ann' }))
    await loop.turn()
    loop.ask('first', { token: 'b', user: 'bob' })
    // The user of the token is not known yet.
    expect((await loop.handledInTurn()).slice(0, 2)).toContain('first')
    for (let nth = 0; nth < 3; nth++) {
      loop.ask('quiet', { token: 'b', user: 'bob' })
      expect(loop.handled.at(-1)).toBe('quiet')
      await loop.turn()
    }
  })

  test('a few requests of quiet users are handled at once in each turn, and the others are the first of the next', async () => {
    const loop = createLoop()
    times(1_000, () => loop.ask('flood', { token: 'a', user: 'ann' }))
    const askAll = () => times(6, (nth) => loop.ask(`${nth}`, { user: `user ${nth}` }))
    askAll()
    for (let nth = 0; nth < 6; nth++) await loop.turn()
    for (let nth = 0; nth < 2; nth++) {
      loop.handled.length = 0
      askAll()
      expect(loop.handled).toEqual(['0', '1', '2', '3'])
      expect((await loop.handledInTurn()).toSorted()).toEqual(['4', '5', 'flood', 'flood'])
    }
  })

  test('a user who has requests waiting has none handled at once', async () => {
    const loop = createLoop()
    times(1_000, () => loop.ask('flood', { token: 'a', user: 'ann' }))
    loop.ask('quiet', { token: 'b', user: 'bob' })
    await slow(loop)
    loop.handled.length = 0
    times(2, () => loop.ask('flood', { token: 'a', user: 'ann' }))
    expect(loop.handled).toEqual([])
    times(10, () => loop.ask('quiet', { token: 'b', user: 'bob' }))
    expect(loop.handled).toHaveLength(maxAtOnce)
    times(10, () => loop.ask('quiet', { token: 'b', user: 'bob' }))
    expect(loop.handled).toHaveLength(maxAtOnce)
  })

  test('all tokens of a user are one caller', async () => {
    const loop = createLoop()
    times(1_000, (nth) => loop.ask('flood', { token: `a${nth % 50}`, user: 'ann' }))
    // Each token is known after its first request.
    for (let nth = 0; nth < 60; nth++) await loop.turn()
    loop.ask('quiet', { token: 'b', user: 'bob' })
    loop.ask('other', { token: 'c', user: 'cid' })
    const handled = [...(await loop.handledInTurn()), ...(await loop.handledInTurn())]
    expect(handled).toContain('quiet')
    expect(handled).toContain('other')
    loop.ask('quiet again', { token: 'b', user: 'bob' })
    loop.ask('other again', { token: 'c', user: 'cid' })
    expect(loop.handled.slice(-2)).toEqual(['quiet again', 'other again'])
    expect(await loop.handledInTurn()).toEqual(Array(minPerTurn).fill('flood'))
  })

  test('users who wait are served in circles', async () => {
    const loop = createLoop()
    for (const name of ['a', 'b', 'c']) times(50, () => loop.ask(name, { user: name }))
    await slow(loop)
    const handled: string[] = []
    for (let nth = 0; nth < 3; nth++) handled.push(...(await loop.handledInTurn()))
    for (const name of ['a', 'b', 'c']) expect(handled.filter((each) => each === name)).toHaveLength(4)
  })
})

test('invented tokens, each of one request, get half of the turns while a user waits', async () => {
  const loop = createLoop()
  times(100, () => loop.ask('user', { token: 'a', user: 'ann' }))
  times(1_000, (nth) => loop.ask('invented', { token: `x${nth}` }))
  await slow(loop)
  const handled: string[] = []
  for (let nth = 0; nth < 10; nth++) handled.push(...(await loop.handledInTurn()))
  expect(handled.filter((name) => name === 'user')).toHaveLength(20)
})

test('a token whose requests did not wait for two minutes is not known any more', async () => {
  const loop = createLoop()
  const handledOf = async (count: number): Promise<readonly string[]> => {
    while (!loop.isDue()) loop.ask('at once', { token: '' })
    times(count, (nth) => loop.ask('ann', { token: `a${nth % 2}`, user: 'ann' }))
    times(count, () => loop.ask('invented', { token: 'x' }))
    const before = loop.handled.length
    while (loop.isDue()) await loop.turn()
    return loop.handled.slice(before, before + 12).toSorted()
  }
  await handledOf(50)
  const [ann, invented] = [Array(6).fill('ann'), Array(6).fill('invented')]
  expect(await handledOf(12)).toEqual([...ann, ...invented])
  loop.pass(120_001)
  // Another token is noted.
  while (!loop.isDue()) loop.ask('at once', { token: '' })
  loop.ask('other', { token: 'o', user: 'oz' })
  while (loop.isDue()) await loop.turn()
  // Each token is a caller.
  while (!loop.isDue()) loop.ask('at once', { token: '' })
  times(24, (nth) => loop.ask('ann', { token: `a${nth % 2}` }))
  times(12, () => loop.ask('invented', { token: 'x' }))
  const handled: string[] = []
  while (handled.length < 12) handled.push(...(await loop.handledInTurn()))
  expect(handled.slice(0, 12).filter((name) => name === 'invented')).toHaveLength(4)
})

describe('when too many requests wait', () => {
  const fill = (loop: Loop, tokenOf: (nth: number) => string) =>
    times(maxPerTurn + maxWaiting, (nth) => loop.ask('waiting', { token: tokenOf(nth) }))

  test('the newest of the caller with most are refused, with 503 and Retry-After', async () => {
    const loop = createLoop()
    fill(loop, () => 'a')
    loop.ask('newest of the flood', { token: 'a' })
    loop.ask('quiet', { token: 'b' })
    await Promise.resolve()
    expect(loop.turns.waiting).toBe(maxWaiting)
    expect(loop.refused.map(([name]) => name)).toEqual(['newest of the flood', 'waiting'])
    for (const [, { status, message, headers }] of loop.refused)
      expect({ status, message, headers }).toEqual({
        ...{ status: 503, message: 'the server is busy', headers: { 'retry-after': '1' } },
      })
    expect(loop.turns.refused).toBe(2)
    await loop.turn()
    expect(loop.handled).toContain('quiet')
  })

  test('of callers with one request each, the last one is refused', async () => {
    const loop = createLoop()
    fill(loop, (nth) => `${nth}`)
    loop.ask('last')
    await Promise.resolve()
    expect(loop.refused.map(([name]) => name)).toEqual(['last'])
    expect(loop.turns.waiting).toBe(maxWaiting)
  })
})

test('a request whose caller has left is not handled, and takes no other’s turn', async () => {
  const loop = createLoop()
  let hasLeft = false
  times(maxPerTurn, () => loop.ask('at once'))
  times(30, () => loop.ask('left', { token: 'a', hasLeft: () => hasLeft }))
  times(2, () => loop.ask('stayed', { token: 'a' }))
  hasLeft = true
  await loop.turn()
  expect(loop.handled.slice(maxPerTurn)).toEqual(['stayed', 'stayed'])
  expect(loop.turns.waiting).toBe(0)
  expect(loop.turns.refused).toBe(0)
})

test('a request that has waited begins in the context of no other request', async () => {
  const loop = createLoop()
  const storage = new AsyncLocalStorage<string>()
  const contexts: (string | undefined)[] = []
  await storage.run('other', async () => {
    times(maxPerTurn, () => loop.ask('at once'))
    const begin = () => void contexts.push(storage.getStore())
    loop.turns.mayBegin(new Request('http://localhost/'), { hasLeft: false, begin })
    await loop.turn()
  })
  expect(contexts).toEqual([undefined])
})

test('a request waits only once', async () => {
  const loop = createLoop()
  times(maxPerTurn, () => loop.ask('at once'))
  const request = loop.ask('waits')
  expect(loop.turns.mayBegin(request, { hasLeft: false, begin() {} })).toBeTrue()
  await loop.turn()
  expect(loop.handled).toContain('waits')
})

describe('responses of upstreams', () => {
  test('are handled at once up to a number for each turn, together with the requests', async () => {
    const loop = createLoop()
    times(12, (nth) => loop.ask(`${nth}`))
    times(60, () => loop.respond('response', 'ann'))
    expect(loop.handled).toHaveLength(maxPerTurn)
    expect(await loop.handledInTurn(0)).toHaveLength(maxPerTurn)
    expect(await loop.handledInTurn(0)).toHaveLength(8)
    expect(loop.isDue()).toBeFalse()
  })

  test('come before the requests of the same user that wait', async () => {
    const loop = createLoop()
    times(100, () => loop.ask('request', { token: 'a', user: 'ann' }))
    await loop.turn()
    times(20, () => loop.respond('response', 'ann'))
    expect(loop.turns.waiting).toBe(100 - 2 * maxPerTurn)
    expect(await loop.handledInTurn(0)).toEqual([...Array(20).fill('response'), ...Array(12).fill('request')])
  })

  test('to a user who floods do not delay another user’s, nor the other user’s requests', async () => {
    const loop = createLoop()
    times(100, () => loop.ask('flood', { token: 'a', user: 'ann' }))
    loop.ask('quiet', { token: 'b', user: 'bob' })
    await slow(loop)
    times(128, () => loop.respond('response to the flood', 'ann'))
    loop.respond('response', 'bob')
    expect(loop.handled.at(-1)).toBe('response')
    times(4, () => loop.respond('response', 'bob'))
    expect((await loop.handledInTurn()).slice(0, 2)).toContain('response')
    loop.ask('quiet', { token: 'b', user: 'bob' })
    expect(loop.handled.at(-1)).toBe('quiet')
  })

  test('make turns shorter when another user’s request has to wait for them', async () => {
    const loop = createLoop()
    times(200, () => loop.respond('response', 'ann'))
    loop.ask('quiet', { token: 'b', user: 'bob' })
    for (const count of [16, 8, minPerTurn]) expect(await loop.handledInTurn()).toHaveLength(count)
  })

  test('wait while as many requests as possible wait, and none is refused', async () => {
    const loop = createLoop()
    times(maxPerTurn + maxWaiting, () => loop.ask('waiting', { token: 'a', user: 'ann' }))
    times(200, () => loop.respond('response', 'bob'))
    while (loop.isDue()) await loop.turn()
    expect(loop.refused).toEqual([])
    expect(loop.handled.filter((name) => name === 'response')).toHaveLength(200)
    expect(loop.handled).toHaveLength(maxPerTurn + maxWaiting + 200)
  })

  test('of no user do not wait', async () => {
    const loop = createLoop()
    times(100, () => loop.ask('flood', { token: 'a' }))
    loop.respond('response', undefined)
    expect(loop.handled).toHaveLength(maxPerTurn + 1)
    await loop.turn()
    expect(loop.isDue()).toBeTrue()
  })
})

describe('other threads are let run', () => {
  /** A user who floods, and one whose token is known. */
  const flooded = async (pauseMs = 0): Promise<Loop> => {
    const loop = createLoop(pauseMs)
    times(1_000, () => loop.ask('flood', { token: 'a', user: 'ann' }))
    loop.ask('first', { token: 'b', user: 'bob' })
    await slow(loop)
    return loop
  }

  test('before each turn for 5 ms after the request of a quiet user was handled at once', async () => {
    const loop = await flooded()
    expect(loop.pauses()).toBe(0)
    loop.ask('quiet', { token: 'b', user: 'bob' })
    for (let nth = 0; nth < 10; nth++) await loop.turn(1)
    expect(loop.pauses()).toBe(4)
  })

  test('after the response to one, too', async () => {
    const loop = await flooded()
    loop.respond('response', 'bob')
    for (let nth = 0; nth < 10; nth++) await loop.turn(1)
    expect(loop.pauses()).toBe(4)
  })

  test('neither for requests that wait, nor for tokens of no known user', async () => {
    const loop = await flooded()
    loop.ask('flood', { token: 'a', user: 'ann' })
    times(10, (nth) => loop.ask('invented', { token: `x${nth}` }))
    for (let nth = 0; nth < 10; nth++) await loop.turn(1)
    expect(loop.pauses()).toBe(0)
  })

  test('and the turn is as long as without it', async () => {
    const loop = await flooded(longTurn)
    loop.ask('quiet', { token: 'b', user: 'bob' })
    const perTurn: number[] = []
    for (let nth = 0; nth < 3; nth++) perTurn.push((await loop.handledInTurn(0.5)).length)
    expect(loop.pauses()).toBe(2)
    expect(perTurn).toEqual([5, 6, 7])
  })
})
