import { expect, setDefaultTimeout, test } from 'bun:test'
import { startEmulator } from '../../src/emulator/index.ts'
import { openServerFixture } from '../support/server-fixture.ts'

setDefaultTimeout(300_000)

const image = { URL: 'https://files.example/a.png', AssetType: 'Image' }

test('after somebody has emptied the upstream account, groups stay until they are deleted, and assets are gone', async () => {
  await using fixture = await openServerFixture('sqlite')
  await using emptied = await startEmulator({ processingMs: 0 })
  const ann = await fixture.addUser('ann')
  const first = await fixture.start()
  const before = ann.at(first)
  const group = (await before.ask('POST', '/assets/groups', { Name: 'cats' })).json.Result.Id
  const asset = (await before.ask('POST', '/assets', { GroupId: group, ...image })).json.Result.Id
  await first.kill('SIGTERM')

  const server = await fixture.start({ MEDIA_UPSTREAM_URL: emptied.rest.url })
  const user = ann.at(server)
  const statusOf = async (...asked: Parameters<typeof user.ask>) => (await user.ask(...asked)).status
  expect((await user.ask('GET', '/assets/groups')).json.Result).toMatchObject({ TotalCount: 1, Items: [{ Id: group }] })
  expect(await statusOf('GET', `/assets/groups/${group}`)).toBe(200)
  expect((await user.ask('GET', '/assets')).json.Result.TotalCount).toBe(0)
  expect(await statusOf('GET', `/assets/${asset}`)).toBe(404)
  expect(await statusOf('POST', '/assets', { GroupId: group, ...image })).toBe(404)
  expect(await statusOf('PATCH', `/assets/groups/${group}`, { Name: 'dogs' })).toBe(404)
  // The name is taken, until the group is deleted: the answer is the upstream's, and the record is gone.
  expect(await statusOf('POST', '/assets/groups', { Name: 'cats' })).toBe(400)
  expect(await statusOf('DELETE', `/assets/groups/${group}`)).toBe(404)
  expect((await user.ask('GET', '/assets/groups')).json.Result.TotalCount).toBe(0)
  expect(await statusOf('POST', '/assets/groups', { Name: 'cats' })).toBe(200)
})
