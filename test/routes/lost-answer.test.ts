import { expect, test } from 'bun:test'
import { settle } from '../../plugins/ownership/index.ts'
import { createUpstream, rest } from '../../plugins/upstream-proxy/index.ts'
import { startEmulator } from '../../src/emulator/index.ts'
import { settling } from '../../src/routes/settling.ts'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'
import { newGroup, openRoutes, type Routes, refusal, said, until } from './routes.ts'

const path = '/assets/groups'
const unsettled = refusal(
  400,
  'an earlier request for the same Name and GroupType is still being settled; try again shortly',
)
const taken = refusal(400, 'an asset group with the same Name and GroupType already exists')

interface Scene extends AsyncDisposable {
  readonly routes: Routes
  /** Lets so many seconds pass, and a process look at what is due, after every one of them. Ends early when `condition` holds; answers the seconds that passed. */
  pass(seconds: number, condition?: () => Promise<boolean>): Promise<number>
}

const claimMs = 60_000

const openScene = async (store: Store): Promise<Scene> => {
  let time = Date.now()
  const now = () => time
  const emulator = await startEmulator({ limits: {}, processingMs: 0, clock: now })
  const routes = await openRoutes({ emulator, store, now })
  const upstream = createUpstream({ kind: rest(emulator.rest) })
  const settlement = settling({ upstream, claimMs, now }, store)
  return {
    routes,
    async pass(seconds, condition = async () => false) {
      for (let second = 1; second <= seconds; second++) {
        time += 1_000
        if (((await store.nextDue()) ?? Number.POSITIVE_INFINITY) <= time) await settle(settlement)
        if (await condition()) return second
      }
      return seconds
    },
    async [Symbol.asyncDispose]() {
      for (const { id } of await store.openClaims()) await store.dropClaim(id)
      for (const { id } of await store.listUsers()) {
        for (const group of await store.groupsOf(id)) await store.removeGroup(group)
      }
      await routes[Symbol.asyncDispose]()
      await emulator.stop()
    },
  }
}

eachDatabase('a creation whose answer was lost', (database) => {
  let users = 0
  /** Two users of this scene alone. */
  const open = async () => {
    const store = await database.open()
    const named: Store = { ...store, addUser: (user) => store.addUser({ ...user, name: `${user.name} ${++users}` }) }
    return openScene(named)
  }

  test('is said to be still open on the next try, and not to exist', async () => {
    await using scene = await open()
    const { ann, bob, emulator, calls } = scene.routes
    emulator.faults.add({ kind: 'refuse' })
    expect((await ann.ask('POST', path, { Name: 'cats' })).status).toBe(502)
    calls()
    expect(said(await ann.ask('POST', path, { Name: 'cats' }))).toEqual(unsettled)
    expect(calls()).toEqual([])
    // It holds the name of its maker alone.
    await newGroup(bob, 'cats')
  })

  test('that worked is its maker’s within seconds', async () => {
    await using scene = await open()
    const { ann, bob, emulator } = scene.routes
    emulator.faults.add({ kind: 'reset-after' })
    expect((await ann.ask('POST', path, { Name: 'cats' })).status).toBe(502)
    const [made] = emulator.library.groups()
    const settledAfter = await scene.pass(60, async () => {
      const { json } = await ann.ask('GET', path)
      return json.Result.TotalCount === 1
    })
    expect(settledAfter).toBeLessThanOrEqual(2)
    const { json } = await ann.ask('GET', path)
    expect(json.Result.Items).toMatchObject([{ Id: made?.id, Name: 'cats' }])
    expect(said(await ann.ask('POST', path, { Name: 'cats' }))).toEqual(taken)
    expect((await bob.ask('GET', path)).json.Result.TotalCount).toBe(0)
    expect(await scene.routes.store.openClaims()).toEqual([])
  })

  test('that the upstream is still at is waited for: no name is freed before its time', async () => {
    await using scene = await open()
    const { ann, emulator, calls } = scene.routes
    emulator.faults.add({ kind: 'refuse' })
    await ann.ask('POST', path, { Name: 'cats' })
    calls()
    await scene.pass(40)
    expect(said(await ann.ask('POST', path, { Name: 'cats' }))).toEqual(unsettled)
    // Ever more rarely: after 1, 2, 4, 8, 16 and 32 seconds.
    expect(calls().filter(({ method }) => method === 'GET')).toHaveLength(6)
    emulator.library.addGroup({ name: 'cats', type: 'AIGC' })
    await scene.pass(25)
    expect((await ann.ask('GET', path)).json.Result.TotalCount).toBe(1)
  })

  test('that came to nothing frees its name when its time is over, and not sooner', async () => {
    await using scene = await open()
    const { ann, emulator } = scene.routes
    emulator.faults.add({ kind: 'refuse' })
    await ann.ask('POST', path, { Name: 'cats' })
    await scene.pass(59)
    expect(said(await ann.ask('POST', path, { Name: 'cats' }))).toEqual(unsettled)
    await scene.pass(2)
    await newGroup(ann, 'cats')
  })

  test('is looked for again soon when the upstream could not be asked', async () => {
    await using scene = await open()
    const { ann, emulator } = scene.routes
    emulator.faults.add({ kind: 'reset-after' })
    await ann.ask('POST', path, { Name: 'cats' })
    emulator.faults.add({ kind: 'status', status: 503, action: /List|Find/, times: 2 })
    const seconds = await scene.pass(60, async () => (await scene.routes.store.openClaims()).length === 0)
    expect(seconds).toBeLessThanOrEqual(5)
    expect((await ann.ask('GET', path)).json.Result.TotalCount).toBe(1)
  })

  test('of two users with one name: neither gets the group early, nor the other’s', async () => {
    await using scene = await open()
    const { ann, bob, emulator, store } = scene.routes
    emulator.faults.add({ kind: 'reset-after' })
    await ann.ask('POST', path, { Name: 'cats' })
    emulator.faults.add({ kind: 'refuse' })
    await bob.ask('POST', path, { Name: 'cats' })
    await scene.pass(50)
    for (const user of [ann, bob]) {
      expect((await user.ask('GET', path)).json.Result.TotalCount).toBe(0)
      expect(said(await user.ask('POST', path, { Name: 'cats' }))).toEqual(unsettled)
    }
    await scene.pass(20)
    // Nobody can tell whose it is: a person decides, and the names are free.
    expect((await store.openClaims()).map(({ state }) => state)).toEqual(['unresolved', 'unresolved'])
  })

  test('or renaming: the new name is said to be open, and is the group’s within seconds', async () => {
    await using scene = await open()
    const { ann, emulator } = scene.routes
    const id = await newGroup(ann, 'dogs')
    emulator.faults.add({ kind: 'reset-after' })
    expect((await ann.ask('PATCH', `${path}/${id}`, { Name: 'cats' })).status).toBe(502)
    expect(said(await ann.ask('POST', path, { Name: 'cats' }))).toEqual(unsettled)
    await scene.pass(3)
    expect(said(await ann.ask('POST', path, { Name: 'cats' }))).toEqual(taken)
    await newGroup(ann, 'dogs')
  })
})

test('a gateway settles a lost answer by itself, long before the claim’s time is over', async () => {
  const stop = new AbortController()
  await using routes = await openRoutes({ settleUntil: stop.signal, timeoutMs: 30_000 })
  routes.emulator.faults.add({ kind: 'reset-after' })
  expect((await routes.ann.ask('POST', path, { Name: 'cats' })).status).toBe(502)
  await until(async () => (await routes.ann.ask('GET', path)).json.Result.TotalCount === 1)
  expect(said(await routes.ann.ask('POST', path, { Name: 'cats' }))).toEqual(taken)
  stop.abort()
})
