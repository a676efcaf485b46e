import { describe, expect, test } from 'bun:test'
import { reconcileOptionsOf } from '../../plugins/asset-library/routes/reconcile.ts'
import { reconcile } from '../../plugins/ownership/index.ts'
import { systemClock } from '../../plugins/shared/clock.ts'
import { createUpstream, rest } from '../../plugins/upstream-proxy/index.ts'
import { startEmulator } from '../../src/emulator/index.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { repeatOnDatabases } from '../support/database.ts'
import type { TestGatewayOptions, User } from '../support/gateway.ts'
import {
  errorReply,
  type Fixture,
  messageOf,
  newGroup,
  openFixture,
  picture,
  repeatedKinds,
  statusAndText,
} from './fixture.ts'

const groups = '/assets/groups'
const withKey = (key: string) => ({ 'idempotency-key': key })
const replayed = (reply: { readonly headers: Headers }) => reply.headers.get('idempotent-replayed')
const reused = errorReply(409, 'this Idempotency-Key was used for a request with another body')
const inUse = errorReply(409, 'an earlier request with this Idempotency-Key is still in progress')
const notYet = 'the outcome of an earlier request with this Idempotency-Key is not known yet; try again shortly'
const unavailable = errorReply(502, 'Seedance upstream unavailable')

/** The default of the gateway: twice the timeout of a call. */
const claimMs = 60_000

/** A gateway whose clock, and that of its upstream, a test advances. `reconcile` handles the claims that are due. */
const openTimed = async (options: TestGatewayOptions = {}) => {
  let time = Date.now()
  const clock = { ...systemClock, now: () => time }
  const emulator = await startEmulator({ processingMs: 0, clock: clock.now })
  const fixture = await openFixture({ emulator, clock, ...options })
  const upstream = createUpstream({ kind: (options.kindOf ?? repeatedKinds[0]?.kindOf)?.(emulator) as never })
  const { store } = fixture
  return {
    ...fixture,
    pass(ms: number) {
      time += ms
    },
    reconcile: () => reconcile(reconcileOptionsOf({ upstream, claimMs, clock }, store)),
    creations: () => emulator.calls.filter(({ action }) => /^Create/.test(action)).length,
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]()
      await emulator.stop()
    },
  }
}

describe.each(repeatedKinds)('with an upstream of kind $kind, an Idempotency-Key', ({ kindOf }) => {
  test('makes the creation of a group and of an asset happen once; repetitions get the same bytes', async () => {
    await using fixture = await openFixture({ kindOf })
    const { ann, bob } = fixture
    const group = await newGroup(ann, 'first')
    for (const [path, body] of [
      [groups, { Name: 'a' }],
      ['/assets', { GroupId: group, ...picture }],
    ] as const) {
      fixture.calls()
      const first = await ann.ask('POST', path, body, withKey('k'))
      expect([first.status, replayed(first)]).toEqual([200, null])
      for (let times = 0; times < 2; times++) {
        const again = await ann.ask('POST', path, body, withKey('k'))
        expect(statusAndText(again)).toEqual(statusAndText(first))
        expect(replayed(again)).toBe('true')
        expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'))
      }
      expect(statusAndText(await ann.ask('POST', path, { ...body, More: 1 }, withKey('k')))).toEqual(reused)
      expect(fixture.calls().filter(({ action }) => /^Create/.test(action))).toHaveLength(1)
    }
    // Another user has other keys.
    expect(replayed(await bob.ask('POST', groups, { Name: 'a' }, withKey('k')))).toBeNull()
  })

  test('that is not valid is 400', async () => {
    await using fixture = await openFixture({ kindOf })
    for (const key of ['', 'a b', 'x'.repeat(256), 'é']) {
      const reply = await fixture.ann.ask('POST', groups, { Name: 'a' }, withKey(key))
      expect(reply.status).toBe(400)
      expect(messageOf(reply)).toMatch(/^Idempotency-Key must/)
    }
    expect(fixture.calls()).toEqual([])
  })

  test('of a request in progress is 409 with Retry-After', async () => {
    await using fixture = await openFixture({ kindOf })
    const hold = fixture.emulator.faults.add({ kind: 'hold', action: 'CreateAssetGroup' })
    const first = fixture.ann.ask('POST', groups, { Name: 'a' }, withKey('k'))
    await hold.waitForHits()
    const second = await fixture.ann.ask('POST', groups, { Name: 'a' }, withKey('k'))
    expect(statusAndText(second)).toEqual(inUse)
    expect(second.headers.get('retry-after')).toBe('1')
    hold.release()
    expect((await first).status).toBe(200)
  })

  test('is free after an error that has created nothing', async () => {
    await using fixture = await openFixture({ kindOf })
    const { ann, emulator } = fixture
    const own = await newGroup(ann, 'taken')
    const ask = (path: string, body: object) => ann.ask('POST', path, body, withKey('k'))
    expect((await ask(groups, { Name: 'taken' })).status).toBe(400)
    for (const status of [400, 403, 429]) {
      emulator.faults.add({ kind: 'status', status })
      expect((await ask(groups, { Name: 'b' })).status).toBe(status)
    }
    expect((await ask(groups, { Name: 'a' })).status).toBe(200)
    expect((await ask('/assets', { GroupId: 'nobodys', ...picture })).status).toBe(403)
    expect((await ask('/assets', { GroupId: own, ...picture, AssetType: 'Text' })).status).toBe(400)
    expect((await ask('/assets', { GroupId: own, ...picture })).status).toBe(200)
  })

  test('still gives the response when the group of the asset is deleted', async () => {
    await using fixture = await openFixture({ kindOf })
    const { ann } = fixture
    const own = await newGroup(ann, 'a')
    const create = () => ann.ask('POST', '/assets', { GroupId: own, ...picture }, withKey('k'))
    const first = await create()
    expect((await ann.ask('DELETE', `${groups}/${own}`)).status).toBe(200)
    expect(statusAndText(await create())).toEqual(statusAndText(first))
  })

  test('of a group whose response was lost gives the group, after reconciliation', async () => {
    await using fixture = await openTimed({ kindOf })
    const create = () => fixture.ann.ask('POST', groups, { Name: 'a' }, withKey('k'))
    fixture.emulator.faults.add({ kind: 'reset-after', action: 'CreateAssetGroup' })
    expect(statusAndText(await create())).toEqual(unavailable)
    await expectNotYet(create)
    fixture.pass(2_000)
    await fixture.reconcile()
    const [group] = fixture.emulator.library.groups()
    for (let times = 0; times < 2; times++) {
      const reply = await create()
      expect([reply.status, replayed(reply), reply.json]).toEqual([200, 'true', { Result: { Id: group?.id } }])
    }
    expect(fixture.creations()).toBe(1)
  })

  test.each([
    ['reset-before', {}, 502],
    ['status', { status: 500 }, 500],
    ['status', { status: 504, body: '<html>' }, 504],
  ] as const)('of a group that was not created (%s %j) creates it after reconciliation', async (kind, more, status) => {
    await using fixture = await openTimed({ kindOf })
    const create = () => fixture.ann.ask('POST', groups, { Name: 'a' }, withKey('k'))
    fixture.emulator.faults.add({ kind, action: 'CreateAssetGroup', ...more } as never)
    expect((await create()).status).toBe(status)
    await expectNotYet(create)
    fixture.pass(claimMs)
    await expectNotYet(create)
    await fixture.reconcile()
    expect((await create()).status).toBe(200)
    expect(replayed(await create())).toBe('true')
    expect(fixture.emulator.library.count().groups).toBe(1)
  })

  test('of an asset that was not created creates it when the call must have ended', async () => {
    await using fixture = await openTimed({ kindOf })
    const { ann, emulator } = fixture
    const own = await newGroup(ann, 'a')
    const old = emulator.library.addAsset({ groupId: own, createTime: Date.now() - 400_000 }).id
    const create = () => ann.ask('POST', '/assets', { GroupId: own, ...picture }, withKey('k'))
    emulator.faults.add({ kind: 'reset-before', action: 'CreateAsset' })
    expect(statusAndText(await create())).toEqual(unavailable)
    // Created with another key, and without one: these are known.
    for (const headers of [withKey('other'), {}])
      expect((await ann.ask('POST', '/assets', { GroupId: own, ...picture }, headers)).status).toBe(200)
    fixture.pass(claimMs - 10_000)
    expect(await expectNotYet(create)).toBe('10')
    fixture.pass(10_000)
    // The upstream must be asked.
    emulator.faults.add({ kind: 'status', status: 503, action: 'ListAssets' })
    expect((await create()).status).toBe(503)
    const first = await create()
    expect([first.status, replayed(first)]).toEqual([200, null])
    expect(statusAndText(await create())).toEqual(statusAndText(first))
    expect(emulator.library.assets(own)).toHaveLength(4)
    expect(emulator.library.asset(old)).toBeDefined()
  })

  test('of an asset that may have been created stays unknown, and creates no second one', async () => {
    await using fixture = await openTimed({ kindOf })
    const { ann, emulator } = fixture
    const own = await newGroup(ann, 'a')
    const create = () => ann.ask('POST', '/assets', { GroupId: own, ...picture }, withKey('k'))
    emulator.faults.add({ kind: 'reset-after', action: 'CreateAsset' })
    expect(statusAndText(await create())).toEqual(unavailable)
    for (const ms of [0, claimMs, 600_000]) {
      fixture.pass(ms)
      const reply = await create()
      expect(reply.status).toBe(503)
      expect(messageOf(reply)).toMatch(ms === 0 ? /not known yet/ : /look before you use another key/)
    }
    expect(emulator.library.assets(own)).toHaveLength(1)
    // The caller has looked, and uses another key.
    expect((await ann.ask('POST', '/assets', { GroupId: own, ...picture }, withKey('k2'))).status).toBe(200)
  })
})

test('an asset whose response could not be kept is not created again', async () => {
  const store = openStore('sqlite::memory:')
  let fails = true
  const keep: Store['idempotency']['keep'] = (...kept) =>
    fails ? Promise.reject(new Error('SQLITE_FULL')) : store.idempotency.keep(...kept)
  await using fixture = await openTimed({ store, idempotency: { ...store.idempotency, keep } })
  const { ann, emulator } = fixture
  const own = await newGroup(ann, 'a')
  const create = () => ann.ask('POST', '/assets', { GroupId: own, ...picture }, withKey('k'))
  expect((await create()).status).toBe(200)
  fails = false
  fixture.pass(claimMs)
  expect((await create()).status).toBe(503)
  expect(emulator.library.assets(own)).toHaveLength(1)
})

test('a creation that never reached the upstream leaves the key free', async () => {
  const kind = rest({ url: 'http://127.0.0.1:9/api/media/proxy', key: 'a key of nobody' })
  await using fixture = await openFixture({ kind })
  for (const path of [groups, '/assets'])
    for (let times = 0; times < 2; times++) {
      const body = path === groups ? { Name: 'a' } : { GroupId: await ownGroup(fixture), ...picture }
      expect(statusAndText(await fixture.ann.ask('POST', path, body, withKey('k')))).toEqual(unavailable)
    }
})

const ownGroup = async ({ store, ann }: Pick<Fixture, 'store' | 'ann'>): Promise<string> => {
  await store.adoptGroup({ id: 'group-own', user: ann.id, type: 'AIGC', name: 'own', createdAt: 1 })
  return 'group-own'
}

test('a process that was suspended until its lease was over creates no asset', async () => {
  const store = openStore('sqlite::memory:')
  let suspended = () => {}
  const claim: Store['idempotency']['claim'] = async (...wanted) => {
    const claimed = await store.idempotency.claim(...wanted)
    suspended()
    return claimed
  }
  await using fixture = await openTimed({ store, idempotency: { ...store.idempotency, claim } })
  const { ann, emulator } = fixture
  const own = await newGroup(ann, 'a')
  suspended = () => fixture.pass(claimMs)
  const reply = await ann.ask('POST', '/assets', { GroupId: own, ...picture }, withKey('k'))
  expect(statusAndText(reply)).toEqual(errorReply(503, 'the request took too long'))
  expect(emulator.library.assets(own)).toEqual([])
})

const expectNotYet = async (create: () => ReturnType<User['ask']>): Promise<string | null> => {
  const reply = await create()
  expect(statusAndText(reply)).toEqual(errorReply(503, notYet))
  return reply.headers.get('retry-after')
}

repeatOnDatabases('an Idempotency-Key on two gateways', (database) => {
  test('of 20 parallel creations one reaches the upstream', async () => {
    await using emulator = await startEmulator({ processingMs: 0 })
    await using one = await openFixture({ emulator, store: await database.open() })
    const { ann } = one
    const store = await database.open()
    await using other = await openFixture({
      emulator,
      store: { ...store, addUser: async (name) => `other ${name}`, addToken: async () => 'id' },
    })
    const askers = [ann.ask, askAt(other.url, ann)]
    const own = await newGroup(ann, 'first')
    for (const [path, body] of [
      [groups, { Name: 'a' }],
      ['/assets', { GroupId: own, ...picture }],
    ] as const) {
      emulator.clearCalls()
      const hold = emulator.faults.add({ kind: 'hold', action: path === groups ? 'CreateAssetGroup' : 'CreateAsset' })
      const replies = Array.from({ length: 20 }, (_, index) => askers[index % 2]?.('POST', path, body, withKey('k')))
      await hold.waitForHits()
      let rejected = 0
      for (const reply of replies) void reply?.then(() => ++rejected === 19 && hold.release())
      const statuses = (await Promise.all(replies)).map((reply) => reply?.status)
      expect(statuses.filter((status) => status === 409)).toHaveLength(19)
      expect(statuses).toContain(200)
      expect(emulator.calls.filter(({ action }) => /^Create/.test(action))).toHaveLength(1)
      const again = await askers[1]?.('POST', path, body, withKey('k'))
      expect([again?.status, again && replayed(again)]).toEqual([200, 'true'])
    }
  })
})

const askAt =
  (url: string, { token }: User): User['ask'] =>
  async (method, path, body, headers) => {
    const response = await fetch(`${url}/api/media/proxy${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: JSON.parse(text) }
  }

describe('the store of idempotency keys', () => {
  const watched = (methods: string[], fail = false) => {
    const store = openStore('sqlite::memory:')
    const idempotency = new Proxy(store.idempotency, {
      get(target, method: keyof Store['idempotency']) {
        return (...args: never[]) => {
          methods.push(method)
          if (fail) return Promise.reject(new Error('SQLITE_BUSY'))
          return (target[method] as (...all: never[]) => unknown)(...args)
        }
      },
    })
    return { store, idempotency }
  }

  test('is not asked without the header, nor before the caller is known and the body is valid', async () => {
    const methods: string[] = []
    await using fixture = await openFixture(watched(methods))
    const own = await newGroup(fixture.ann, 'a')
    expect((await fixture.ann.ask('POST', '/assets', { GroupId: own, ...picture })).status).toBe(200)
    const stranger = { ...withKey('k'), authorization: 'Bearer sk-nobody' }
    expect((await fixture.ann.ask('POST', groups, { Name: 'b' }, stranger)).status).toBe(401)
    expect((await fixture.ann.ask('POST', groups, { Name: 7 }, withKey('k'))).status).toBe(400)
    expect((await fixture.ann.ask('POST', '/assets', '[]', withKey('k'))).status).toBe(400)
    expect(methods).toEqual([])
    expect((await fixture.ann.ask('POST', groups, { Name: 'b' }, withKey('k'))).status).toBe(200)
    expect(methods).toEqual(['sweep', 'claim', 'keep'])
  })

  test('that fails leads to 500, and nothing is created', async () => {
    await using fixture = await openFixture(watched([], true))
    const reply = await fixture.ann.ask('POST', groups, { Name: 'a' }, withKey('k'))
    expect(statusAndText(reply)).toEqual(errorReply(500, 'the Idempotency-Key could not be checked'))
    expect(fixture.calls()).toEqual([])
  })
})

test('a gateway without a store of keys ignores the header', async () => {
  await using fixture = await openFixture({ idempotency: undefined })
  expect((await fixture.ann.ask('POST', groups, { Name: 'a' }, withKey('k'))).status).toBe(200)
  expect((await fixture.ann.ask('POST', groups, { Name: 'a' }, withKey('k'))).status).toBe(400)
})
