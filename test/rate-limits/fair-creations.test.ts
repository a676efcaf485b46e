import { expect, test } from 'bun:test'
import { startGateway } from '../support/gateway.ts'

test('a creation does not wait for all creations of a busier user', async () => {
  await using gateway = await startGateway({ limits: { perSecond: { CreateAssetGroup: 4 }, queueMs: 20_000 } })
  const busy = await gateway.addUser('busy')
  const rare = await gateway.addUser('rare')
  const many = Array.from({ length: 10 }, (_, nth) => busy.ask('POST', '/assets/groups', { Name: `busy ${nth}` }))
  await many[0]
  const replies = await Promise.all([...many, rare.ask('POST', '/assets/groups', { Name: 'rare' })])
  expect(replies.map((reply) => reply.status)).toEqual(replies.map(() => 200))
  const names = gateway.emulator.library.groups().map((group) => group.name)
  expect(names.indexOf('rare')).toBeLessThanOrEqual(6)
}, 300_000)
