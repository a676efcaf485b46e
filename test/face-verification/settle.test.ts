import { describe, expect, test } from 'bun:test'
import type { FaceVerificationOptions } from '../../plugins/face-verification/index.ts'
import { VirtualClock } from '../support/virtual-clock.ts'
import { eachStore, type FaceStore, openDatabase, pass, scene, statusOf, storeOn } from './fixture.ts'

/** A gateway that looks after its tasks, by a clock that is passed by hand. */
const tended = async (options: Parameters<typeof scene>[0] & { perSecond?: number; everyMs?: number } = {}) => {
  const clock = options.clock ?? new VirtualClock()
  const stopping = new AbortController()
  const settling: FaceVerificationOptions['settling'] = {
    perSecond: options.perSecond,
    everyMs: options.everyMs,
    sleep: (ms, signal) =>
      Promise.race([clock.sleep(ms), new Promise<void>((end) => signal.addEventListener('abort', () => end()))]),
  }
  const it = await scene({ ...options, clock, settleUntil: stopping.signal, settling })
  return { ...it, stop: () => stopping.abort() }
}

const minutes = (count: number) => count * 60_000

describe('a task that nobody asks about', () => {
  test('is verified although its tab was closed and the upstream was slow', async () => {
    const { ann, ask, vendor, store, clock, stop } = await tended()
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

  test('is verified although its callback got lost, long before its end', async () => {
    const { ann, vendor, store, clock, stop } = await tended()
    const id = (await ann.create()).json.verification_id
    await pass(clock, minutes(2))
    vendor.finish()
    await pass(clock, minutes(8))
    expect(await statusOf(store, id)).toBe('verified')
    stop()
  })

  test('is verified although its person finished in its last second', async () => {
    const { ann, vendor, store, clock, stop } = await tended()
    const id = (await ann.create()).json.verification_id
    await pass(clock, minutes(30) - 1_000)
    vendor.finish()
    await pass(clock, 6_000)
    expect(await statusOf(store, id)).toBe('verified')
    stop()
  })

  test('expires at its end, after a handful of questions', async () => {
    const { ann, vendor, store, clock, stop } = await tended()
    const id = (await ann.create()).json.verification_id
    await pass(clock, minutes(30) + 6_000)
    expect(await statusOf(store, id)).toBe('expired')
    expect(vendor.asked().length).toBeLessThan(12)
    const asked = vendor.asked().length
    await pass(clock, minutes(60))
    expect(vendor.asked().length).toBe(asked)
    stop()
  })

  test('is verified after the upstream was down past its end', async () => {
    const { ann, ask, vendor, store, clock, stop, lines } = await tended()
    const id = (await ann.create()).json.verification_id
    vendor.finish()
    vendor.instead = () => Response.json({}, { status: 500 })
    await ask(vendor.callback())
    await pass(clock, minutes(60))
    expect(await statusOf(store, id)).toBe('resolving')
    expect(vendor.asked().length).toBeLessThan(40)
    vendor.instead = undefined
    await pass(clock, minutes(60))
    expect(await statusOf(store, id)).toBe('verified')
    expect(lines.filter((line) => line.includes('could not be looked at')).length).toBeGreaterThan(0)
    stop()
  })

  test('is verified after the database was away', async () => {
    const { ann, ask, vendor, store, clock, stop } = await tended()
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

  test('is looked at soon after its callback, although whoever took that got no further', async () => {
    const { ann, ask, vendor, store, clock, stop } = await tended()
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

  test('is looked at again soon when its callback comes while the upstream says that there is no result', async () => {
    const { ann, ask, vendor, store, clock, stop } = await tended()
    const id = (await ann.create()).json.verification_id
    await pass(clock, minutes(10))
    const { promise, resolve } = Promise.withResolvers<Response>()
    let isAsked = false
    vendor.instead = () => {
      isAsked = true
      return promise
    }
    const due = (await store.nextVerificationDue('ark')) ?? 0
    while (!isAsked) {
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

  test('is verified by the process that comes after the one that ended', async () => {
    const database = await openDatabase('sqlite::memory:')
    const first = await tended({ store: storeOn(database) })
    const id = (await first.ann.create()).json.verification_id
    await first.ask(first.vendor.callback())
    first.stop()
    await pass(first.clock, minutes(1))
    first.vendor.finish()
    await pass(first.clock, minutes(10))
    expect(await statusOf(first.store, id)).toBe('resolving')
    const second = await tended({ store: storeOn(database), vendor: first.vendor, clock: first.clock })
    await pass(first.clock, 2_000)
    expect(await statusOf(first.store, id)).toBe('verified')
    second.stop()
  })

  test('of an upstream that runs the states is verified too, and one that never ends is left alone in the end', async () => {
    const { ann, sibling, store, clock, stop } = await tended({ kind: 'rest' })
    const id = (await ann.create()).json.verification_id
    const idle = (await ann.create()).json.verification_id
    sibling.set(id, { status: 'verified', group_id: 'g-1' })
    await pass(clock, minutes(1))
    expect(await statusOf(store, id)).toBe('verified')
    expect(await store.group('g-1')).toMatchObject({ user: 'ann' })
    await pass(clock, minutes(120))
    const asked = sibling.calls.length
    expect(await store.nextVerificationDue('rest')).toBeUndefined()
    await pass(clock, minutes(600))
    expect(sibling.calls.length).toBe(asked)
    expect((await ann.query(idle)).json.status).toBe('waiting_user')
    stop()
  })

  test('is forgotten after thirty days', async () => {
    const { ann, store, clock, stop } = await tended({ everyMs: minutes(60) })
    const id = (await ann.create()).json.verification_id
    await pass(clock, minutes(60 * 24 * 29))
    expect(await statusOf(store, id)).toBe('expired')
    await pass(clock, minutes(60 * 25))
    expect(await store.verification(id)).toBeUndefined()
    stop()
  }, 60_000)
})

describe('looking after tasks', () => {
  test('asks no more often than it may, those first whose person is back', async () => {
    const { ann, ask, vendor, clock, stop } = await tended({ perSecond: 2 })
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
    expect(vendor.asked().at(-1)?.body.BytedToken).toBe(token)
    times.length = 0
    await pass(clock, minutes(2))
    expect(times.length).toBeGreaterThan(10)
    for (const [index, time] of times.slice(1).entries()) expect(time - (times[index] ?? 0)).toBeGreaterThanOrEqual(500)
    stop()
  })

  test('ends with its signal', async () => {
    const { clock, stop } = await tended()
    await pass(clock, 10_000)
    stop()
    await pass(clock, 10_000)
    expect(clock.pending).toBe(0)
  })
})

eachStore('several processes', (stores) => {
  test('look at a task once when it is due, and verify all of many', async () => {
    const [one, other] = stores()
    const first = await tended({ store: one, perSecond: 50 })
    const second = await tended({ store: other, perSecond: 50, vendor: first.vendor, clock: first.clock })
    const ids: string[] = []
    for (let task = 0; task < 12; task++) {
      ids.push((await first.ann.create()).json.verification_id)
      first.vendor.finish()
    }
    // Databases answer in their own time, not the clock's.
    for (let round = 0; round < 400 && !(await allVerified(one, ids)); round++) {
      await pass(first.clock, 200)
      await Bun.sleep(1)
    }
    expect(await allVerified(other, ids)).toBeTrue()
    const tokens = first.vendor.asked().map(({ body }) => String(body.BytedToken))
    expect(tokens.length).toBe(new Set(tokens).size)
    first.stop()
    second.stop()
  }, 60_000)
})

const allVerified = async (store: FaceStore, ids: readonly string[]) =>
  (await Promise.all(ids.map((id) => statusOf(store, id)))).every((status) => status === 'verified')
