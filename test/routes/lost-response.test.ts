import { expect, test } from 'bun:test'
import { reconcileOptionsOf } from '../../plugins/asset-library/routes/reconcile.ts'
import { reconcile } from '../../plugins/ownership/index.ts'
import { Background } from '../../plugins/shared/background/background.ts'
import { systemClock } from '../../plugins/shared/clock.ts'
import { createUpstream, rest } from '../../plugins/upstream-proxy/index.ts'
import { startEmulator } from '../../src/emulator/index.ts'
import type { Store } from '../../src/store/index.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { errorReply, type Fixture, newGroup, openFixture, statusAndText, until } from './fixture.ts'

const path = '/assets/groups'
const pending = errorReply(
  400,
  'the outcome of an earlier request for the same Name and GroupType is not known yet; try again shortly',
)
const taken = errorReply(400, 'an asset group with the same Name and GroupType already exists')

interface LostResponseFixture extends Fixture {
  /** Advances the clock second by second and reconciles due claims after each. Stops when `condition` is true. Returns the seconds. */
  pass(seconds: number, condition?: () => Promise<boolean>): Promise<number>
}

const claimMs = 60_000

/** Ids have the second of their creation, and each emulator begins with the same ones: each has a day of its own. */
let emulators = 0

const openLostResponseFixture = async (store: Store): Promise<LostResponseFixture> => {
  let time = Date.now() + ++emulators * 86_400_000
  const clock = { ...systemClock, now: () => time }
  const emulator = await startEmulator({ processingMs: 0, clock: clock.now })
  const fixture = await openFixture({ emulator, store, clock })
  const upstream = createUpstream({ kind: rest(emulator.rest) })
  const settlement = reconcileOptionsOf({ upstream, claimMs, clock }, store)
  return {
    ...fixture,
    async pass(seconds, condition = async () => false) {
      for (let second = 1; second <= seconds; second++) {
        time += 1_000
        if (((await store.nextDue()) ?? Number.POSITIVE_INFINITY) <= time) await reconcile(settlement)
        if (await condition()) return second
      }
      return seconds
    },
    async [Symbol.asyncDispose]() {
      for (const { id } of await store.openClaims()) await store.dropClaim(id)
      for (const { id } of await store.listUsers()) {
        for (const group of await store.groupsOf(id)) await store.removeGroup(group)
      }
      await fixture[Symbol.asyncDispose]()
      await emulator.stop()
    },
  }
}

repeatOnDatabases('a creation without a received response', (database) => {
  let users = 0
  /** Two new users for one test. */
  const open = async () => {
    const store = await database.open()
    const named: Store = { ...store, addUser: (user) => store.addUser({ ...user, name: `${user.name} ${++users}` }) }
    return openLostResponseFixture(named)
  }

  test('is reported as pending by the next request for the name, and is not listed', async () => {
    await using fixture = await open()
    const { ann, bob, emulator, calls } = fixture
    emulator.faults.add({ kind: 'reset-before' })
    expect((await ann.ask('POST', path, { Name: 'cats' })).status).toBe(502)
    calls()
    expect(statusAndText(await ann.ask('POST', path, { Name: 'cats' }))).toEqual(pending)
    expect(calls()).toEqual([])
    // Only the creator's name is reserved.
    await newGroup(bob, 'cats')
  })

  test('that succeeded belongs to its creator within seconds', async () => {
    await using fixture = await open()
    const { ann, bob, emulator } = fixture
    emulator.faults.add({ kind: 'reset-after' })
    expect((await ann.ask('POST', path, { Name: 'cats' })).status).toBe(502)
    const [made] = emulator.library.groups()
    const reconciledAfter = await fixture.pass(60, async () => {
      const { json } = await ann.ask('GET', path)
      return json.Result.TotalCount === 1
    })
    expect(reconciledAfter).toBeLessThanOrEqual(2)
    const { json } = await ann.ask('GET', path)
    expect(json.Result.Items).toMatchObject([{ Id: made?.id, Name: 'cats' }])
    expect(statusAndText(await ann.ask('POST', path, { Name: 'cats' }))).toEqual(taken)
    expect((await bob.ask('GET', path)).json.Result.TotalCount).toBe(0)
    expect(await fixture.store.openClaims()).toEqual([])
  })

  test('that the upstream still processes is checked until the deadline, at increasing intervals', async () => {
    await using fixture = await open()
    const { ann, emulator, calls } = fixture
    emulator.faults.add({ kind: 'reset-before' })
    await ann.ask('POST', path, { Name: 'cats' })
    calls()
    await fixture.pass(40)
    // After 1, 2, 4, 8, 16 and 32 seconds.
    expect(calls().filter(({ method }) => method === 'GET')).toHaveLength(6)
    emulator.library.addGroup({ name: 'cats', type: 'AIGC' })
    await fixture.pass(25)
    expect((await ann.ask('GET', path)).json.Result.TotalCount).toBe(1)
    expect(await fixture.store.openClaims()).toEqual([])
  })

  test('that had no effect frees its name within four seconds', async () => {
    await using fixture = await open()
    const { ann, emulator } = fixture
    emulator.faults.add({ kind: 'reset-before' })
    await ann.ask('POST', path, { Name: 'cats' })
    await fixture.pass(3)
    expect(statusAndText(await ann.ask('POST', path, { Name: 'cats' }))).toEqual(pending)
    await fixture.pass(1)
    const group = await newGroup(ann, 'cats')
    await fixture.pass(60)
    expect((await ann.ask('GET', path)).json.Result.Items).toMatchObject([{ Id: group }])
    expect(await fixture.store.openClaims()).toEqual([])
  })

  test('that takes effect after its name was used again is listed for the administrator, and its group belongs to nobody', async () => {
    await using fixture = await open()
    const { ann, emulator, store } = fixture
    emulator.faults.add({ kind: 'reset-before' })
    await ann.ask('POST', path, { Name: 'cats' })
    await fixture.pass(4)
    const group = await newGroup(ann, 'cats')
    emulator.library.addGroup({ name: 'cats', type: 'AIGC' })
    await fixture.pass(60)
    expect((await ann.ask('GET', path)).json.Result.Items).toMatchObject([{ Id: group }])
    expect(await store.openClaims()).toMatchObject([{ user: ann.id, name: 'cats', state: 'unresolved' }])
  })

  test('after another one of the same user belongs to this user within seconds', async () => {
    await using fixture = await open()
    const { ann, emulator, store } = fixture
    emulator.faults.add({ kind: 'reset-before' })
    await ann.ask('POST', path, { Name: 'cats' })
    await fixture.pass(4)
    emulator.faults.add({ kind: 'reset-after' })
    expect((await ann.ask('POST', path, { Name: 'cats' })).status).toBe(502)
    await fixture.pass(2)
    expect((await ann.ask('GET', path)).json.Result.TotalCount).toBe(1)
    await fixture.pass(60)
    expect(await store.openClaims()).toEqual([])
  })

  test('is checked again soon after an upstream error', async () => {
    await using fixture = await open()
    const { ann, emulator } = fixture
    emulator.faults.add({ kind: 'reset-after' })
    await ann.ask('POST', path, { Name: 'cats' })
    emulator.faults.add({ kind: 'status', status: 503, action: /List|Find/, times: 2 })
    const seconds = await fixture.pass(60, async () => (await fixture.store.openClaims()).length === 0)
    expect(seconds).toBeLessThanOrEqual(5)
    expect((await ann.ask('GET', path)).json.Result.TotalCount).toBe(1)
  })

  test('of two users with the same name gives no user a group', async () => {
    await using fixture = await open()
    const { ann, bob, emulator, store } = fixture
    emulator.faults.add({ kind: 'reset-after' })
    await ann.ask('POST', path, { Name: 'cats' })
    emulator.faults.add({ kind: 'reset-before' })
    await bob.ask('POST', path, { Name: 'cats' })
    await fixture.pass(50)
    for (const user of [ann, bob]) {
      expect((await user.ask('GET', path)).json.Result.TotalCount).toBe(0)
      expect(statusAndText(await user.ask('POST', path, { Name: 'cats' }))).toEqual(pending)
    }
    await fixture.pass(20)
    // The owner is ambiguous: an administrator must decide, and both names are free.
    expect((await store.openClaims()).map(({ state }) => state)).toEqual(['unresolved', 'unresolved'])
  })

  test('of a renaming: the new name is pending, and the group has it within seconds', async () => {
    await using fixture = await open()
    const { ann, emulator } = fixture
    const id = await newGroup(ann, 'dogs')
    emulator.faults.add({ kind: 'reset-after' })
    expect((await ann.ask('PATCH', `${path}/${id}`, { Name: 'cats' })).status).toBe(502)
    expect(statusAndText(await ann.ask('POST', path, { Name: 'cats' }))).toEqual(pending)
    await fixture.pass(3)
    expect(statusAndText(await ann.ask('POST', path, { Name: 'cats' }))).toEqual(taken)
    await newGroup(ann, 'dogs')
  })
})

test('a gateway reconciles a lost response on its own, long before the deadline', async () => {
  const background = new Background()
  await using fixture = await openFixture({ background, timeoutMs: 30_000 })
  fixture.emulator.faults.add({ kind: 'reset-after' })
  expect((await fixture.ann.ask('POST', path, { Name: 'cats' })).status).toBe(502)
  await until(async () => (await fixture.ann.ask('GET', path)).json.Result.TotalCount === 1)
  expect(statusAndText(await fixture.ann.ask('POST', path, { Name: 'cats' }))).toEqual(taken)
  await background.stop()
})
