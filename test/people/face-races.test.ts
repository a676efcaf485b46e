import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { userAt } from '../support/gateway.ts'
import type { ServerProcess } from '../support/server.ts'
import { arkOf, type Browser, browse, faces, newToken, type Office, openOffice, send } from './fixture.ts'

const rounds = 12

describe.each(['rest', 'ark'] as const)('two servers on PostgreSQL, before an upstream of kind %s', (kind) => {
  let office: Office
  let servers: readonly [ServerProcess, ServerProcess]
  beforeAll(async () => {
    office = await openOffice('postgres')
    const environment = kind === 'ark' ? arkOf(office) : {}
    servers = [await office.start(environment), await office.start(environment)]
  }, 60_000)
  afterAll(() => office[Symbol.asyncDispose]())

  const person = async (name: string): Promise<Browser & { id: string }> => {
    const id = await office.addPerson(name)
    return { ...(await browse(servers[0], name)), id }
  }
  const begin = async (by: Browser, at = servers[0]) => {
    const { json } = await by.ask('POST', faces, {}, {}, at)
    return { id: json.verification_id as string, token: office.emulator.face.sessions().at(-1)?.bytedToken ?? '' }
  }
  const look = (by: Browser, id: string, at: ServerProcess) => by.ask('GET', `${faces}/${id}`, undefined, {}, at)
  const visit = (url: URL, at: string) => send(at, 'GET', url.pathname + url.search)

  test('record one group for one owner, however polls and the callback meet', async () => {
    const ann = await person('ann')
    for (let round = 0; round < rounds; round++) {
      const { id, token } = await begin(ann, servers[round % 2])
      const before = (await office.store.groupsOf(ann.id)).length
      const callback = new URL(office.emulator.face.finish(token, 'succeed') ?? '')
      const calls = [
        () => look(ann, id, servers[0]),
        () => visit(callback, kind === 'ark' ? (servers[round % 2]?.url ?? '') : callback.origin),
        () => look(ann, id, servers[1]),
        () => visit(callback, kind === 'ark' ? (servers[(round + 1) % 2]?.url ?? '') : callback.origin),
        () => look(ann, id, servers[0]),
        () => look(ann, id, servers[1]),
      ]
      const replies = await Promise.all(
        calls.map(async (call, nth) => {
          await Bun.sleep((nth * round) % 7)
          return call()
        }),
      )
      expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
      const ends = await Promise.all(
        servers.map(async (server) => {
          for (;;) {
            const { json } = await look(ann, id, server)
            if (json.status === 'verified') return json.group_id
            await Bun.sleep(20)
          }
        }),
      )
      expect(new Set(ends).size).toBe(1)
      expect((await office.store.groupsOf(ann.id)).length).toBe(before + 1)
      expect((await office.store.group(ends[0]))?.user).toBe(ann.id)
    }
  }, 20_000)

  test('give a group that the upstream names to two users to one of them, and never take it away again', async () => {
    const [bob, eve] = [await person('bob'), await person('eve')]
    for (let round = 0; round < rounds / 2; round++) {
      const group = office.emulator.library.addGroup({ name: `shared ${round}`, type: 'LivenessFace' }).id
      const tasks = [await begin(bob), await begin(eve, servers[1])]
      const callbacks = tasks.map(({ token }) => new URL(office.emulator.face.finish(token, 'succeed') ?? ''))
      const lie = kind === 'ark' ? { Result: { GroupId: group } } : { status: 'verified', group_id: group }
      const fault = office.emulator.faults.add({
        kind: 'status',
        status: 200,
        body: JSON.stringify(lie),
        action: 'GetVisualValidateResult',
        times: Number.POSITIVE_INFINITY,
      })
      if (kind === 'ark') await Promise.all(callbacks.map((url, nth) => visit(url, servers[nth % 2]?.url ?? '')))
      const polls = await Promise.all(
        [bob, eve].flatMap((by, nth) => servers.map((server) => look(by, tasks[nth]?.id ?? '', server))),
      )
      const said = (nth: number) => polls.slice(nth * 2, nth * 2 + 2).filter(({ text }) => text.includes(group)).length
      expect([said(0), said(1)].filter((times) => times > 0)).toHaveLength(1)
      const owner = (await office.store.group(group))?.user
      expect(owner).toBe(said(0) > 0 ? bob.id : eve.id)
      await Promise.all(
        [0, 1].flatMap((nth) => servers.map((server) => look([bob, eve][nth] ?? bob, tasks[nth]?.id ?? '', server))),
      )
      fault.remove()
      expect((await office.store.group(group))?.user).toBe(owner ?? '')
    }
  }, 20_000)

  test('both let pictures be put into a new group at once, whichever of them has verified it', async () => {
    const kim = await person('kim')
    const { token } = await newToken(kim)
    const [here, there] = servers.map(({ url }) => userAt(url, kim.id, token))
    for (let round = 0; round < 3; round++) {
      const warm = await there?.ask('GET', '/assets/groups?GroupType=LivenessFace')
      expect(warm?.json.Result.TotalCount).toBe(round)
      const task = await begin(kim)
      const callback = new URL(office.emulator.face.finish(task.token, 'succeed') ?? '')
      await visit(callback, kind === 'ark' ? servers[0].url : callback.origin)
      let group: string | undefined
      while (group === undefined) group = (await look(kim, task.id, servers[0])).json.group_id
      const picture = {
        GroupId: group,
        GroupType: 'LivenessFace',
        URL: 'https://files.example/a.png',
        AssetType: 'Image',
      }
      for (const caller of [there, here]) {
        expect((await caller?.ask('POST', '/assets', picture))?.status).toBe(200)
        expect((await caller?.ask('GET', '/assets/groups?GroupType=LivenessFace'))?.json.Result.TotalCount).toBe(
          round + 1,
        )
      }
    }
  })
})
