import { expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { assetLibrary } from '../../plugins/asset-library/index.ts'
import { RevisionClock } from '../../plugins/ownership/index.ts'
import { rest } from '../../plugins/upstream-proxy/index.ts'
import { startEmulator } from '../../src/emulator/index.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { chunk, openApp, streaming } from '../text-generation/fixture.ts'

/** The store, with the names of its methods in the order of their calls. */
const recording = (store: Store) => {
  const calls: string[] = []
  const recorded = new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...given: unknown[]) => {
        calls.push(String(name))
        return member.apply(target, given)
      }
    },
  })
  return { store: recorded, taken: () => calls.splice(0) }
}

test('without slots, nothing asks the store or the upstream for more than what it is about', async () => {
  const emulator = await startEmulator({ processingMs: 0 })
  const opened = openStore('sqlite::memory:')
  await opened.migrate()
  const { store, taken } = recording(opened)
  const library = assetLibrary({
    ...{ kind: rest(emulator.rest), store, secrets: ['a secret of the test suite'] },
    identify: () => ({ user: 'ann' }),
    // Its time stands still: on a busy machine, cached values would become old between two requests.
    revisionClock: new RevisionClock((since) => store.revision(since), { clock: { now: () => 0 } }),
  })
  const app = new Elysia().use(library.gateway)
  const ask = async (method: string, path: string, body?: object) => {
    const response = await app.handle(
      new Request(`http://localhost/api/media/proxy${path}`, {
        ...{ method, headers: { 'content-type': 'application/json' } },
        ...(body && { body: JSON.stringify(body) }),
      }),
    )
    const text = await response.text()
    expect(response.status).toBe(200)
    return JSON.parse(text).Result
  }
  const texts = openApp(() => streaming([chunk({ content: 'x' }), chunk({}, 'stop'), '[DONE]']), {
    ...(library.assets && { assets: library.assets }),
  })
  /** The calls of the store and the upstream that a request has made. */
  const costOf = async (request: () => Promise<unknown>) => {
    taken()
    emulator.clearCalls()
    await request()
    return [...taken(), ...emulator.calls.map(({ action }) => action)].join(' ')
  }
  expect([library.assets?.hold, library.authorizedAssets?.place]).toEqual([undefined, undefined])
  let [group, asset] = ['', '']
  const chat = () => {
    const content = [{ type: 'image_url', image_url: { url: `asset://${asset}` } }]
    return texts.post('/chat/completions', { model: 'm', messages: [{ role: 'user', content }] })
  }
  const costs = {
    'create a group': await costOf(async () => {
      group = (await ask('POST', '/assets/groups', { Name: 'g' })).Id
    }),
    'create an asset': await costOf(async () => {
      const wanted = { GroupId: group, Name: 'a', URL: 'https://files.example/a.png', AssetType: 'Image' }
      asset = (await ask('POST', '/assets', wanted)).Id
    }),
    'list assets': await costOf(() => ask('GET', '/assets')),
    'read an asset': await costOf(() => ask('GET', `/assets/${asset}`)),
    'a text request with an asset': await costOf(async () => expect((await chat()).status).toBe(200)),
    'check an asset of a video': await costOf(async () =>
      library.authorizedAssets?.asset('ann', asset, new Request('http://localhost/')),
    ),
    'rename an asset': await costOf(() => ask('PUT', `/assets/${asset}`, { Name: 'b' })),
    'delete an asset': await costOf(() => ask('DELETE', `/assets/${asset}`)),
    'delete a group': await costOf(() => ask('DELETE', `/assets/groups/${group}`)),
  }
  expect(costs).toEqual({
    'create a group': 'claim confirm CreateAssetGroup',
    'create an asset': 'revision group recordAsset CreateAsset',
    'list assets': 'groupsOf ListAssets',
    'read an asset': 'GetAsset',
    'a text request with an asset': '',
    'check an asset of a video': '',
    'rename an asset': 'UpdateAsset',
    'delete an asset': 'markAssetDeleted DeleteAsset',
    'delete a group': 'removeGroup DeleteAssetGroup',
  })
  expect(texts.asked.map(({ json }) => json.messages[0].content[0].image_url.url)).toEqual([`asset://${asset}`])
  await opened.close()
  await emulator.stop()
})
