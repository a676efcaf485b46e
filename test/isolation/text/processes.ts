import { userAt } from '../../support/gateway.ts'
import { openServerFixture } from '../../support/server-fixture.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'
import { accountOptions, type Fixture } from './fixture.ts'

/** The fixture with two default servers in two processes. They use real time: records do not expire, and the timeout is one second. */
export const openProcesses = async (database: 'sqlite' | 'postgres'): Promise<Fixture> => {
  const clock = new VirtualClock()
  const servers = await openServerFixture(database, { clock: clock.now, text: accountOptions })
  const { emulator } = servers
  const environment = {
    ...{ TEXT_UPSTREAM_URL: emulator.text.url, TEXT_UPSTREAM_KEY: emulator.text.key, TEXT_TIMEOUT_SECONDS: '1' },
  }
  const [first, second] = await Promise.all([servers.start(environment), servers.start(environment)])
  const users = await Promise.all(['ann', 'bob', 'eve'].map((name) => servers.addUser(name)))
  return {
    ...{
      emulator,
      clock,
      urls: [first.url, second.url],
      retentionMs: Number.POSITIVE_INFINITY,
      bridges: false,
      polls: true,
    },
    users: users.map(({ id, token }) => userAt(first.url, id, token)),
    // Real time passes without help.
    timeOut: async () => {},
    async reset() {
      await clock.pass(1_000)
      emulator.faults.clear()
      emulator.text.objects.clear()
      emulator.clearCalls()
    },
    [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose](),
  }
}
