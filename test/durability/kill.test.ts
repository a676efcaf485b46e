import { describe, expect, test } from 'bun:test'
import type { User } from '../support/gateway.ts'
import type { ServerProcess } from '../support/server.ts'
import { openWorkplace, type Workplace } from '../support/temporary-files.ts'

const rounds = Number(process.env.SLUICE_KILLS ?? 6)

for (const kind of ['sqlite', 'postgres'] as const) {
  describe(`a gateway that is killed while it creates groups (${kind})`, () => {
    test(
      'loses no group that it acknowledged, and leaves none without its owner',
      async () => {
        await using place = await openWorkplace(kind)
        const history = await createUnderFire(place)
        const server = await place.start(hasty)
        await until(async () => (await place.store.openClaims()).length === 0)
        await audit(history, place, server)
      },
      60_000 + rounds * 5_000,
    )
  })
}

/** Claims fall due after two of these. */
const hasty = { MEDIA_UPSTREAM_TIMEOUT_SECONDS: '1' }

interface Attempt {
  readonly user: Awaited<ReturnType<Workplace['addUser']>>
  readonly name: string
  /** Id that the gateway answered with; undefined when it did not get to it. */
  readonly acknowledged: string | undefined
}

/** Kills one gateway after another at random moments of many creations, some of which the upstream takes its time over. */
const createUnderFire = async (place: Workplace): Promise<readonly Attempt[]> => {
  const history: Attempt[] = []
  const users = await Promise.all(['ann', 'bob', 'cyd'].map((name) => place.addUser(name)))
  const always = { action: 'CreateAssetGroup', times: Number.POSITIVE_INFINITY, probability: 0.5 }
  place.emulator.faults.add({ ...always, kind: 'delay', ms: 30 })
  for (let round = 0; round < rounds; round++) {
    const server = await place.start(hasty)
    let alive = true
    const clients = users.flatMap((user) =>
      [0, 1, 2].map(async (client) => {
        for (let nth = 0; alive; nth++) {
          const name = `${user.id.slice(0, 8)} ${round}.${client}.${nth}`
          const created = await create(user.at(server), name).catch(() => undefined)
          history.push({ user, name, acknowledged: created })
        }
      }),
    )
    await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 250))
    alive = false
    await server.kill('SIGKILL')
    await Promise.all(clients)
  }
  return history
}

const create = async (user: User, name: string): Promise<string | undefined> => {
  const reply = await user.ask('POST', '/assets/groups', { Name: name })
  return reply.status === 200 ? reply.json.Result.Id : undefined
}

const audit = async (
  history: readonly Attempt[],
  { emulator, store }: Workplace,
  server: ServerProcess,
): Promise<void> => {
  const upstream = new Map(emulator.library.groups().map((group) => [group.name, group.id]))
  expect(history.filter((attempt) => attempt.acknowledged).length).toBeGreaterThan(0)
  for (const { user, name, acknowledged } of history) {
    const made = upstream.get(name)
    if (acknowledged) expect(made).toBe(acknowledged)
    const owner = made === undefined ? undefined : (await store.group(made))?.user
    expect(owner).toBe(made === undefined ? undefined : user.id)
    // A name that came to nothing is free again, and one that did not is not.
    const again = await create(user.at(server), name)
    expect(again === undefined).toBe(made !== undefined)
  }
}

const until = async (holds: () => Promise<boolean>): Promise<void> => {
  for (let tries = 0; tries < 300; tries++) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('it does not come to pass')
}
