/** Runs with `--all`: suspends databases of running servers. */
import { expect, test } from 'bun:test'
import { postgresServer } from '../support/database.ts'
import { openServerFixture } from '../support/server-fixture.ts'

test('with a frozen database requests get the documented 500, the process stays alive, and requests succeed again without a restart', async () => {
  await using fixture = await openServerFixture('postgres')
  const ann = await fixture.addUser('ann')
  const server = await fixture.start()
  const user = ann.at(server)
  expect((await user.ask('POST', '/assets/groups', { Name: 'before' })).status).toBe(200)

  const thaw = await (await postgresServer()).freeze()
  try {
    const rejected = await user.ask('POST', '/assets/groups', { Name: 'during' })
    expect(rejected.status).toBe(500)
    expect(rejected.json).toEqual({
      success: false,
      error: { message: expect.any(String), type: 'media_proxy_error' },
    })
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    const ready = await fetch(`${server.url}/readyz`)
    expect(ready.status).toBe(503)
    expect(await ready.json()).toMatchObject({ database: 'down' })
  } finally {
    thaw()
  }

  let status = 500
  for (let tries = 0; tries < 50 && status === 500; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    status = (await user.ask('POST', '/assets/groups', { Name: 'after' })).status
  }
  expect(status).toBe(200)
  expect(fixture.emulator.library.groups().map((group) => group.name)).not.toContain('during')
}, 60_000)

test('a server that starts without a reachable database waits for it', async () => {
  await using fixture = await openServerFixture('postgres')
  const ann = await fixture.addUser('ann')
  const thaw = await (await postgresServer()).freeze()
  const starting = fixture.start()
  try {
    const server = await starting
    expect((await fetch(`${server.url}/readyz`)).status).toBe(503)
    expect((await ann.at(server).ask('GET', '/assets/groups')).status).toBe(500)
  } finally {
    thaw()
  }
  const server = await starting
  let status = 500
  for (let tries = 0; tries < 100 && status === 500; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    status = (await ann.at(server).ask('GET', '/assets/groups')).status
  }
  expect(status).toBe(200)
}, 60_000)
