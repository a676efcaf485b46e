import { describe, expect, test } from 'bun:test'
import { createToken, hashToken } from '../../plugins/api-token/index.ts'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { freshDatabase } from '../support/database.ts'
import { type User, userAt } from '../support/gateway.ts'
import { startServer } from '../support/server.ts'

const rounds = Number(process.env.SLUICE_KILLS ?? 6)

for (const kind of ['sqlite', 'postgres'] as const) {
  describe(`a gateway that is killed while it creates groups (${kind})`, () => {
    test(
      'loses no group that it acknowledged, and leaves none without its owner',
      async () => {
        const database = await freshDatabase(kind)
        const emulator = await startEmulator({ limits: {} })
        const store = openStore(database.url)
        await store.migrate()
        try {
          const history = await createUnderFire(emulator, store, database.url)
          const server = await startServer(environment(emulator, database.url))
          try {
            await until(async () => (await store.openClaims()).length === 0)
            await audit(history, emulator, store, server.url)
          } finally {
            await server.kill('SIGKILL')
          }
        } finally {
          await store.close()
          await emulator.stop()
          await database.remove()
        }
      },
      60_000 + rounds * 5_000,
    )
  })
}

const environment = (emulator: Emulator, url: string) => ({
  DATABASE_URL: url,
  MEDIA_UPSTREAM_URL: emulator.rest.url,
  MEDIA_UPSTREAM_KEY: emulator.rest.key,
  MEDIA_UPSTREAM_TIMEOUT_SECONDS: '1',
})

interface Attempt {
  readonly user: { readonly id: string; readonly token: string }
  readonly name: string
  /** Id that the gateway answered with; undefined when it did not get to it. */
  readonly acknowledged: string | undefined
}

/** Kills one gateway after another at random moments of many creations, some of which the upstream takes its time over. */
const createUnderFire = async (emulator: Emulator, store: Store, url: string): Promise<readonly Attempt[]> => {
  const history: Attempt[] = []
  const users = await Promise.all(['ann', 'bob', 'cyd'].map((name) => addUser(store, name)))
  emulator.faults.add({
    kind: 'delay',
    action: 'CreateAssetGroup',
    ms: 30,
    times: Number.POSITIVE_INFINITY,
    probability: 0.5,
  })
  for (let round = 0; round < rounds; round++) {
    const server = await startServer(environment(emulator, url))
    let alive = true
    const clients = users.flatMap((user) =>
      [0, 1, 2].map(async (client) => {
        for (let nth = 0; alive; nth++) {
          const name = `${user.id.slice(0, 8)} ${round}.${client}.${nth}`
          const reply = await userAt(server.url, user.id, user.token)
            .ask('POST', '/assets/groups', { Name: name })
            .catch(() => undefined)
          history.push({ user, name, acknowledged: reply?.status === 200 ? reply.json.Result.Id : undefined })
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

const audit = async (history: readonly Attempt[], emulator: Emulator, store: Store, url: string): Promise<void> => {
  const upstream = new Map(emulator.library.groups().map((group) => [group.name, group.id]))
  expect(history.filter((attempt) => attempt.acknowledged).length).toBeGreaterThan(0)
  for (const { user, name, acknowledged } of history) {
    const made = upstream.get(name)
    if (acknowledged) expect(made).toBe(acknowledged)
    const owner = made === undefined ? undefined : (await store.group(made))?.user
    expect(owner).toBe(made === undefined ? undefined : user.id)
  }
  const unmade = history.find((attempt) => !upstream.has(attempt.name))
  for (const attempt of unmade ? [unmade] : []) {
    const retry = await userAt(url, attempt.user.id, attempt.user.token).ask('POST', '/assets/groups', {
      Name: attempt.name,
    })
    expect(retry.status).toBe(200)
  }
}

const addUser = async (store: Store, name: string): Promise<Pick<User, 'id' | 'token'>> => {
  const id = (await store.addUser({ name, createdAt: Date.now() })) ?? ''
  const token = createToken()
  await store.addToken({ user: id, hash: hashToken(token), start: token.slice(0, 9), createdAt: Date.now() })
  return { id, token }
}

const until = async (holds: () => Promise<boolean>): Promise<void> => {
  for (let tries = 0; tries < 300; tries++) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('it does not come to pass')
}
