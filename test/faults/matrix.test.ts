import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { unknownEffects } from './effects/index.ts'
import { type Prepared, prepare, routesWith, runFault } from './matrix.ts'
import { missingTests, unusedPatterns } from './outages.ts'
import { requests } from './requests/index.ts'
import { type FaultWorld, openFaultWorld } from './world.ts'

// matrix.all.test.ts has all faults.
setDefaultTimeout(300_000)

let world: FaultWorld
let prepared: Prepared
beforeAll(async () => {
  world = await openFaultWorld()
  prepared = await prepare(world, world.routes)
}, 300_000)
afterAll(() => world[Symbol.asyncDispose]())

test('there is a request for each route of the server, and the page about outages names no other one', () => {
  expect(Object.keys(requests).sort()).toEqual(world.routes.toSorted())
  expect(unusedPatterns(world.routes)).toEqual([])
})

test('of each route that writes it is known how to see what it has written', () => {
  expect(unknownEffects(world.routes)).toEqual([])
})

test('each accident on the page names a test that exists', () => {
  expect(missingTests()).toEqual([])
})

test('without its database each route answers as the page says, and works again when it is back', async () => {
  expect(await runFault(world, { dependency: 'database', fault: { kind: 'refuse' }, prepared })).toEqual([])
})

test('without the upstream of text generation its routes answer as the page says', async () => {
  const concerned = await prepare(world, routesWith('text', world.routes))
  expect(await runFault(world, { dependency: 'text', fault: { kind: 'half-open' }, prepared: concerned })).toEqual([])
})

test('when a fault has ended, all that needs the upstream works at once, also what has failed often', async () => {
  const changing = world.routes.filter((route) => /^(PUT|PATCH|DELETE) .*\/assets\/(groups\/)?\{\}$/.test(route))
  expect(changing).toHaveLength(6)
  const send = (requests: Prepared) =>
    Promise.all([...requests].map(([route, request]) => world.send(route.split(' ')[0] ?? '', request)))
  const [failing, next] = [await prepare(world, changing), await prepare(world, changing)]
  await world.proxies.assets.fail({ kind: 'refuse' })
  // So the circuit of each action of the upstream opens. No other request needs these actions.
  for (let calls = 0; calls < 5; calls++) await send(failing)
  const fault = { dependency: 'assets', fault: { kind: 'refuse' }, prepared: failing } as const
  expect(await runFault(world, fault)).toEqual([])
  expect((await send(next)).map(({ status, text }) => [status, status === 200 ? '' : text])).toEqual(
    changing.map(() => [200, '']),
  )
})
