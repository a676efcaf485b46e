/** Runs with `--all`: kills processes and waits for the ends of leases, on both runtimes. */
import { describe, expect, test } from 'bun:test'
import { createToken, hashToken } from '../../plugins/api-token/index.ts'
import { databaseNames, type TestDatabase } from '../support/database.ts'
import type { Reply, User } from '../support/gateway.ts'
import type { Runtime, ServerProcess } from '../support/server.ts'
import { openServerFixture, type ServerFixture } from '../support/server-fixture.ts'

const rounds = Number(process.env.SLUICE_KILLS ?? 4)

/** A key is held for twice this time. */
const shortTimeout = { MEDIA_UPSTREAM_TIMEOUT_SECONDS: '1' }

const createGroup = (user: User, key: string, name = key): Promise<Reply> =>
  user.ask('POST', '/assets/groups', { Name: name }, { 'idempotency-key': key })

const createAsset = (user: User, key: string, group: string): Promise<Reply> =>
  user.ask(
    ...(['POST', '/assets'] as const),
    { GroupId: group, Name: key, URL: 'https://files.example/a.png', AssetType: 'Image' },
    { 'idempotency-key': key },
  )

/** Repeats a creation as a client does, until its outcome is known. */
const repeat = async (create: () => Promise<Reply>): Promise<Reply> => {
  for (;;) {
    const reply = await create()
    const isFinal = reply.status === 503 && reply.text.includes('look before')
    if (isFinal || ![409, 502, 503].includes(reply.status)) return reply
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** Each database and each runtime once: a test waits for the end of a lease. */
const cases: readonly (readonly [TestDatabase['kind'], Runtime])[] = [
  ['sqlite', 'bun'],
  ['postgres', 'deno'],
]

describe.each(cases)('an Idempotency-Key on %s, on %s, when the process is killed', (kind, runtime) => {
  /** Kills a server while the upstream holds a creation, and starts another one. */
  const crash = async (
    fixture: ServerFixture,
    action: 'CreateAssetGroup' | 'CreateAsset',
    when: 'before' | 'after',
    create: (server: ServerProcess) => Promise<Reply>,
  ) => {
    const server = await fixture.start(shortTimeout, runtime)
    const hold = fixture.emulator.faults.add({ kind: 'hold', when, action })
    const lost = create(server).catch(() => 'lost')
    await hold.waitForHits()
    await server.kill('SIGKILL')
    expect(await lost).toBe('lost')
    // Without this, the emulator forgets the call.
    if (when === 'after') hold.release()
    return fixture.start(shortTimeout, runtime)
  }

  test('while a group is created: the repetition gets the group that was created', async () => {
    await using fixture = await openServerFixture(kind)
    const ann = await fixture.addUser('ann')
    const next = await crash(fixture, 'CreateAssetGroup', 'after', (server) => createGroup(ann.at(server), 'k'))
    const reply = await repeat(() => createGroup(ann.at(next), 'k'))
    const [group, ...others] = fixture.emulator.library.groups()
    expect([reply.status, reply.json, others]).toEqual([200, { Result: { Id: group?.id } }, []])
    expect(reply.headers.get('idempotent-replayed')).toBe('true')
    expect((await ann.at(next).ask('GET', `/assets/groups/${group?.id}`)).status).toBe(200)
  }, 300_000)

  test('while an asset is created: the repetition creates no second one', async () => {
    await using fixture = await openServerFixture(kind)
    const ann = await fixture.addUser('ann')
    let group = ''
    const next = await crash(fixture, 'CreateAsset', 'after', async (server) => {
      group = (await createGroup(ann.at(server), 'group')).json.Result.Id
      return createAsset(ann.at(server), 'k', group)
    })
    const reply = await repeat(() => createAsset(ann.at(next), 'k', group))
    expect([reply.status, fixture.emulator.library.assets(group).length]).toEqual([503, 1])
  }, 300_000)

  test('before an asset was created: the repetition creates it', async () => {
    await using fixture = await openServerFixture(kind)
    const ann = await fixture.addUser('ann')
    let group = ''
    const next = await crash(fixture, 'CreateAsset', 'before', async (server) => {
      group = (await createGroup(ann.at(server), 'group')).json.Result.Id
      return createAsset(ann.at(server), 'k', group)
    })
    const reply = await repeat(() => createAsset(ann.at(next), 'k', group))
    const [asset, ...others] = fixture.emulator.library.assets(group)
    expect([reply.status, reply.json.Result.Id, others]).toEqual([200, asset?.id, []])
  }, 300_000)
})

test('what an operator creates exists once, whenever the process was killed', async () => {
  await using fixture = await openServerFixture('sqlite')
  const { store } = fixture
  const root = await store.addAdminUser({ name: 'root', role: 'admin', createdAt: Date.now() })
  if (typeof root === 'string') throw new Error(root)
  const secret = createToken()
  const token = {
    hash: hashToken(secret),
    start: secret.slice(0, 9),
    scopes: ['admin'],
    createdAt: Date.now(),
  } as const
  await store.addUserToken(root.id, token)
  let server = await fixture.start()
  const send = async (path: string, key: string, body: object) => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json', 'idempotency-key': key }
    const url = `${server.url}/api/admin${path}`
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: response.status, text: await response.text() }
  }
  for (let round = 0; round < rounds / 2; round++) {
    // The hash of a password takes some time, so that a kill comes before some are written.
    const creations = Array.from({ length: 8 }, (_, nth) => `${round}-${nth}`).flatMap((name) => [
      { kind: 'user', path: '/users', name: `user-${name}`, body: { password: 'a long enough password' } },
      { kind: 'team', path: '/teams', name: `team-${name}`, body: {} },
    ])
    const sending = creations.map(({ path, name, body }) =>
      send(path, name, { ...body, name }).catch(() => ({ status: 0, text: '' })),
    )
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 400))
    await server.kill('SIGKILL')
    const first = await Promise.all(sending)
    server = await fixture.start()
    for (const [nth, { kind, path, name, body }] of creations.entries()) {
      let reply = await send(path, name, { ...body, name })
      while ([409, 503].includes(reply.status)) {
        expect([name, reply.text]).toEqual([
          name,
          expect.stringContaining('an earlier request with this Idempotency-Key'),
        ])
        await new Promise((resolve) => setTimeout(resolve, 200))
        reply = await send(path, name, { ...body, name })
      }
      const found = kind === 'user' ? await store.adminUserByName(name) : await store.teamByName(name)
      expect([name, reply.status, JSON.parse(reply.text)[kind].id]).toEqual([name, 200, found?.id])
      const { status, text } = first[nth] ?? { status: 0, text: '' }
      if (status === 200) expect(JSON.parse(text)[kind].id).toBe(found?.id)
    }
  }
}, 600_000)

for (const kind of databaseNames) {
  test(
    `clients that repeat their creations over kills never create twice (${kind})`,
    async () => {
      await using fixture = await openServerFixture(kind)
      const { emulator } = fixture
      const users = await Promise.all(['ann', 'bob', 'cyd'].map((name) => fixture.addUser(name)))
      let server = await fixture.start(shortTimeout)
      const owned = await Promise.all(
        users.map(async (user) => (await createGroup(user.at(server), 'assets')).json.Result.Id as string),
      )
      emulator.faults.add({
        ...{ kind: 'delay', ms: 30 },
        ...{ times: Number.POSITIVE_INFINITY, probability: 0.5 },
      })
      let isOver = false
      const known: { key: string; group: string; reply: Reply }[] = []
      const clients = users.flatMap((user, index) =>
        ['groups', 'assets'].map(async (what, client) => {
          for (let count = 0; !isOver; count++) {
            const [key, group = ''] = [`${index}.${client}.${count}`, owned[index]]
            const send = () =>
              (what === 'groups' ? createGroup : createAsset)(user.at(server), key, what === 'groups' ? key : group)
            // A killed server resets its connections. The client goes on with the next one.
            const reply = await repeat(() => send().catch(() => ({ status: 502, text: '' }) as Reply))
            known.push({ key, group: what === 'groups' ? '' : group, reply })
          }
        }),
      )
      for (let round = 0; round < rounds; round++) {
        await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 300))
        await server.kill('SIGKILL')
        server = await fixture.start(shortTimeout)
      }
      // However busy the machine is.
      while (known.length <= 6) await new Promise((resolve) => setTimeout(resolve, 20))
      isOver = true
      await Promise.all(clients)
      expect(known.length).toBeGreaterThan(6)
      for (const { key, group, reply } of known) {
        const made = group
          ? emulator.library.assets(group).filter(({ name }) => name === key)
          : emulator.library.groups().filter(({ name }) => name === key)
        expect([key, made.length]).toEqual([key, Math.min(made.length, 1)])
        // Only the outcome of an asset may stay unknown.
        expect([key, reply.status]).toEqual([key, group && reply.status === 503 ? 503 : 200])
        if (reply.status === 200) expect([key, made[0]?.id]).toEqual([key, reply.json.Result.Id])
      }
    },
    60_000 + rounds * 15_000,
  )
}
