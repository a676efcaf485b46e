import { describe, expect, test } from 'bun:test'
import { reconcileVerifications } from '../../plugins/face-verification/reconcile.ts'
import { Background } from '../../plugins/shared/background/background.ts'
import { noLog } from '../../plugins/shared/problem.ts'
import { settled, sleepOn, VirtualClock } from '../support/virtual-clock.ts'
import { eachStore, type FaceStore, openFixture, openMigrated, pass, statusOf, storeOn } from './fixture.ts'

/** The plugin with background polling, on a virtual clock. */
const polling = async (options: Parameters<typeof openFixture>[0] & { perSecond?: number; everyMs?: number } = {}) => {
  const clock = options.clock ?? new VirtualClock()
  const background = new Background({ sleep: sleepOn(clock) })
  const polling = { perSecond: options.perSecond, everyMs: options.everyMs }
  const it = await openFixture({ ...options, clock, background, polling })
  return { ...it, stop: () => background.stop() }
}

const minutes = (count: number) => count * 60_000

describe('background polling', () => {
  test('verifies a task whose creator has closed the tab, when the upstream is slow', async () => {
    const { ann, ask, vendor, store, clock, stop } = await polling()
    const id = (await ann.create()).json.verification_id
    await ask(vendor.callback())
    expect(await statusOf(store, id)).toBe('resolving')
    await pass(clock, minutes(1))
    const { group } = vendor.finish()
    await pass(clock, minutes(3))
    expect(await statusOf(store, id)).toBe('verified')
    expect(await store.group(group)).toMatchObject({ user: 'ann' })
    stop()
  })

  test('verifies a task whose callback was lost, long before its expiry', async () => {
    const { ann, vendor, store, clock, stop } = await polling()
    const id = (await ann.create()).json.verification_id
    await pass(clock, minutes(2))
    vendor.finish()
    await pass(clock, minutes(8))
    expect(await statusOf(store, id)).toBe('verified')
    stop()
  })

  test('verifies a task whose person finished in the last second', async () => {
    const { ann, vendor, store, clock, stop } = await polling()
    const id = (await ann.create()).json.verification_id
    await pass(clock, minutes(30) - 1_000)
    vendor.finish()
    await pass(clock, 6_000)
    expect(await statusOf(store, id)).toBe('verified')
    stop()
  })

  test('lets a task expire on time, after fewer than 12 requests', async () => {
    const { ann, vendor, store, clock, stop } = await polling()
    const id = (await ann.create()).json.verification_id
    await pass(clock, minutes(30) + 6_000)
    expect(await statusOf(store, id)).toBe('expired')
    expect(vendor.callsTo().length).toBeLessThan(12)
    const callCount = vendor.callsTo().length
    await pass(clock, minutes(60))
    expect(vendor.callsTo().length).toBe(callCount)
    stop()
  })

  test('verifies a task when the upstream was down until after the expiry', async () => {
    const { ann, ask, vendor, store, clock, stop, lines } = await polling()
    const id = (await ann.create()).json.verification_id
    vendor.finish()
    vendor.instead = () => Response.json({}, { status: 500 })
    await ask(vendor.callback())
    await pass(clock, minutes(60))
    expect(await statusOf(store, id)).toBe('resolving')
    expect(vendor.callsTo().length).toBeLessThan(40)
    vendor.instead = undefined
    await pass(clock, minutes(60))
    expect(await statusOf(store, id)).toBe('verified')
    expect(lines.filter((line) => line.includes('could not be polled')).length).toBeGreaterThan(0)
    stop()
  })

  test('verifies a task while the upstream never responds for another one', async () => {
    const { ann, bob, ask, vendor, store, clock, stop } = await polling()
    const stuck = (await ann.create()).json.verification_id
    await ask(vendor.callback())
    const { promise, resolve } = Promise.withResolvers<Response>()
    let isStuck = false
    vendor.instead = () => {
      if (isStuck) return undefined
      isStuck = true
      return promise
    }
    // `pass` would wait for the call.
    const passUntil = async (isTrue: () => boolean | Promise<boolean>) => {
      while (!(await isTrue())) {
        await clock.pass(500)
        for (let turn = 0; turn < 6; turn++) await settled()
      }
    }
    await passUntil(() => isStuck)
    const id = (await bob.create()).json.verification_id
    await ask(vendor.callback())
    vendor.finish()
    await passUntil(async () => (await statusOf(store, id)) === 'verified')
    expect(await statusOf(store, stuck)).not.toBe('verified')
    stop()
    resolve(Response.json({}))
  })

  test('verifies a task after the database was unreachable', async () => {
    const { ann, ask, vendor, store, clock, stop } = await polling()
    const id = (await ann.create()).json.verification_id
    await ask(vendor.callback())
    vendor.finish()
    const { dueVerifications } = store
    store.dueVerifications = async () => {
      throw new Error('away')
    }
    await pass(clock, minutes(5))
    store.dueVerifications = dueVerifications
    await pass(clock, minutes(5))
    expect(await statusOf(store, id)).toBe('verified')
    stop()
  })

  test('polls a task soon after its callback when the callback’s own poll failed', async () => {
    const { ann, ask, vendor, store, clock, stop } = await polling()
    const id = (await ann.create()).json.verification_id
    await pass(clock, minutes(10))
    const { leaseVerification } = store
    store.leaseVerification = async () => {
      throw new Error('away')
    }
    vendor.finish()
    await ask(vendor.callback())
    store.leaseVerification = leaseVerification
    expect(await statusOf(store, id)).toBe('callback_received')
    await pass(clock, 10_000)
    expect(await statusOf(store, id)).toBe('verified')
    stop()
  })

  test('polls a task again soon when its callback arrives during a poll without a result', async () => {
    const { ann, ask, vendor, store, clock, stop } = await polling()
    const id = (await ann.create()).json.verification_id
    await pass(clock, minutes(10))
    const { promise, resolve } = Promise.withResolvers<Response>()
    let isPolled = false
    vendor.instead = () => {
      isPolled = true
      return promise
    }
    const due = (await store.nextVerificationDue('ark')) ?? 0
    while (!isPolled) {
      await clock.pass(clock.now() < due + 6_000 ? 500 : 0)
      await Bun.sleep(0)
    }
    vendor.instead = undefined
    const page = ask(vendor.finish().callback)
    await clock.pass(1)
    expect((await page).text).toContain('Check received')
    resolve(Response.json({}))
    await pass(clock, 12_000)
    expect(await statusOf(store, id)).toBe('verified')
    stop()
  })

  test('verifies a task of a process that has ended', async () => {
    const database = await openMigrated('sqlite::memory:')
    const first = await polling({ store: storeOn(database) })
    const id = (await first.ann.create()).json.verification_id
    await first.ask(first.vendor.callback())
    first.stop()
    await pass(first.clock, minutes(1))
    first.vendor.finish()
    await pass(first.clock, minutes(10))
    expect(await statusOf(first.store, id)).toBe('resolving')
    const second = await polling({ store: storeOn(database), vendor: first.vendor, clock: first.clock })
    await pass(first.clock, 2_000)
    expect(await statusOf(first.store, id)).toBe('verified')
    second.stop()
  })

  test('rest: verifies a task, and stops polling one that never ends', async () => {
    const { ann, restUpstream, store, clock, stop } = await polling({ kind: 'rest' })
    const id = (await ann.create()).json.verification_id
    const idle = (await ann.create()).json.verification_id
    restUpstream.set(id, { status: 'verified', group_id: 'g-1' })
    await pass(clock, minutes(1))
    expect(await statusOf(store, id)).toBe('verified')
    expect(await store.group('g-1')).toMatchObject({ user: 'ann' })
    await pass(clock, minutes(120))
    const callCount = restUpstream.calls.length
    expect(await store.nextVerificationDue('rest')).toBeUndefined()
    await pass(clock, minutes(600))
    expect(restUpstream.calls.length).toBe(callCount)
    expect((await ann.query(idle)).json.status).toBe('waiting_user')
    stop()
  })

  test('deletes a task after thirty days', async () => {
    const { ann, store, clock, stop } = await polling({ everyMs: minutes(60) })
    const id = (await ann.create()).json.verification_id
    await pass(clock, minutes(60 * 24 * 29))
    expect(await statusOf(store, id)).toBe('expired')
    await pass(clock, minutes(60 * 25))
    expect(await store.verification(id)).toBeUndefined()
    stop()
  }, 300_000)

  test('keeps to perSecond, and polls tasks with a callback first', async () => {
    const { ann, ask, vendor, clock, stop } = await polling({ perSecond: 2 })
    const times: number[] = []
    for (let task = 0; task < 10; task++) await ann.create()
    await pass(clock, 14_000)
    vendor.instead = () => {
      times.push(clock.now())
      return undefined
    }
    await ann.create()
    const { token } = vendor
    await ask(vendor.callback())
    expect(vendor.callsTo().at(-1)?.body.BytedToken).toBe(token)
    times.length = 0
    await pass(clock, minutes(2))
    expect(times.length).toBeGreaterThan(10)
    for (const [index, time] of times.slice(1).entries()) expect(time - (times[index] ?? 0)).toBeGreaterThanOrEqual(500)
    stop()
  })

  test('ends with its signal', async () => {
    const { clock, stop } = await polling()
    await pass(clock, 10_000)
    stop()
    await pass(clock, 10_000)
    expect(clock.pending).toBe(0)
  })
})

eachStore('background polling in two processes', (stores) => {
  test('polls each due task once, and verifies all of them', async () => {
    const [one, other] = stores()
    const first = await polling({ store: one, perSecond: 50 })
    const second = await polling({ store: other, perSecond: 50, vendor: first.vendor, clock: first.clock })
    const ids: string[] = []
    for (let task = 0; task < 12; task++) {
      ids.push((await first.ann.create()).json.verification_id)
      first.vendor.finish()
    }
    for (let round = 0; round < 400 && !(await allVerified(one, ids)); round++) await pass(first.clock, 200)
    expect(await allVerified(other, ids)).toBeTrue()
    const tokens = first.vendor.callsTo().map(({ body }) => String(body.BytedToken))
    expect(tokens.length).toBe(new Set(tokens).size)
    first.stop()
    second.stop()
  }, 300_000)
})

const allVerified = async (store: FaceStore, ids: readonly string[]) =>
  (await Promise.all(ids.map((id) => statusOf(store, id)))).every((status) => status === 'verified')

test('seven polls to which the upstream never responds delay no other', async () => {
  const ids = Array.from({ length: 20 }, (_, nth) => `check ${nth}`)
  const store = {
    deleteVerifications: async () => 0,
    dueVerifications: async () => ids,
    nextVerificationDue: async () => undefined,
  }
  const polled: string[] = []
  const all = Promise.withResolvers<void>()
  const never = new Promise<undefined>(() => {})
  const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))
  const background = new Background({ sleep: nextTurn })
  const poll = async (id: string) => {
    polled.push(id)
    if (polled.length === ids.length) all.resolve()
    if (ids.indexOf(id) < 7) return never
    for (let turn = 0; turn < 3; turn++) await nextTurn()
    return undefined
  }
  type Given = Parameters<typeof reconcileVerifications>
  const context = { store, clock: { now: () => 1 }, log: noLog } as unknown as Given[0]
  reconcileVerifications(context, 'rest' as unknown as Given[1], poll as unknown as Given[2], background)
  await all.promise
  expect(polled).toEqual(ids)
  void background.stop(0)
})
