import { expect, test } from 'bun:test'
import type { TestDatabase } from '../support/database.ts'
import type { User } from '../support/gateway.ts'
import type { ServerProcess } from '../support/server.ts'
import { openServerFixture, type ServerFixture } from '../support/server-fixture.ts'

/** Declares a test that kills `rounds` gateways while they create groups. */
export const testKills = (kind: TestDatabase['kind'], rounds: number): void =>
  test(
    `a gateway that is killed while it creates groups loses no acknowledged group, and leaves no group without its owner (${kind})`,
    async () => {
      await using fixture = await openServerFixture(kind)
      const history = await createWithKills(fixture, rounds)
      const server = await fixture.start(shortTimeout)
      await waitUntil(async () => (await fixture.store.openClaims()).length === 0)
      await checkOwners(history, fixture, server)
    },
    120_000 + rounds * 5_000,
  )

/** Claims are due after twice this timeout. */
const shortTimeout = { MEDIA_UPSTREAM_TIMEOUT_SECONDS: '1' }

interface Attempt {
  readonly user: Awaited<ReturnType<ServerFixture['addUser']>>
  readonly name: string
  /** Id in the gateway's response. Undefined when there was no response. */
  readonly acknowledged: string | undefined
}

/** Creates groups, and kills one gateway after another at random moments. The upstream delays half of the creations. */
const createWithKills = async (fixture: ServerFixture, rounds: number): Promise<readonly Attempt[]> => {
  const history: Attempt[] = []
  const users = await Promise.all(['ann', 'bob', 'cyd'].map((name) => fixture.addUser(name)))
  fixture.emulator.faults.add({
    ...{ kind: 'delay', ms: 30 },
    ...{ action: 'CreateAssetGroup', times: Number.POSITIVE_INFINITY, probability: 0.5 },
  })
  for (let round = 0; round < rounds; round++) {
    const server = await fixture.start(shortTimeout)
    let alive = true
    const clients = users.flatMap((user) =>
      [0, 1, 2].map(async (client) => {
        for (let index = 0; alive; index++) {
          const name = `${user.id.slice(0, 8)} ${round}.${client}.${index}`
          const created = await create(user.at(server), name).catch(() => undefined)
          history.push({ user, name, acknowledged: created })
        }
      }),
    )
    // On a busy machine every kill could come before the first response.
    if (round === 0) await waitUntil(async () => history.some(({ acknowledged }) => acknowledged !== undefined))
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

const checkOwners = async (
  history: readonly Attempt[],
  { emulator, store }: ServerFixture,
  server: ServerProcess,
): Promise<void> => {
  const upstream = new Map(emulator.library.groups().map((group) => [group.name, group.id]))
  expect(history.filter((attempt) => attempt.acknowledged).length).toBeGreaterThan(0)
  for (const { user, name, acknowledged } of history) {
    const groupId = upstream.get(name)
    if (acknowledged) expect(groupId).toBe(acknowledged)
    const owner = groupId === undefined ? undefined : (await store.group(groupId))?.user
    expect(owner).toBe(groupId === undefined ? undefined : user.id)
    // The name is free if and only if the upstream has no such group.
    const again = await create(user.at(server), name)
    expect(again === undefined).toBe(groupId !== undefined)
  }
}

const waitUntil = async (condition: () => Promise<boolean>): Promise<void> => {
  for (let tries = 0; tries < 300; tries++) {
    if (await condition()) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('the condition was not met in time')
}
