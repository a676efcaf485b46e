import { describe, expect, test } from 'bun:test'
import { createToken } from '../../plugins/api-token/index.ts'
import { createAddressOf, deliverAddress } from '../../plugins/shared/address.ts'
import type { AuditEvent } from '../../plugins/shared/audit.ts'
import { requireIdentity } from '../../plugins/shared/identify.ts'
import { createAudit } from '../../src/audit/index.ts'
import { type NewAuditEntry, openStore } from '../../src/store/index.ts'
import { settled, VirtualClock } from '../support/virtual-clock.ts'

/** A trail on a store that answers when it is told to. */
const open = (keepMs = 1_000_000_000) => {
  const clock = new VirtualClock()
  const batches: (readonly NewAuditEntry[])[] = []
  const logged: string[] = []
  const swept: number[] = []
  const state = { broken: false, old: 0 }
  let held: Promise<void> | undefined
  const note = (_: object, message: string) => logged.push(message)
  const trail = createAudit({
    store: {
      async recordAudit(entries) {
        await held
        if (state.broken) throw new Error('secret database')
        batches.push(entries)
      },
      async sweepAudit(before, most) {
        swept.push(before)
        const some = Math.min(most, state.old)
        state.old -= some
        return some
      },
    },
    keepMs,
    addressOf: createAddressOf(),
    clock,
    log: { debug: note, info: note, warn: note, error: note },
  })
  return {
    ...{ clock, batches, logged, swept, state, trail },
    written: () => batches.flat(),
    /** Until so many batches could have been written. */
    async turns(count: number) {
      for (let turn = 0; turn < count; turn++) await settled()
    },
    /** The store does not answer until it is let go. */
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return () => {
        held = undefined
        resolve()
      }
    },
  }
}

const created: AuditEvent = { action: 'asset.create', user: 'u', target: { kind: 'asset', id: 'a' } }
const refusal: AuditEvent = { action: 'access.refuse', user: 'u', target: { kind: 'asset', id: 'x' }, status: 403 }

describe('what is noted', () => {
  test('is written with what comes soon after it, in its order, and nobody waits', async () => {
    const { trail, clock, batches, turns } = open()
    for (let nth = 0; nth < 450; nth++) trail.note({ ...created, target: { kind: 'asset', id: `a${nth}` } })
    await clock.pass(49)
    expect(batches).toEqual([])
    await clock.pass(1)
    await turns(9)
    expect(batches.map(({ length }) => length)).toEqual([100, 100, 100, 100, 50])
    expect(batches.flat().map(({ target }) => target)).toEqual(Array.from({ length: 450 }, (_, nth) => `a${nth}`))
  })

  test('lets others have their turn between one batch and the next', async () => {
    const { trail, clock, batches, turns } = open()
    for (let nth = 0; nth < 450; nth++) trail.note(created)
    const seen: number[] = []
    const look = () => {
      seen.push(batches.length)
      if (batches.length < 5) setImmediate(look)
    }
    clock.at(clock.now() + 50, () => setImmediate(look))
    await clock.pass(50)
    await turns(20)
    expect(seen.at(-1)).toBe(5)
    // Not from none to all of them within one turn.
    expect(new Set(seen).size).toBeGreaterThan(3)
  })

  test('says who it was and from where, as the request says', async () => {
    const { trail, clock, written } = open()
    const request = new Request('http://localhost/')
    deliverAddress(request, '::ffff:192.0.2.1')
    await requireIdentity(() => ({ user: 'ann', token: 't-1' }), request)
    trail.note({ action: 'group.create', target: { kind: 'group', id: 'g' } }, request)
    await clock.pass(50)
    expect(written()).toMatchObject([
      { action: 'group.create', user: 'ann', token: 't-1', kind: 'group', target: 'g', address: '192.0.2.1', times: 1 },
    ])
  })

  test('keeps no id that cannot be one, or that looks like a token, and no name that nobody can have', async () => {
    const { trail, clock, written } = open()
    const within = `token=${createToken()}`
    for (const id of ['a\0b', 'a b', 'x'.repeat(300), '\ud800', 'sk-0123456789abcdef', within, '']) {
      trail.note({ ...refusal, target: { kind: 'asset', id } })
    }
    for (const name of ['n\0', '\ud800', 'x'.repeat(257)])
      trail.note({ action: 'session.fail', name, reason: name.slice(0, 0) })
    await clock.pass(50)
    expect(written()).toHaveLength(10)
    for (const { target, name } of written()) expect([target, name]).toEqual([undefined, undefined])
  })

  test('of a host app’s users with names that no database keeps does not stop what comes after it', async () => {
    const store = openStore('sqlite::memory:')
    await store.migrate()
    const trail = createAudit({ store, keepMs: 1_000, addressOf: () => 'a\0b' })
    for (const user of ['a\0b', '\ud800', 'host:ann']) {
      const request = new Request('http://localhost/')
      await requireIdentity(() => ({ user, token: user }), request)
      trail.note({ action: 'group.create', target: { kind: 'group', id: 'task-1' } }, request)
    }
    await trail.record({ action: 'session.login', user: 'ann' })
    const users = (await store.listAudit()).map(({ user = '-', action }) => `${action} ${user}`)
    expect(users.sort()).toEqual(['group.create -', 'group.create -', 'group.create host:ann', 'session.login ann'])
    await trail.close()
    await store.close()
  })

  test('waits for a store that is away, and is written once when it is back', async () => {
    const { trail, clock, state, written, logged } = open()
    state.broken = true
    trail.note(created)
    await clock.pass(5_000)
    trail.note({ ...created, target: { kind: 'asset', id: 'b' } })
    expect(written()).toEqual([])
    state.broken = false
    await clock.pass(1_000)
    expect(written().map(({ target }) => target)).toEqual(['a', 'b'])
    expect(logged.every((message) => message === 'audit trail could not be written')).toBe(true)
  })

  test('fills no memory: beyond ten thousand that wait, what is lost is counted, logged and written down', async () => {
    const { trail, clock, state, written, logged, turns } = open()
    state.broken = true
    for (let nth = 0; nth < 10_500; nth++) trail.note(created)
    await clock.pass(60)
    expect(logged).toContain('entries of the audit trail are being lost')
    state.broken = false
    await clock.pass(2_000)
    await turns(120)
    await clock.pass(100)
    expect(written().filter(({ action }) => action === 'asset.create')).toHaveLength(10_000)
    expect(written().filter(({ action }) => action === 'audit.lose')).toMatchObject([{ times: 500 }])
  })

  test('is written when the trail is closed, and nothing after that', async () => {
    const { trail, clock, written, logged } = open()
    trail.note(created)
    for (let nth = 0; nth < 30; nth++) trail.note(refusal)
    await trail.close()
    expect(written().map(({ times }) => times)).toEqual([...Array(11).fill(1), 20])
    trail.note(created)
    await clock.pass(10_000)
    expect(written()).toHaveLength(12)
    expect(logged).toEqual(['entries of the audit trail are being lost'])
    expect(clock.pending).toBe(0)
  })
})

describe('what is recorded', () => {
  test('is waited for, together with what was noted before it', async () => {
    const { trail, written, hold } = open()
    const letGo = hold()
    trail.note(created)
    let done = false
    const recording = trail.record({ action: 'session.login', user: 'u' }).then(() => {
      done = true
    })
    await settled()
    expect(done).toBe(false)
    letGo()
    await recording
    expect(written().map(({ action }) => action)).toEqual(['asset.create', 'session.login'])
  })

  test('of many at once costs as many transactions as have to be', async () => {
    const { trail, batches } = open()
    await Promise.all(Array.from({ length: 100 }, () => trail.record({ action: 'session.login', user: 'u' })))
    expect(batches.length).toBeLessThanOrEqual(2)
    // Also whoever comes at the very moment in which all has been written.
    for (let nth = 0; nth < 50; nth++) await trail.record({ action: 'session.login', user: 'u' })
    expect(batches.flat()).toHaveLength(150)
  })

  test('and cannot be, is a 500 that keeps its reasons; it is written later all the same', async () => {
    const { trail, clock, state, written } = open()
    state.broken = true
    const failed = await trail.record({ action: 'token.revoke', user: 'u' }).catch((error: unknown) => error)
    expect(failed).toMatchObject({ status: 500, message: 'audit trail could not be written' })
    state.broken = false
    await clock.pass(1_000)
    expect(written()).toMatchObject([{ action: 'token.revoke' }])
  })
})

describe('what one caller can repeat at will', () => {
  test('is written ten times a minute, and then counted', async () => {
    const { trail, clock, written } = open()
    for (let nth = 0; nth < 5_000; nth++) trail.note({ ...refusal, target: { kind: 'asset', id: `x${nth}` } })
    await clock.pass(50)
    expect(written().map(({ target, times }) => [target, times])).toEqual(
      Array.from({ length: 10 }, (_, nth) => [`x${nth}`, 1]),
    )
    await clock.pass(60_050)
    expect(written()).toHaveLength(11)
    expect(written()[10]).toMatchObject({ action: 'access.refuse', user: 'u', kind: 'asset', times: 4_990 })
    expect(written()[10]?.target).toBeUndefined()
    trail.note(refusal)
    await clock.pass(50)
    expect(written()).toHaveLength(12)
  })

  test('does not hide what somebody else does', async () => {
    const { trail, clock, written } = open()
    for (let nth = 0; nth < 50; nth++) trail.note(refusal)
    trail.note({ ...refusal, user: 'other' })
    await clock.pass(50)
    expect(written().at(-1)).toMatchObject({ user: 'other', target: 'x', times: 1 })
  })

  test('with any number of tokens, for as long as one likes, hides nothing that somebody else does', async () => {
    const { trail, clock, written, turns } = open()
    for (let minute = 0; minute < 15; minute++) {
      for (let nth = 0; nth < 2_000; nth++) {
        const kind = `kind ${nth % 8}`
        trail.note({ ...refusal, user: 'eve', token: `t${nth % 100}`, status: 403 + (nth % 3), target: { kind } })
      }
      trail.note({ ...refusal, user: `other ${minute}` })
      await clock.pass(60_000)
      await turns(9)
    }
    await clock.pass(120_000)
    await turns(9)
    const others = written().filter(({ user }) => user?.startsWith('other'))
    expect(others.map(({ user, target }) => [user, target])).toEqual(
      Array.from({ length: 15 }, (_, minute) => [`other ${minute}`, 'x']),
    )
    expect(written().reduce((sum, { times }) => sum + times, 0)).toBe(15 * 2_001)
  })

  test('is bounded for any number of callers, and none of it goes uncounted', async () => {
    const { trail, clock, written, turns } = open()
    for (let nth = 0; nth < 20_000; nth++)
      trail.note({ action: 'session.lockout', name: `n${nth % 4_000}`, status: 429 })
    await clock.pass(61_000)
    await turns(30)
    expect(written().length).toBeLessThanOrEqual(1_501)
    expect(written().reduce((sum, { times }) => sum + times, 0)).toBe(20_000)
  })
})

describe('what strangers can repeat for as long as they like', () => {
  const flood = async (trail: ReturnType<typeof open>['trail'], clock: VirtualClock, minutes: number) => {
    for (let minute = 0; minute < minutes; minute++) {
      for (let nth = 0; nth < 2_000; nth++) {
        trail.note({ action: 'session.lockout', name: `n${minute}-${nth}`, status: 429 })
      }
      await clock.pass(60_000)
    }
  }

  test('fills no database: a thousand entries, and a hundred a minute from then on; none goes uncounted', async () => {
    const { trail, clock, written, turns } = open()
    await flood(trail, clock, 30)
    await clock.pass(120_000)
    await turns(60)
    expect(written().length).toBeLessThanOrEqual(1_000 + 31 * 101)
    expect(written().reduce((sum, { times }) => sum + times, 0)).toBe(30 * 2_000)
  })

  test('hides nothing that users do', async () => {
    const { trail, clock, written, turns } = open()
    for (let nth = 0; nth < 2_000; nth++) trail.note({ action: 'session.lockout', name: `n${nth}`, status: 429 })
    await clock.pass(50)
    await turns(30)
    trail.note(refusal)
    await clock.pass(50)
    expect(written().at(-1)).toMatchObject({ user: 'u', target: 'x', times: 1 })
  })

  test('is shown as before when it has been quiet for a while', async () => {
    const { trail, clock, written, turns } = open()
    await flood(trail, clock, 5)
    await clock.pass(600_000)
    await turns(60)
    const before = written().length
    for (let nth = 0; nth < 300; nth++) trail.note({ ...refusal, user: undefined, status: nth })
    await clock.pass(50)
    await turns(9)
    expect(written().length - before).toBe(300)
  })
})

describe('what is older than it is kept', () => {
  test('is removed after a minute and then every hour, some at a time, until nothing is left', async () => {
    const { clock, swept, state, turns } = open(500_000)
    state.old = 2_500
    const startedAt = clock.now()
    await clock.pass(60_000)
    await turns(3)
    expect(state.old).toBe(0)
    expect(swept).toEqual(Array(3).fill(startedAt + 60_000 - 500_000))
    await clock.pass(3_600_000)
    expect(swept).toHaveLength(4)
  })

  test('lets requests have their turn while there is much of it', async () => {
    const { clock, state } = open(500_000)
    state.old = 100_000
    const seen = new Set<number>()
    const look = () => {
      seen.add(state.old)
      if (state.old > 0) setImmediate(look)
    }
    clock.at(clock.now() + 60_000, () => setImmediate(look))
    await clock.pass(60_000)
    while (state.old > 0) await settled()
    expect(seen.size).toBeGreaterThan(50)
  })
})

describe('a trail that is kept for no time', () => {
  test('is not written, and what was there from before is removed', async () => {
    const { trail, clock, written, swept } = open(0)
    trail.note(created)
    trail.note(refusal)
    await trail.record({ action: 'session.login', user: 'u' })
    const startedAt = clock.now()
    await clock.pass(60_100)
    expect(written()).toEqual([])
    expect(swept).toEqual([startedAt + 60_000])
    await trail.close()
  })
})
