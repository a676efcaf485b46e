import { describe, expect, test } from 'bun:test'
import { base, pass, scene, statusOf } from './fixture.ts'

/** A task of Ann's and one of Bob's, both waiting. */
const two = async () => {
  const it = await scene()
  const id: string = (await it.ann.create()).json.verification_id
  const token = it.vendor.token
  const other: string = (await it.bob.create()).json.verification_id
  const otherToken = it.vendor.token
  const good = it.vendor.callback(token)
  const state = good.slice(`${base}/callback/`.length).split('?')[0] ?? ''
  const statuses = async () => [await statusOf(it.store, id), await statusOf(it.store, other)]
  return { ...it, id, other, token, otherToken, good, state, statuses }
}

type Two = Awaited<ReturnType<typeof two>>

/** Addresses that nobody was sent to. */
const forged: Readonly<Record<string, (it: Two) => string>> = {
  'a made-up state': ({ token }) => `${base}/callback/${'A'.repeat(43)}?bytedToken=${token}&resultCode=10000`,
  'a state cut short': ({ good, state }) => good.replace(state, state.slice(0, -1)),
  'a state with more': ({ good, state }) => good.replace(state, `${state}A`),
  'a state in another case': ({ good, state }) => good.replace(state, state.toLowerCase()),
  'a state with NUL': ({ good, state }) => good.replace(state, `${state.slice(0, -3)}%00`),
  'the hash of a state': ({ good, state }) =>
    good.replace(state, new Bun.CryptoHasher('sha256').update(state).digest('hex')),
  'the id of the task': ({ good, state, id }) => good.replace(state, id),
  'another task’s token': ({ good, token, otherToken }) => good.replace(token, otherToken),
  'an empty token': ({ good, token }) => good.replace(token, ''),
  'a token with more': ({ good, token }) => good.replace(token, `${token}x`),
  'a huge token': ({ good, token }) => good.replace(token, 'x'.repeat(200_000)),
  'two tokens': ({ good, token }) => `${good}&bytedToken=${token}`,
  'two codes': ({ good }) => `${good}&resultCode=10000`,
  'two codes, one of them bad': ({ good }) => `${good}&resultCode=1`,
  'a code as an array': ({ good }) => good.replace('resultCode=', 'resultCode[]='),
  'a code as an object': ({ good }) => good.replace('resultCode=', 'resultCode[a]='),
  'no code': ({ good }) => good.replace('resultCode=10000', 'x=1'),
  'an empty code': ({ good }) => good.replace('resultCode=10000', 'resultCode='),
  'a code in another case': ({ good }) => good.replace('resultCode', 'ResultCode'),
  'nothing at all': ({ good }) => good.split('?')[0] ?? '',
}

describe('a forged callback changes nothing, and is told nothing', () => {
  for (const [name, url] of Object.entries(forged)) {
    test(name, async () => {
      const it = await two()
      it.vendor.finish(undefined, it.token)
      const { status, text } = await it.ask(url(it))
      expect([status, text]).toEqual([404, (await it.ask(`${base}/callback/x`)).text])
      expect(await it.statuses()).toEqual(['waiting_user', 'waiting_user'])
      expect(it.vendor.asked()).toEqual([])
    })
  }

  test('a session does not help', async () => {
    const it = await two()
    const url = `${base}/callback/${it.id}?resultCode=10000`
    expect((await it.ask(url, { headers: { 'x-user': 'ann' } })).status).toBe(404)
    expect(await it.statuses()).toEqual(['waiting_user', 'waiting_user'])
  })
})

describe('a callback', () => {
  test('of one task leaves every other alone', async () => {
    const it = await two()
    it.vendor.finish(undefined, it.token)
    await it.ask(it.good)
    expect(await it.statuses()).toEqual(['verified', 'waiting_user'])
  })

  test('needs no token, only the state', async () => {
    const it = await two()
    it.vendor.finish(undefined, it.token)
    await it.ask(it.good.replace('bytedToken', 'x'))
    expect((await it.statuses())[0]).toBe('verified')
  })

  for (const code of [
    '10001',
    '0',
    '-1',
    'FAIL',
    '010000',
    '10000.0',
    '%2010000',
    '10000%20',
    '1e4',
    'x'.repeat(100_000),
  ]) {
    test(`with the code ${code.slice(0, 10)} fails the task, for good`, async () => {
      const it = await two()
      const { text, status } = await it.ask(it.good.replace('=10000', `=${code}`))
      expect([status, text]).toEqual([200, expect.stringContaining('Not verified')])
      it.vendor.finish(undefined, it.token)
      await it.ask(it.good)
      expect((await it.ann.query(it.id)).json).toEqual({ verification_id: it.id, status: 'failed' })
      expect(it.vendor.asked()).toEqual([])
    })
  }

  test('without the upstream’s agreement verifies nothing', async () => {
    const it = await two()
    expect((await it.ask(it.good)).text).toContain('Check received')
    expect((await it.statuses())[0]).toBe('resolving')
  })

  test('that comes again changes nothing, and tells how the task stands', async () => {
    const it = await two()
    await it.ask(it.good)
    const bad = it.good.replace('=10000', '=10001')
    for (const url of [it.good, bad]) expect((await it.ask(url)).text).toContain('Check received')
    expect((await it.statuses())[0]).toBe('resolving')
    it.vendor.finish(undefined, it.token)
    await it.clock.pass(1_000)
    await it.ann.query(it.id)
    const before = await it.store.verification(it.id)
    for (const url of [it.good, bad]) expect((await it.ask(url)).text).toContain('Face verified')
    expect(await it.store.verification(it.id)).toEqual(before)
    expect(it.vendor.asked().length).toBe(2)
  })

  test('after the end is good only if the upstream has the group', async () => {
    for (const [isDone, outcome] of [
      [true, 'verified'],
      [false, 'expired'],
    ] as const) {
      const it = await two()
      await it.clock.pass(1_900_000)
      if (isDone) it.vendor.finish(undefined, it.token)
      expect((await it.ask(it.good)).text).toContain(isDone ? 'Face verified' : 'Too late')
      expect((await it.statuses())[0]).toBe(outcome)
    }
  })

  test('after the task expired finds it expired', async () => {
    const it = await two()
    await it.clock.pass(1_900_000)
    await it.ann.query(it.id)
    it.vendor.finish(undefined, it.token)
    expect((await it.ask(it.good)).text).toContain('Too late')
    expect((await it.statuses())[0]).toBe('expired')
  })

  test('is taken although the upstream is down, and the task is resolved later', async () => {
    const it = await two()
    it.vendor.instead = () => {
      throw new Error('away')
    }
    expect((await it.ask(it.good)).text).toContain('Check received')
    it.vendor.instead = undefined
    it.vendor.finish(undefined, it.token)
    expect((await it.ann.query(it.id)).json.status).toBe('verified')
  })

  test('is answered within seconds although the upstream is slow', async () => {
    const it = await two()
    const { promise, resolve } = Promise.withResolvers<undefined>()
    it.vendor.instead = () => promise
    it.vendor.finish(undefined, it.token)
    const page = it.ask(it.good)
    await it.clock.pass(3_001)
    expect((await page).text).toContain('Check received')
    resolve(undefined)
    await pass(it.clock, 1)
    expect((await it.ann.query(it.id)).json.status).toMatch(/resolving|verified/)
    await it.clock.pass(1_000)
    expect((await it.ann.query(it.id)).json.status).toBe('verified')
  })

  test('that cannot be recorded asks its person to load the page again, and that helps', async () => {
    const it = await two()
    const { moveVerification } = it.store
    it.store.moveVerification = async () => {
      throw new Error('the disk is full')
    }
    const page = await it.ask(it.good)
    expect([page.status, page.text]).toEqual([500, expect.stringContaining('load it again')])
    expect(page.text).not.toContain('disk')
    it.store.moveVerification = moveVerification
    it.vendor.finish(undefined, it.token)
    expect((await it.ask(it.good)).text).toContain('Face verified')
  })

  for (const name of ['sec-purpose', 'purpose', 'x-moz']) {
    test(`that a browser only prepares (${name}) does nothing, and is not kept`, async () => {
      const it = await two()
      const { status, text, headers } = await it.ask(it.good, { headers: { [name]: 'prefetch;prerender' } })
      expect([status, text, headers.get('cache-control')]).toEqual([503, '', 'no-store'])
      expect(await it.statuses()).toEqual(['waiting_user', 'waiting_user'])
    })
  }

  test('by HEAD does nothing, and is not kept', async () => {
    const it = await two()
    const { status, headers } = await it.ask(it.good, { method: 'HEAD' })
    expect([status, headers.get('cache-control')]).toEqual([503, 'no-store'])
    expect(await it.statuses()).toEqual(['waiting_user', 'waiting_user'])
  })

  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    test(`by ${method} does nothing`, async () => {
      const it = await two()
      const { status, headers } = await it.ask(it.good, { method })
      expect([status, headers.get('allow')]).toEqual([405, 'GET'])
      expect(await it.statuses()).toEqual(['waiting_user', 'waiting_user'])
    })
  }

  test('is no route where the upstream runs the states', async () => {
    const { ask } = await scene({ kind: 'rest' })
    expect((await ask(`${base}/callback/${'A'.repeat(43)}?resultCode=10000`)).status).toBe(404)
  })
})
