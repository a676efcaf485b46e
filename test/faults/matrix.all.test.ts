/** Runs with `--all`: every route with every fault. matrix.test.ts has some. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { isSlow, testIf } from '../support/run-if.ts'
import type { ProxyFault } from './fault-proxy.ts'
import { expectUsual, type Prepared, prepare, routesWith, runFault, upstreams } from './matrix.ts'
import { unusedPatterns } from './outages.ts'
import { cutPositions } from './postgres-cut.ts'
import { requests } from './requests/index.ts'
import { type FaultWorld, openFaultWorld } from './world.ts'

setDefaultTimeout(600_000)

let world: FaultWorld
let usual: Prepared
beforeAll(async () => {
  world = await openFaultWorld()
  const { routes } = world
  expect(Object.keys(requests).sort()).toEqual(routes.toSorted())
  expect(unusedPatterns(routes)).toEqual([])
  await expectUsual(world, routes)
  usual = await prepare(world, routes)
}, 600_000)
afterAll(() => world[Symbol.asyncDispose]())

/** The return from the identity provider begins a session. */
const isWriting = (route: string): boolean => !route.startsWith('GET ') || route.endsWith('/oidc/callback')

const total: readonly ProxyFault[] = [
  { kind: 'refuse' },
  { kind: 'wrong-bytes' },
  { kind: 'half-open' },
  { kind: 'freeze' },
]

test.each(total)('with a database of the fault %j each route answers as the page says', async (fault) => {
  // What the fault before has deleted.
  const deletions = await prepare(
    world,
    world.routes.filter((route) => route.startsWith('DELETE')),
  )
  const prepared = new Map([...usual, ...deletions])
  expect(await runFault(world, { dependency: 'database', fault, prepared })).toEqual([])
})

test.each(upstreams)('without %s each route answers as the page says', async (dependency) => {
  const all = await prepare(world, world.routes)
  expect(await runFault(world, { dependency, fault: { kind: 'refuse' }, prepared: all })).toEqual([])
  for (const fault of total.slice(1)) {
    const prepared = await prepare(world, routesWith(dependency, world.routes))
    expect(await runFault(world, { dependency, fault, prepared })).toEqual([])
  }
})

const partial: readonly ProxyFault[] = [
  { kind: 'slow', ms: 20 },
  { kind: 'trickle', bytes: 100 },
]

test.each(partial)('with a database of the fault %j each route works, or fails as it may', async (fault) => {
  const prepared = await prepare(world, world.routes)
  expect(await runFault(world, { dependency: 'database', fault, prepared })).toEqual([])
})

/** Of a request that commits twice, the first commit passes, or the second one. */
const cuts = [
  ...cutPositions.map((at) => ({ kind: 'cut', at }) as const),
  ...(['before-commit', 'after-commit'] as const).map((at) => ({ kind: 'cut', at, every: 2 }) as const),
  // As when the process of a connection is killed.
  { kind: 'cut', at: 'transaction', closes: true } as const,
]
/** The others take as long, and break what these break. */
const isUsual = (cut: (typeof cuts)[number]): boolean =>
  cut.at === 'answer' || cut.at.endsWith('-commit') || 'closes' in cut

// Each is a test of its own: after a test that runs out of time the runner ends the server, and all later ones fail.
for (const fault of cuts)
  testIf(isSlow || isUsual(fault), 'takes long: SLUICE_SLOW is not set')(
    `with connections to the database that end at ${JSON.stringify(fault)}, each route works, or fails as it may`,
    async () => {
      const prepared = await prepare(world, fault.at === 'read' ? world.routes : world.routes.filter(isWriting))
      expect(await runFault(world, { dependency: 'database', fault, prepared })).toEqual([])
    },
  )

test.each(upstreams)(
  'with %s slow, or with connections that are reset at any byte, each route works, or fails as it may',
  async (dependency) => {
    const resets = [0, 100, 300].map((afterBytes) => ({ kind: 'reset', afterBytes }) as const)
    const faults = [...partial, ...resets, { kind: 'close', afterBytes: 100 } as const]
    for (const fault of faults) {
      const prepared = await prepare(world, routesWith(dependency, world.routes))
      expect(await runFault(world, { dependency, fault, prepared })).toEqual([])
    }
  },
)

test('with a database that vanishes between two statements, nothing is acknowledged that is not written', async () => {
  const writing = world.routes.filter(isWriting)
  for (const afterBytes of [120, 250, 500]) {
    const fault = { kind: 'half-open', afterBytes } as const
    const prepared = await prepare(world, writing)
    expect(await runFault(world, { dependency: 'database', fault, prepared })).toEqual([])
  }
})
