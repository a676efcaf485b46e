/** Runs with `--all`: kills and concurrent processes during face checks. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { checkRemoteServer } from '../support/checked-servers.ts'
import { userAt } from '../support/gateway.ts'
import type { ServerProcess } from '../support/server.ts'
import { arkOf, type Browser, browse, type Fixture, faces, newToken, openFixture, send } from './fixture.ts'

const rounds = 12

describe.each(['rest', 'ark'] as const)('two servers on PostgreSQL, with an upstream of kind %s', (kind) => {
  let fixture: Fixture
  let servers: readonly [ServerProcess, ServerProcess]
  beforeAll(async () => {
    fixture = await openFixture('postgres')
    const environment = kind === 'ark' ? arkOf(fixture) : {}
    servers = [await fixture.start(environment), await fixture.start(environment)]
    // One test makes the upstream send a result without its id.
    for (const { url } of servers) await checkRemoteServer(url, { hasCallback: kind === 'ark', checked: 'own' })
  }, 300_000)
  afterAll(() => fixture[Symbol.asyncDispose]())

  const addPerson = async (name: string): Promise<Browser & { id: string }> => {
    const id = await fixture.addPerson(name)
    return { ...(await browse(servers[0], name)), id }
  }
  const startVerification = async (by: Browser, at = servers[0]) => {
    const { json } = await by.ask('POST', faces, {}, {}, at)
    return { id: json.verification_id as string, token: fixture.emulator.face.sessions().at(-1)?.bytedToken ?? '' }
  }
  const poll = (by: Browser, id: string, at: ServerProcess) => by.ask('GET', `${faces}/${id}`, undefined, {}, at)
  const visit = (url: URL, at: string) => send(at, 'GET', url.pathname + url.search)

  test('record one group for one owner, with concurrent polls and callbacks', async () => {
    const ann = await addPerson('ann')
    for (let round = 0; round < rounds; round++) {
      const { id, token } = await startVerification(ann, servers[round % 2])
      const before = (await fixture.store.groupsOf(ann.id)).length
      const callback = new URL(fixture.emulator.face.finish(token, 'succeed') ?? '')
      const calls = [
        () => poll(ann, id, servers[0]),
        () => visit(callback, kind === 'ark' ? (servers[round % 2]?.url ?? '') : callback.origin),
        () => poll(ann, id, servers[1]),
        () => visit(callback, kind === 'ark' ? (servers[(round + 1) % 2]?.url ?? '') : callback.origin),
        () => poll(ann, id, servers[0]),
        () => poll(ann, id, servers[1]),
      ]
      const replies = await Promise.all(
        calls.map(async (call, nth) => {
          await Bun.sleep((nth * round) % 7)
          return call()
        }),
      )
      expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
      const groups = await Promise.all(
        servers.map(async (server) => {
          for (;;) {
            const { json } = await poll(ann, id, server)
            if (json.status === 'verified') return json.group_id
            await Bun.sleep(20)
          }
        }),
      )
      expect(new Set(groups).size).toBe(1)
      expect((await fixture.store.groupsOf(ann.id)).length).toBe(before + 1)
      expect((await fixture.store.group(groups[0]))?.user).toBe(ann.id)
    }
  }, 300_000)

  test('record a group that the upstream reports to two users for one of them, permanently', async () => {
    const [bob, eve] = [await addPerson('bob'), await addPerson('eve')]
    for (let round = 0; round < rounds / 2; round++) {
      const group = fixture.emulator.library.addGroup({ name: `shared ${round}`, type: 'LivenessFace' }).id
      const tasks = [await startVerification(bob), await startVerification(eve, servers[1])]
      const callbacks = tasks.map(({ token }) => new URL(fixture.emulator.face.finish(token, 'succeed') ?? ''))
      const result = kind === 'ark' ? { Result: { GroupId: group } } : { status: 'verified', group_id: group }
      const fault = fixture.emulator.faults.add({
        kind: 'status',
        status: 200,
        body: JSON.stringify(result),
        action: 'GetVisualValidateResult',
        times: Number.POSITIVE_INFINITY,
      })
      if (kind === 'ark') await Promise.all(callbacks.map((url, nth) => visit(url, servers[nth % 2]?.url ?? '')))
      const polls = await Promise.all(
        [bob, eve].flatMap((by, nth) => servers.map((server) => poll(by, tasks[nth]?.id ?? '', server))),
      )
      const responsesWithGroup = (nth: number) =>
        polls.slice(nth * 2, nth * 2 + 2).filter(({ text }) => text.includes(group)).length
      expect([responsesWithGroup(0), responsesWithGroup(1)].filter((count) => count > 0)).toHaveLength(1)
      const owner = (await fixture.store.group(group))?.user
      expect(owner).toBe(responsesWithGroup(0) > 0 ? bob.id : eve.id)
      await Promise.all(
        [0, 1].flatMap((nth) => servers.map((server) => poll([bob, eve][nth] ?? bob, tasks[nth]?.id ?? '', server))),
      )
      fault.remove()
      expect((await fixture.store.group(group))?.user).toBe(owner ?? '')
    }
  }, 300_000)

  test('accept assets for a new group at once, whichever of them has recorded it', async () => {
    const kim = await addPerson('kim')
    const { token } = await newToken(kim)
    const [first, second] = servers.map(({ url }) => userAt(url, kim.id, token))
    for (let round = 0; round < 3; round++) {
      const before = await second?.ask('GET', '/assets/groups?GroupType=LivenessFace')
      expect(before?.json.Result.TotalCount).toBe(round)
      const task = await startVerification(kim)
      const callback = new URL(fixture.emulator.face.finish(task.token, 'succeed') ?? '')
      await visit(callback, kind === 'ark' ? servers[0].url : callback.origin)
      let group: string | undefined
      while (group === undefined) group = (await poll(kim, task.id, servers[0])).json.group_id
      const picture = {
        GroupId: group,
        GroupType: 'LivenessFace',
        URL: 'https://files.example/a.png',
        AssetType: 'Image',
      }
      for (const caller of [second, first]) {
        expect((await caller?.ask('POST', '/assets', picture))?.status).toBe(200)
        expect((await caller?.ask('GET', '/assets/groups?GroupType=LivenessFace'))?.json.Result.TotalCount).toBe(
          round + 1,
        )
      }
    }
  })
})
