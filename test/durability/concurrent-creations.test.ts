import { expect, test } from 'bun:test'
import { repeatedDatabases } from '../support/database.ts'
import { openServerFixture } from '../support/server-fixture.ts'

for (const kind of repeatedDatabases) {
  test(`of 50 concurrent creations of one name in two processes on one database, one reaches the upstream (${kind})`, async () => {
    await using fixture = await openServerFixture(kind)
    const user = await fixture.addUser('ann')
    const servers = await Promise.all([fixture.start(), fixture.start()])
    const replies = await Promise.all(
      Array.from({ length: 25 }, () =>
        servers.map((server) => user.at(server).ask('POST', '/assets/groups', { Name: 'one' })),
      ).flat(),
    )
    const statuses = replies.map((reply) => reply.status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => status === 400)).toHaveLength(49)
    expect(fixture.emulator.calls.filter((call) => call.action === 'CreateAssetGroup')).toHaveLength(1)
  }, 300_000)
}
