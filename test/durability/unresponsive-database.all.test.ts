/** Runs with `--all`: suspends databases of running servers. */
import { expect, test } from 'bun:test'
import { DatabaseSync } from 'node:sqlite'
import { postgresServer } from '../support/database.ts'
import { openServerFixture } from '../support/server-fixture.ts'

/** The deadline of the default server: those of the fixture have a longer one. */
const defaultTimeout = { DATABASE_TIMEOUT_SECONDS: undefined }

test('with a frozen database requests get the documented 500, the process stays alive, and requests succeed again without a restart', async () => {
  await using fixture = await openServerFixture('postgres')
  const ann = await fixture.addUser('ann')
  const server = await fixture.start(defaultTimeout)
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
}, 300_000)

// A claim that nobody ends falls due after a minute, which is longer than this test may take.

test('once another process no longer locks the SQLite file, its names are free, and a group that was created meanwhile has its owner', async () => {
  await using fixture = await openServerFixture('sqlite')
  const ann = await fixture.addUser('ann')
  const user = ann.at(await fixture.start(defaultTimeout))
  const other = new DatabaseSync(fixture.environment.DATABASE_URL?.slice('sqlite:'.length) ?? '')
  // The server may be writing when the lock is asked for.
  other.exec('pragma busy_timeout = 60000')
  other.exec('begin immediate')
  expect((await user.ask('POST', '/assets/groups', { Name: 'locked' })).status).toBe(500)
  other.exec('commit')
  while ((await user.ask('POST', '/assets/groups', { Name: 'locked' })).status !== 200) await Bun.sleep(100)

  const hold = fixture.emulator.faults.add({ kind: 'hold', when: 'after', action: 'CreateAssetGroup' })
  const creating = user.ask('POST', '/assets/groups', { Name: 'made' })
  while (fixture.emulator.library.count().groups < 2) await Bun.sleep(5)
  other.exec('begin immediate')
  hold.release()
  expect((await creating).status).toBe(500)
  other.exec('commit')
  other.close()
  while ((await fixture.store.openClaims()).length > 0) await Bun.sleep(100)
  expect((await user.ask('GET', '/assets/groups')).json.Result.TotalCount).toBe(2)
}, 300_000)

test('a server that starts without a reachable database waits for it', async () => {
  await using fixture = await openServerFixture('postgres')
  const ann = await fixture.addUser('ann')
  const thaw = await (await postgresServer()).freeze()
  const starting = fixture.start(defaultTimeout)
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
}, 300_000)
