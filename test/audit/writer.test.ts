import { describe, expect, test } from 'bun:test'
import { createToken } from '../../plugins/api-token/index.ts'
import type { AuditEvent } from '../../plugins/shared/audit.ts'
import { Background } from '../../plugins/shared/background/background.ts'
import { createClientAddressOf, setPeerAddress } from '../../plugins/shared/http/client-address.ts'
import { requireIdentity } from '../../plugins/shared/identity/identify.ts'
import { createAudit } from '../../src/audit/index.ts'
import { type NewAuditEntry, openStore } from '../../src/store/index.ts'
import { settled, sleepOn, VirtualClock } from '../support/virtual-clock.ts'

/** An audit trail on a store that fails or blocks on command. */
const open = (keepMs = 1_000_000_000) => {
  const clock = new VirtualClock()
  const batches: (readonly NewAuditEntry[])[] = []
  const logged: string[] = []
  const swept: number[] = []
  const state = { broken: false, old: 0 }
  let blocked: Promise<void> | undefined
  const log = (_: object, message: string) => logged.push(message)
  const background = new Background({ sleep: sleepOn(clock) })
  const trail = createAudit({
    store: {
      async recordAudit(entries) {
        await blocked
        if (state.broken) throw new Error('secret database')
        batches.push(entries)
      },
      async sweepAudit(before, max) {
        swept.push(before)
        const some = Math.min(max, state.old)
        state.old -= some
        return some
      },
    },
    keepMs,
    addressOf: createClientAddressOf(),
    background,
    clock,
    log: { debug: log, info: log, warn: log, error: log },
  })
  return {
    ...{ clock, batches, logged, swept, state },
    // The server stops the work in the background first.
    trail: { ...trail, close: () => background.stop().then(() => trail.close()) },
    written: () => batches.flat(),
    /** Lets `count` batches be written. */
    async turnsPass(count: number) {
      for (let turn = 0; turn < count; turn++) await settled()
    },
    /** Blocks the store until the returned function is called. */
    block() {
      const { promise, resolve } = Promise.withResolvers<void>()
      blocked = promise
      return () => {
        blocked = undefined
        resolve()
      }
    },
  }
}

const created: AuditEvent = { action: 'asset.create', user: 'u', target: { kind: 'asset', id: 'a' } }
const refusal: AuditEvent = { action: 'access.refuse', user: 'u', target: { kind: 'asset', id: 'x' }, status: 403 }

describe('a noted event', () => {
  test('is written in a batch with later events, in order, without making the caller wait', async () => {
    const { trail, clock, batches, turnsPass } = open()
    for (let index = 0; index < 450; index++) trail.note({ ...created, target: { kind: 'asset', id: `a${index}` } })
    await clock.pass(49)
    expect(batches).toEqual([])
    await clock.pass(1)
    await turnsPass(9)
    expect(batches.map(({ length }) => length)).toEqual([100, 100, 100, 100, 50])
    expect(batches.flat().map(({ target }) => target)).toEqual(Array.from({ length: 450 }, (_, index) => `a${index}`))
  })

  test('lets the event loop run between batches', async () => {
    const { trail, clock, batches, turnsPass } = open()
    for (let index = 0; index < 450; index++) trail.note(created)
    const seen: number[] = []
    const observe = () => {
      seen.push(batches.length)
      if (batches.length < 5) setImmediate(observe)
    }
    clock.at(clock.now() + 50, () => setImmediate(observe))
    await clock.pass(50)
    await turnsPass(20)
    expect(seen.at(-1)).toBe(5)
    // The batches are not all written within one turn.
    expect(new Set(seen).size).toBeGreaterThan(3)
  })

  test('has the user, token and address of the request', async () => {
    const { trail, clock, written } = open()
    const request = new Request('http://localhost/')
    setPeerAddress(request, '::ffff:192.0.2.1')
    await requireIdentity(() => ({ user: 'ann', token: 't-1' }), request)
    trail.note({ action: 'group.create', target: { kind: 'group', id: 'g' } }, request)
    await clock.pass(50)
    expect(written()).toMatchObject([
      { action: 'group.create', user: 'ann', token: 't-1', kind: 'group', target: 'g', address: '192.0.2.1', times: 1 },
    ])
  })

  test('is written without malformed ids, ids that look like a token, and names that no user can have', async () => {
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

  test('with a user id that a database would not store does not block later events', async () => {
    const store = openStore('sqlite::memory:')
    await store.migrate()
    const trail = createAudit({ store, keepMs: 1_000, addressOf: () => 'a\0b' })
    for (const user of ['a\0b', '\ud800', 'host:ann']) {
      const request = new Request('http://localhost/')
      await requireIdentity(() => ({ user: 'host:bob', token: user }), request)
      trail.note({ action: 'group.create', user, target: { kind: 'group', id: 'task-1' } }, request)
    }
    await trail.record({ action: 'session.login', user: 'ann' })
    const users = (await store.listAudit()).map(({ user = '-', action }) => `${action} ${user}`)
    expect(users.sort()).toEqual(['group.create -', 'group.create -', 'group.create host:ann', 'session.login ann'])
    await trail.close()
    await store.close()
  })

  test('waits for an unreachable store, and is written once when the store works again', async () => {
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

  test('beyond ten thousand waiting ones is lost; lost events are counted, logged and recorded', async () => {
    const { trail, clock, state, written, logged, turnsPass } = open()
    state.broken = true
    for (let index = 0; index < 10_500; index++) trail.note(created)
    await clock.pass(60)
    expect(logged).toContain('entries of the audit trail are being lost')
    state.broken = false
    await clock.pass(2_000)
    await turnsPass(120)
    await clock.pass(100)
    expect(written().filter(({ action }) => action === 'asset.create')).toHaveLength(10_000)
    expect(written().filter(({ action }) => action === 'audit.lose')).toMatchObject([{ times: 500 }])
  })

  test('is written when the trail is closed; later events are lost', async () => {
    const { trail, clock, written, logged } = open()
    trail.note(created)
    for (let index = 0; index < 30; index++) trail.note(refusal)
    await trail.close()
    expect(written().map(({ times }) => times)).toEqual([...Array(11).fill(1), 20])
    trail.note(created)
    await clock.pass(10_000)
    expect(written()).toHaveLength(12)
    expect(logged).toEqual(['entries of the audit trail are being lost'])
    expect(clock.pending).toBe(0)
  })
})

describe('a recorded event', () => {
  test('makes the caller wait until it and all earlier events are written', async () => {
    const { trail, written, block } = open()
    const unblock = block()
    trail.note(created)
    let done = false
    const recording = trail.record({ action: 'session.login', user: 'u' }).then(() => {
      done = true
    })
    await settled()
    expect(done).toBe(false)
    unblock()
    await recording
    expect(written().map(({ action }) => action)).toEqual(['asset.create', 'session.login'])
  })

  test('shares a transaction with concurrent ones', async () => {
    const { trail, batches } = open()
    await Promise.all(Array.from({ length: 100 }, () => trail.record({ action: 'session.login', user: 'u' })))
    expect(batches.length).toBeLessThanOrEqual(2)
    // Includes events that come just when the queue has become empty.
    for (let index = 0; index < 50; index++) await trail.record({ action: 'session.login', user: 'u' })
    expect(batches.flat()).toHaveLength(150)
  })

  test('that cannot be written is a 500 without details, and is written later', async () => {
    const { trail, clock, state, written } = open()
    state.broken = true
    const failed = await trail.record({ action: 'token.revoke', user: 'u' }).catch((error: unknown) => error)
    expect(failed).toMatchObject({ status: 500, message: 'audit trail could not be written' })
    state.broken = false
    await clock.pass(1_000)
    expect(written()).toMatchObject([{ action: 'token.revoke' }])
  })
})

describe('a repeatable event of one user', () => {
  test('is written ten times a minute; further ones are counted', async () => {
    const { trail, clock, written } = open()
    for (let index = 0; index < 5_000; index++) trail.note({ ...refusal, target: { kind: 'asset', id: `x${index}` } })
    await clock.pass(50)
    expect(written().map(({ target, times }) => [target, times])).toEqual(
      Array.from({ length: 10 }, (_, index) => [`x${index}`, 1]),
    )
    await clock.pass(60_050)
    expect(written()).toHaveLength(11)
    expect(written()[10]).toMatchObject({ action: 'access.refuse', user: 'u', kind: 'asset', times: 4_990 })
    expect(written()[10]?.target).toBeUndefined()
    trail.note(refusal)
    await clock.pass(50)
    expect(written()).toHaveLength(12)
  })

  test('needs nothing of its request while it is only counted', async () => {
    const written: NewAuditEntry[] = []
    let addresses = 0
    const trail = createAudit({
      store: { recordAudit: async (entries) => void written.push(...entries), sweepAudit: async () => 0 },
      keepMs: 1_000,
      addressOf: () => `${addresses++}`,
      clock: new VirtualClock(),
    })
    const request = new Request('http://localhost/')
    await requireIdentity(() => ({ user: 'ann' }), request)
    const event: AuditEvent = { action: 'limit.reach', target: { kind: 'requests' }, status: 429 }
    for (let nth = 0; nth < 5_000; nth++) trail.note(event, request)
    for (let nth = 0; nth < 20; nth++) trail.note({ ...event, user: 'bob' }, request)
    // Of each user, ten entries that are written, and the first that is counted.
    expect(addresses).toBe(22)
    await trail.close()
    const times = (of: string) => written.filter(({ user }) => user === of).map((entry) => entry.times)
    expect([times('ann'), times('bob')]).toEqual([
      [...Array(10).fill(1), 4_990],
      [...Array(10).fill(1), 10],
    ])
  })

  test('does not hide events of other users', async () => {
    const { trail, clock, written } = open()
    for (let index = 0; index < 50; index++) trail.note(refusal)
    trail.note({ ...refusal, user: 'other' })
    await clock.pass(50)
    expect(written().at(-1)).toMatchObject({ user: 'other', target: 'x', times: 1 })
  })

  test('does not hide events of other users, with any number of tokens and for any time', async () => {
    const { trail, clock, written, turnsPass } = open()
    for (let minute = 0; minute < 15; minute++) {
      for (let index = 0; index < 2_000; index++) {
        const kind = `kind ${index % 8}`
        trail.note({ ...refusal, user: 'eve', token: `t${index % 100}`, status: 403 + (index % 3), target: { kind } })
      }
      trail.note({ ...refusal, user: `other ${minute}` })
      await clock.pass(60_000)
      await turnsPass(9)
    }
    await clock.pass(120_000)
    await turnsPass(9)
    const others = written().filter(({ user }) => user?.startsWith('other'))
    expect(others.map(({ user, target }) => [user, target])).toEqual(
      Array.from({ length: 15 }, (_, minute) => [`other ${minute}`, 'x']),
    )
    expect(written().reduce((sum, { times }) => sum + times, 0)).toBe(15 * 2_001)
  })

  test('is bounded for any number of callers, and every one is counted', async () => {
    const { trail, clock, written, turnsPass } = open()
    for (let index = 0; index < 20_000; index++)
      trail.note({ action: 'session.lockout', name: `n${index % 4_000}`, status: 429 })
    await clock.pass(61_000)
    await turnsPass(30)
    expect(written().length).toBeLessThanOrEqual(1_501)
    expect(written().reduce((sum, { times }) => sum + times, 0)).toBe(20_000)
  })
})

describe('a repeatable event without a user', () => {
  const flood = async (trail: ReturnType<typeof open>['trail'], clock: VirtualClock, minutes: number) => {
    for (let minute = 0; minute < minutes; minute++) {
      for (let index = 0; index < 2_000; index++) {
        trail.note({ action: 'session.lockout', name: `n${minute}-${index}`, status: 429 })
      }
      await clock.pass(60_000)
    }
  }

  test('is written a thousand times, then a hundred times a minute; every one is counted', async () => {
    const { trail, clock, written, turnsPass } = open()
    await flood(trail, clock, 30)
    await clock.pass(120_000)
    await turnsPass(60)
    expect(written().length).toBeLessThanOrEqual(1_000 + 31 * 101)
    expect(written().reduce((sum, { times }) => sum + times, 0)).toBe(30 * 2_000)
  })

  test('does not hide events of users', async () => {
    const { trail, clock, written, turnsPass } = open()
    for (let index = 0; index < 2_000; index++)
      trail.note({ action: 'session.lockout', name: `n${index}`, status: 429 })
    await clock.pass(50)
    await turnsPass(30)
    trail.note(refusal)
    await clock.pass(50)
    expect(written().at(-1)).toMatchObject({ user: 'u', target: 'x', times: 1 })
  })

  test('is written as before after a quiet time', async () => {
    const { trail, clock, written, turnsPass } = open()
    await flood(trail, clock, 5)
    await clock.pass(600_000)
    await turnsPass(60)
    const before = written().length
    for (let index = 0; index < 300; index++) trail.note({ ...refusal, user: undefined, status: index })
    await clock.pass(50)
    await turnsPass(9)
    expect(written().length - before).toBe(300)
  })
})

describe('an expired entry', () => {
  test('is deleted after a minute and then every hour, in batches, until none is left', async () => {
    const { clock, swept, state, turnsPass } = open(500_000)
    state.old = 600
    const startedAt = clock.now()
    await clock.pass(60_000)
    await turnsPass(3)
    expect(state.old).toBe(0)
    expect(swept).toEqual(Array(3).fill(startedAt + 60_000 - 500_000))
    await clock.pass(3_600_000)
    expect(swept).toHaveLength(4)
  })

  test('does not block the event loop while many are deleted', async () => {
    const { clock, state } = open(500_000)
    state.old = 100_000
    const seen = new Set<number>()
    const observe = () => {
      seen.add(state.old)
      if (state.old > 0) setImmediate(observe)
    }
    clock.at(clock.now() + 60_000, () => setImmediate(observe))
    await clock.pass(60_000)
    while (state.old > 0) await settled()
    expect(seen.size).toBeGreaterThan(50)
  })
})

describe('a trail with `keepMs` 0', () => {
  test('is not written, and existing entries are deleted', async () => {
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
