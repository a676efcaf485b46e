import { expect, test } from 'bun:test'
import { repetitions } from '../support/repetitions.ts'
import type { Runtime } from '../support/server.ts'
import { openServerFixture } from '../support/server-fixture.ts'

for (const signal of repetitions<'SIGTERM' | 'SIGINT'>('SIGTERM', 'SIGINT')) {
  test(`${signal} lets a request in flight finish, rejects new connections, and exits with status 0`, async () => {
    await using fixture = await openServerFixture()
    const user = await fixture.addUser('ann')
    const server = await fixture.start()
    const hold = fixture.emulator.faults.add({ kind: 'hold', action: 'CreateAssetGroup' })
    const inFlight = user.at(server).ask('POST', '/assets/groups', { Name: 'one' })
    await hold.waitForHits()
    const ended = server.kill(signal)
    let connectionRefused = false
    for (let tries = 0; tries < 100 && !connectionRefused; tries++) {
      connectionRefused = await fetch(`${server.url}/healthz`, { keepalive: false }).then(
        () => false,
        () => true,
      )
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    expect(connectionRefused).toBe(true)
    hold.release()
    expect((await inFlight).status).toBe(200)
    expect(await ended).toBe(0)
  }, 300_000)
}

test('a request that does not finish within DRAIN_SECONDS does not keep the server running', async () => {
  await using fixture = await openServerFixture()
  const user = await fixture.addUser('ann')
  const server = await fixture.start({ DRAIN_SECONDS: '0.2' })
  const hold = fixture.emulator.faults.add({ kind: 'hold', action: 'CreateAssetGroup' })
  const inFlight = user
    .at(server)
    .ask('POST', '/assets/groups', { Name: 'one' })
    .catch(() => undefined)
  await hold.waitForHits()
  expect(await server.kill('SIGTERM')).toBe(0)
  expect(await inFlight).toBe(undefined)
}, 300_000)

test('two workers share one port, and stop together', async () => {
  await using fixture = await openServerFixture()
  const user = await fixture.addUser('ann')
  const server = await fixture.start({ WORKERS: '2' })
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, nth) => user.at(server).ask('POST', '/assets/groups', { Name: `group ${nth}` })),
  )
  expect(replies.every((reply) => reply.status === 200)).toBe(true)
  expect(server.stdout().match(/listening/g)).toHaveLength(1)
  expect(await server.kill('SIGTERM')).toBe(0)
}, 300_000)

for (const [name, runtime, environment] of repetitions<readonly [string, Runtime, Readonly<Record<string, string>>]>(
  ['GET_BODIES=on', 'bun', {}],
  ['GET_BODIES=off', 'bun', { GET_BODIES: 'off' }],
  ['WORKERS=2', 'bun', { WORKERS: '2' }],
  ['Deno', 'deno', {}],
)) {
  test(`a stopping server is not ready at once, and still accepts connections for DRAIN_GRACE_SECONDS (${name})`, async () => {
    await using fixture = await openServerFixture()
    const user = await fixture.addUser('ann')
    const server = await fixture.start({ DRAIN_GRACE_SECONDS: '30', ...environment }, runtime)
    const isReady = async () => (await fetch(`${server.url}/readyz`, { keepalive: false })).status === 200
    expect(await isReady()).toBe(true)
    const ended = server.kill('SIGTERM')
    while (await isReady()) await new Promise(setImmediate)
    const response = await fetch(`${server.url}/readyz`)
    expect([response.status, response.headers.get('connection')]).toEqual([503, 'close'])
    expect(await response.json()).toMatchObject({ status: 'stopping', database: 'ok' })
    // A new connection, and a change.
    expect((await user.at(server).ask('POST', '/assets/groups', { Name: 'late' })).status).toBe(200)
    process.kill(server.pid, 'SIGKILL')
    expect(await ended).toBe(null)
  }, 300_000)
}
