import { expect, setDefaultTimeout, test } from 'bun:test'
import { startEmulator } from '../../../src/emulator/index.ts'
import type { TestDatabase } from '../../support/database.ts'
import { repetitions } from '../../support/repetitions.ts'
import type { Runtime } from '../../support/server.ts'
import { openServerFixture } from '../../support/server-fixture.ts'
import { until } from '../../support/until.ts'
import { MODEL, media } from '../../video-generation/fixture.ts'
import { ownIdIn } from '../fixture.ts'
import { addUploaded, detailOf } from '../requests.ts'

setDefaultTimeout(300_000)

test.each(repetitions<readonly [Runtime, TestDatabase['kind']]>(['bun', 'sqlite'], ['deno', 'postgres']))(
  'the default server on %s with %s has more assets than slots on each of two accounts, and makes videos of them there',
  async (runtime, kind) => {
    await using second = await startEmulator({ processingMs: 0, account: 1, video: { queuedMs: 0 } })
    await using fixture = await openServerFixture(kind, { video: { queuedMs: 0 } })
    const first = fixture.emulator
    const accounts = [
      { name: 'one', url: first.rest.url, keyEnv: 'ONE_KEY' },
      {
        name: 'two',
        url: second.rest.url,
        keyEnv: 'TWO_KEY',
        slots: 2,
        videoUrl: second.video.url,
        videoKeyEnv: 'VIDEO',
      },
    ]
    const server = await fixture.start(
      {
        ...{ MEDIA_UPSTREAM_URL: undefined, MEDIA_UPSTREAM_KEY: undefined, MEDIA_ASSET_SLOTS: '1' },
        ...{ MEDIA_UPSTREAMS: JSON.stringify(accounts), ONE_KEY: first.rest.key, TWO_KEY: second.rest.key },
        ...{ VIDEO: second.video.key, VIDEO_UPSTREAM_URL: first.video.url, VIDEO_UPSTREAM_KEY: first.video.key },
      },
      runtime,
    )
    const user = await fixture.addUser('ann')
    const ann = user.at(server)
    const headers = { authorization: `Bearer ${user.token}`, 'content-type': 'application/json' }
    const emulators = [first, second]
    const ids: string[][] = []
    for (const [index, { library }] of emulators.entries()) {
      const name = accounts[index]?.name ?? ''
      const { id: group } = library.addGroup({ name })
      await fixture.store.adoptGroup({ id: group, user: user.id, type: 'AIGC', name, account: name, createdAt: index })
      const own: string[] = []
      for (const at of [0, 1, 2]) {
        const id = await addUploaded(server.url, ann, group, `${name}${at}`)
        await until(async () => (await detailOf(ann, id)).Status === 'Active')
        own.push(id)
      }
      ids.push(own)
    }
    expect(emulators.map(({ library }) => library.assets().length)).toEqual([1, 2])
    const { Items, TotalCount } = (await ann.ask('GET', '/assets?PageSize=100')).json.Result
    expect(TotalCount).toBe(6)
    expect(Items.map(({ Id }: { Id: string }) => Id).toSorted()).toEqual(ids.flat().toSorted())
    for (const [index, own] of ids.entries()) {
      // The one that has lost its slot first.
      const content = [media('image', `asset://${own[0]}`, 'reference_image')]
      const init = { method: 'POST', headers, body: JSON.stringify({ model: MODEL, content }) }
      const response = await fetch(`${server.url}/api/v3/contents/generations/tasks`, init)
      expect(response.status).toBe(200)
      const { library, video } = emulators[index] ?? first
      await until(() => video.tasks().length === 1)
      expect(library.assets().map(({ name }) => ownIdIn(name))).toContain(own[0] ?? '')
    }
    expect(emulators.map(({ library }) => library.assets().length)).toEqual([1, 2])
  },
)
