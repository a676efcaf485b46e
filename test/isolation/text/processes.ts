import { userAt } from '../../support/gateway.ts'
import { openWorkplace } from '../../support/temporary-files.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'
import { accountOptions, type World } from './fixture.ts'

/** The same with two default servers, each a process of its own. Their time is real: what they know does not expire, and their time limit is a second. */
export const openProcesses = async (database: 'sqlite' | 'postgres'): Promise<World> => {
  const clock = new VirtualClock()
  const place = await openWorkplace(database, { clock: clock.now, text: accountOptions })
  const { emulator } = place
  const environment = {
    ...{ TEXT_UPSTREAM_URL: emulator.text.url, TEXT_UPSTREAM_KEY: emulator.text.key, TEXT_TIMEOUT_SECONDS: '1' },
  }
  const [first, second] = await Promise.all([place.start(environment), place.start(environment)])
  const people = await Promise.all(['ann', 'bob', 'eve'].map((name) => place.addUser(name)))
  return {
    ...{
      emulator,
      clock,
      urls: [first.url, second.url],
      keptMs: Number.POSITIVE_INFINITY,
      bridges: false,
      looksAfter: true,
    },
    users: people.map(({ id, token }) => userAt(first.url, id, token)),
    // It passes by itself.
    timeOut: async () => {},
    async begin() {
      await clock.pass(1_000)
      emulator.faults.clear()
      emulator.text.objects.clear()
      emulator.clearCalls()
    },
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  }
}
