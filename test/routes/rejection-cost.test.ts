import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'
import { startGateway } from '../support/gateway.ts'
import { kinds, newAsset, newGroup, statusAndText } from './fixture.ts'

/** A store that records its calls, except the periodic reads of the revision. */
const recordCalls = (store: Store) => {
  const storeCalls: string[] = []
  const recording = new Proxy(store, {
    get: (target, name: keyof Store) => {
      if (name === 'revision') return target[name]
      const method = target[name]
      if (typeof method !== 'function') return method
      return (...given: unknown[]) => {
        storeCalls.push(name)
        return (method as (...given: unknown[]) => unknown)(...given)
      }
    },
  })
  return { storeCalls, recording }
}

/** Every request that names an asset or a group, in the path or in the body. */
const waysTo = (kind: 'asset' | 'group', group: string) => (id: string) =>
  kind === 'asset'
    ? ([
        ['GET', `/assets/${id}`],
        ['DELETE', `/assets/${id}`],
        ['PATCH', `/assets/${id}`, { Name: 'b' }],
        ['PUT', `/assets/${id}`, { Name: 'b' }],
      ] as const)
    : ([
        ['GET', `/assets/groups/${id}`],
        ['DELETE', `/assets/groups/${id}`],
        ['PATCH', `/assets/groups/${id}`, { Name: 'b' }],
        ['GET', `/assets?GroupIds=${id}`],
        ['GET', `/assets?GroupIds=${group},${id}`],
        ['GET', `/assets/groups?GroupIds=${id}`],
        ['POST', '/assets', { GroupId: id, URL: 'https://files.example/a.png', AssetType: 'Image' }],
      ] as const)

eachDatabase('a foreign id causes the same work as an unknown one', (database) => {
  // One emulator for all: a second one would repeat the ids.
  let emulator: Emulator
  beforeAll(async () => {
    emulator = await startEmulator({ processingMs: 0 })
  })
  afterAll(() => emulator.stop())

  describe.each(Object.keys(kinds) as (keyof typeof kinds)[])('with an upstream of kind %s', (kind) => {
    const openFixture = async () => {
      const { storeCalls, recording } = recordCalls(await database.open())
      const gateway = await startGateway({ store: recording, emulator, kindOf: kinds[kind] })
      const [ann, bob] = [await gateway.addUser(randomUUID()), await gateway.addUser(randomUUID())]
      const calls = () => gateway.emulator.calls.map(({ action }) => action)
      return { storeCalls, gateway, ann, bob, calls }
    }

    test('in store calls and upstream calls, also when another user has just used it', async () => {
      const { storeCalls, gateway, ann, bob, calls } = await openFixture()
      await using _ = gateway
      const group = await newGroup(bob, 'b')
      const foreignGroup = await newGroup(ann, 'a')
      const recorded = await newAsset(ann, foreignGroup)
      const { id: unrecorded } = gateway.emulator.library.addAsset({ groupId: foreignGroup })
      const gone = await newAsset(ann, foreignGroup)
      expect((await ann.ask('DELETE', `/assets/${gone}`)).status).toBe(200)

      const cost = async (method: string, path: string, body?: object) => {
        storeCalls.length = 0
        gateway.emulator.clearCalls()
        const reply = await bob.ask(method, path, body)
        expect([method, path, reply.status]).toEqual([method, path, 403])
        // A caller cannot see the methods, but their number may show in the time.
        return { response: statusAndText(reply), questions: storeCalls.length, calls: calls() }
      }
      const costs = async (kind: 'asset' | 'group', id: string) => {
        const found = []
        for (const [method, path, body] of waysTo(kind, group)(id)) found.push(await cost(method, path, body))
        return found
      }
      // Warms the cache: the token, the caller's own group, and what is lent to the caller.
      await bob.ask('GET', `/assets?GroupIds=${group}`)
      await bob.ask('GET', '/assets?scope=shared')
      const unknownAsset = await costs('asset', 'asset-20260101000000-none0')
      const unknownGroup = await costs('group', 'group-20260101000000-none0')
      for (const warm of [false, true]) {
        if (warm) {
          await ann.ask('GET', `/assets/${recorded}`)
          await ann.ask('PATCH', `/assets/${unrecorded}`, { Name: 'mine' })
          await ann.ask('GET', `/assets/groups/${foreignGroup}`)
        }
        for (const id of [recorded, unrecorded, gone]) expect(await costs('asset', id)).toEqual(unknownAsset)
        expect(await costs('group', foreignGroup)).toEqual(unknownGroup)
        expect(await costs('asset', 'asset-20260101000000-none0')).toEqual(unknownAsset)
        expect(await costs('group', 'group-20260101000000-none0')).toEqual(unknownGroup)
      }
      // The attempts have not affected the owner.
      expect((await ann.ask('GET', `/assets/${recorded}`)).status).toBe(200)
    })

    test('in asset URLs of a text request', async () => {
      const { storeCalls, gateway, ann, bob, calls } = await openFixture()
      await using _ = gateway
      const foreign = await newAsset(ann, await newGroup(ann, 'a'))
      const cost = async (id: string) => {
        storeCalls.length = 0
        gateway.emulator.clearCalls()
        const content = [{ type: 'image_url', image_url: { url: `asset://${id}` } }]
        const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${bob.token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }),
        })
        expect(reply.status).toBe(403)
        return { text: await reply.text(), questions: storeCalls.length, calls: calls() }
      }
      await cost('asset-20260101000000-none0')
      const unknown = await cost('asset-20260101000000-none0')
      expect(await cost(foreign)).toEqual(unknown)
      await ann.ask('GET', `/assets/${foreign}`)
      expect(await cost(foreign)).toEqual(unknown)
      expect(await cost(foreign)).toEqual(unknown)
    })
  })
})
