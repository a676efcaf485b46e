import { describe, expect, test } from 'bun:test'
import { base, openFixture, pass, statusOf } from './fixture.ts'

/** Creates a task for Ann and one for Bob. Both are `waiting_user`. */
const twoTasks = async () => {
  const it = await openFixture()
  const id: string = (await it.ann.create()).json.verification_id
  const token = it.vendor.token
  const other: string = (await it.bob.create()).json.verification_id
  const otherToken = it.vendor.token
  const good = it.vendor.callback(token)
  const state = good.slice(`${base}/callback/`.length).split('?')[0] ?? ''
  const statuses = async () => [await statusOf(it.store, id), await statusOf(it.store, other)]
  return { ...it, id, other, token, otherToken, good, state, statuses }
}

type TwoTasks = Awaited<ReturnType<typeof twoTasks>>

/** Callback addresses that the upstream did not send. */
const forged: Readonly<Record<string, (it: TwoTasks) => string>> = {
  'an invented state': ({ token }) => `${base}/callback/${'A'.repeat(43)}?bytedToken=${token}&resultCode=10000`,
  'a truncated state': ({ good, state }) => good.replace(state, state.slice(0, -1)),
  'a state with an extra character': ({ good, state }) => good.replace(state, `${state}A`),
  'a state in another case': ({ good, state }) => good.replace(state, state.toLowerCase()),
  'a state with NUL': ({ good, state }) => good.replace(state, `${state.slice(0, -3)}%00`),
  'the hash of a state': ({ good, state }) =>
    good.replace(state, new Bun.CryptoHasher('sha256').update(state).digest('hex')),
  'the id of the task': ({ good, state, id }) => good.replace(state, id),
  'another task’s token': ({ good, token, otherToken }) => good.replace(token, otherToken),
  'an empty token': ({ good, token }) => good.replace(token, ''),
  'a token with an extra character': ({ good, token }) => good.replace(token, `${token}x`),
  'a huge token': ({ good, token }) => good.replace(token, 'x'.repeat(200_000)),
  'two tokens': ({ good, token }) => `${good}&bytedToken=${token}`,
  'two codes': ({ good }) => `${good}&resultCode=10000`,
  'two codes, one of them bad': ({ good }) => `${good}&resultCode=1`,
  'a code as an array': ({ good }) => good.replace('resultCode=', 'resultCode[]='),
  'a code as an object': ({ good }) => good.replace('resultCode=', 'resultCode[a]='),
  'no code': ({ good }) => good.replace('resultCode=10000', 'x=1'),
  'an empty code': ({ good }) => good.replace('resultCode=10000', 'resultCode='),
  'a code in another case': ({ good }) => good.replace('resultCode', 'ResultCode'),
  'no query': ({ good }) => good.split('?')[0] ?? '',
}

describe('a forged callback changes nothing and gets 404', () => {
  for (const [name, url] of Object.entries(forged)) {
    test(name, async () => {
      const it = await twoTasks()
      it.vendor.finish(undefined, it.token)
      const { status, text } = await it.ask(url(it))
      expect([status, text]).toEqual([404, (await it.ask(`${base}/callback/x`)).text])
      expect(await it.statuses()).toEqual(['waiting_user', 'waiting_user'])
      expect(it.vendor.callsTo()).toEqual([])
    })
  }

  test('with a session too', async () => {
    const it = await twoTasks()
    const url = `${base}/callback/${it.id}?resultCode=10000`
    expect((await it.ask(url, { headers: { 'x-user': 'ann' } })).status).toBe(404)
    expect(await it.statuses()).toEqual(['waiting_user', 'waiting_user'])
  })
})

describe('a callback', () => {
  test('of one task does not change another task', async () => {
    const it = await twoTasks()
    it.vendor.finish(undefined, it.token)
    await it.ask(it.good)
    expect(await it.statuses()).toEqual(['verified', 'waiting_user'])
  })

  test('needs the state, not the token', async () => {
    const it = await twoTasks()
    it.vendor.finish(undefined, it.token)
    await it.ask(it.good.replace('bytedToken', 'x'))
    expect((await it.statuses())[0]).toBe('verified')
  })

  test('shows with the state alone how the task has ended, and changes nothing', async () => {
    const it = await twoTasks()
    it.vendor.finish(undefined, it.token)
    await it.ask(it.good)
    for (const url of [it.good.replace('bytedToken', 'x'), it.good.replace(it.token, 'another')])
      expect((await it.ask(url)).text).toContain('Face verified')
    expect((await it.ask(it.good.replace(it.state, it.state.toLowerCase()))).status).toBe(404)
    expect(await it.statuses()).toEqual(['verified', 'waiting_user'])
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
    test(`with the code ${code.slice(0, 10)} fails the task permanently`, async () => {
      const it = await twoTasks()
      const { text, status } = await it.ask(it.good.replace('=10000', `=${code}`))
      expect([status, text]).toEqual([200, expect.stringContaining('Not verified')])
      it.vendor.finish(undefined, it.token)
      await it.ask(it.good)
      expect((await it.ann.query(it.id)).json).toEqual({ verification_id: it.id, status: 'failed' })
      expect(it.vendor.callsTo()).toEqual([])
    })
  }

  test('does not verify the task while the upstream has no result', async () => {
    const it = await twoTasks()
    expect((await it.ask(it.good)).text).toContain('Check received')
    expect((await it.statuses())[0]).toBe('resolving')
  })

  test('that is repeated changes nothing and shows the current status', async () => {
    const it = await twoTasks()
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
    expect(it.vendor.callsTo().length).toBe(2)
  })

  test('after the expiry verifies the task only if the upstream has a group', async () => {
    for (const [hasGroup, outcome] of [
      [true, 'verified'],
      [false, 'expired'],
    ] as const) {
      const it = await twoTasks()
      await it.clock.pass(1_900_000)
      if (hasGroup) it.vendor.finish(undefined, it.token)
      expect((await it.ask(it.good)).text).toContain(hasGroup ? 'Face verified' : 'Check expired')
      expect((await it.statuses())[0]).toBe(outcome)
    }
  })

  test('of a task with status expired leaves it expired', async () => {
    const it = await twoTasks()
    await it.clock.pass(1_900_000)
    await it.ann.query(it.id)
    it.vendor.finish(undefined, it.token)
    expect((await it.ask(it.good)).text).toContain('Check expired')
    expect((await it.statuses())[0]).toBe('expired')
  })

  test('is recorded while the upstream is down; the task is resolved later', async () => {
    const it = await twoTasks()
    it.vendor.instead = () => {
      throw new Error('away')
    }
    expect((await it.ask(it.good)).text).toContain('Check received')
    it.vendor.instead = undefined
    it.vendor.finish(undefined, it.token)
    expect((await it.ann.query(it.id)).json.status).toBe('verified')
  })

  test('gets a response within seconds when the upstream is slow', async () => {
    const it = await twoTasks()
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

  test('that cannot be recorded asks the person to reload the page, and the reload works', async () => {
    const it = await twoTasks()
    const { moveVerification } = it.store
    it.store.moveVerification = async () => {
      throw new Error('the disk is full')
    }
    const page = await it.ask(it.good)
    expect([page.status, page.text]).toEqual([500, expect.stringContaining('reload it in a minute')])
    expect(page.text).not.toContain('disk')
    it.store.moveVerification = moveVerification
    it.vendor.finish(undefined, it.token)
    expect((await it.ask(it.good)).text).toContain('Face verified')
  })

  for (const name of ['sec-purpose', 'purpose', 'x-moz']) {
    test(`that a browser prefetches (${name}) changes nothing and is not cached`, async () => {
      const it = await twoTasks()
      const { status, text, headers } = await it.ask(it.good, { headers: { [name]: 'prefetch;prerender' } })
      expect([status, text, headers.get('cache-control')]).toEqual([503, '', 'no-store'])
      expect(await it.statuses()).toEqual(['waiting_user', 'waiting_user'])
    })
  }

  test('by HEAD changes nothing and is not cached', async () => {
    const it = await twoTasks()
    const { status, headers } = await it.ask(it.good, { method: 'HEAD' })
    expect([status, headers.get('cache-control')]).toEqual([503, 'no-store'])
    expect(await it.statuses()).toEqual(['waiting_user', 'waiting_user'])
  })

  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    test(`by ${method} changes nothing`, async () => {
      const it = await twoTasks()
      const { status, headers } = await it.ask(it.good, { method })
      expect([status, headers.get('allow')]).toEqual([405, 'GET'])
      expect(await it.statuses()).toEqual(['waiting_user', 'waiting_user'])
    })
  }

  test('has no route with kind rest', async () => {
    const { ask } = await openFixture({ kind: 'rest' })
    expect((await ask(`${base}/callback/${'A'.repeat(43)}?resultCode=10000`)).status).toBe(404)
  })
})
