import { expect, setDefaultTimeout, test } from 'bun:test'
import { DatabaseSync } from 'node:sqlite'
import { login, openFixture } from '../server/fixture.ts'

setDefaultTimeout(300_000)

const image = { URL: 'https://files.example/a.png', AssetType: 'Image' }

test('a database that is restored from a backup knows what it knew then, and the rest is as the page says', async () => {
  await using fixture = await openFixture('sqlite')
  const { emulator, store, environment } = fixture
  await fixture.addPerson('pia')
  const ann = await fixture.addUser('ann')
  const before = ann.at(await fixture.start())
  const create = async (user: typeof before, name: string, headers = {}) => {
    const { status, json } = await user.ask('POST', '/assets/groups', { Name: name }, headers)
    expect(status).toBe(200)
    return json.Result.Id as string
  }
  const [kept, deleted] = [await create(before, 'kept'), await create(before, 'deleted')]
  const path = environment.DATABASE_URL?.slice('sqlite:'.length) ?? ''
  new DatabaseSync(path).prepare('vacuum into ?').run(`${path}.backup`)

  const [later, key] = [await create(before, 'later'), { 'idempotency-key': 'key-1' }]
  const asset = (await before.ask('POST', '/assets', { GroupId: later, ...image })).json.Result.Id
  const keyed = await create(before, 'keyed', key)
  expect((await before.ask('DELETE', `/assets/groups/${deleted}`)).status).toBe(200)
  const bob = await fixture.addUser('bob')
  await store.setPassword('pia', 'a hash of another password')
  const [token] = await store.listTokens(ann.id)
  await store.revokeToken(token?.id ?? '', Date.now())
  while ((await before.ask('GET', '/assets/groups')).status !== 401) await Bun.sleep(20)

  const server = await fixture.start({ DATABASE_URL: `sqlite:${path}.backup` })
  const user = ann.at(server)
  const statusOf = async (...asked: Parameters<typeof user.ask>) => (await user.ask(...asked)).status
  // Credentials are those of then: what was revoked or changed since works again, and who is new is unknown.
  expect(await statusOf('GET', `/assets/groups/${kept}`)).toBe(200)
  expect((await bob.at(server).ask('GET', '/assets/groups')).status).toBe(401)
  expect((await login(server.url, 'pia')).status).toBe(200)
  // What was created since belongs to nobody.
  expect(await statusOf('GET', `/assets/groups/${later}`)).toBe(403)
  expect(await statusOf('GET', `/assets/${asset}`)).toBe(403)
  expect((await user.ask('GET', '/assets')).json.Result.TotalCount).toBe(0)
  // Its name is free, and a repeated request creates again.
  const [second, repeated] = [await create(user, 'later'), await create(user, 'keyed', key)]
  expect([second, repeated]).not.toContain(later)
  expect(repeated).not.toBe(keyed)
  expect(emulator.library.groups().filter(({ name }) => name === 'later')).toHaveLength(2)
  // What was deleted since is listed, and ends with the next attempt to delete it.
  expect((await user.ask('GET', '/assets/groups')).text).toContain(deleted)
  expect(await statusOf('POST', '/assets', { GroupId: deleted, ...image })).toBe(404)
  expect(await statusOf('DELETE', `/assets/groups/${deleted}`)).toBe(404)
  expect((await user.ask('GET', '/assets/groups')).text).not.toContain(deleted)
})
