import { expect, setDefaultTimeout, test } from 'bun:test'
import { startEmulator } from '../../src/emulator/index.ts'
import type { TestDatabase } from '../support/database.ts'
import { repetitions } from '../support/repetitions.ts'
import type { Runtime } from '../support/server.ts'
import { openServerFixture } from '../support/server-fixture.ts'
import { MODEL, media } from '../video-generation/fixture.ts'

setDefaultTimeout(300_000)

const none = { MEDIA_UPSTREAM_URL: undefined, MEDIA_UPSTREAM_KEY: undefined }

test.each(repetitions<readonly [Runtime, TestDatabase['kind']]>(['bun', 'sqlite'], ['deno', 'postgres']))(
  'the default server on %s with %s keeps groups, lists and videos on their accounts',
  async (runtime, kind) => {
    await using second = await startEmulator({ processingMs: 0, account: 1 })
    await using fixture = await openServerFixture(kind, { video: { queuedMs: 0 } })
    const first = fixture.emulator
    const accounts = [
      { name: 'cn-1', url: first.rest.url, keyEnv: 'CN_1_KEY' },
      { name: 'cn-2', url: second.rest.url, keyEnv: 'CN_2_KEY', videoUrl: second.video.url, videoKeyEnv: 'CN_2_VIDEO' },
    ]
    const server = await fixture.start(
      {
        ...{ ...none, MEDIA_UPSTREAMS: JSON.stringify(accounts), CN_1_KEY: first.rest.key, CN_2_KEY: second.rest.key },
        ...{ CN_2_VIDEO: second.video.key, VIDEO_UPSTREAM_URL: first.video.url, VIDEO_UPSTREAM_KEY: first.video.key },
      },
      runtime,
    )
    const user = await fixture.addUser('ann')
    const ann = user.at(server)
    // From before there were several accounts: its record names none.
    const { id: old } = first.library.addGroup({ name: 'old' })
    await fixture.store.adoptGroup({ id: old, user: user.id, type: 'AIGC', name: 'old', createdAt: Date.now() })
    const { id: other } = second.library.addGroup({ name: 'other' })
    const group = { id: other, user: user.id, type: 'AIGC', name: 'other', account: 'cn-2', createdAt: Date.now() }
    await fixture.store.adoptGroup(group)
    const assets: string[] = []
    for (const GroupId of [old, other]) {
      const wanted = { GroupId, URL: 'https://files.example/x.png', AssetType: 'Image', Name: 'x' }
      assets.push((await ann.ask('POST', '/assets', wanted)).json.Result.Id)
    }
    expect([first, second].map(({ library }) => library.assets().length)).toEqual([1, 1])
    const listed = (await ann.ask('GET', '/assets')).json.Result
    expect([listed.TotalCount, listed.Items.map(({ Id }: { Id: string }) => Id).sort()]).toEqual([2, assets.toSorted()])

    for (const asset of assets) {
      const body = { model: MODEL, content: [media('image', `asset://${asset}`, 'reference_image')] }
      const headers = { authorization: `Bearer ${user.token}`, 'content-type': 'application/json' }
      const init = { method: 'POST', headers, body: JSON.stringify(body) }
      const response = await fetch(`${server.url}/api/v3/contents/generations/tasks`, init)
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('cgt-')])
    }
    expect([first, second].map(({ video }) => video.tasks().length)).toEqual([1, 1])

    await second.stop()
    const all = await ann.ask('GET', '/assets')
    expect([all.status, all.json.error.message]).toEqual([502, 'Seedance upstream unavailable: account cn-2'])
    expect((await ann.ask('GET', `/assets?GroupIds=${old}`)).json.Result.TotalCount).toBe(1)
    const ready = await (await fetch(`${server.url}/readyz`)).json()
    expect(ready).toMatchObject({ upstreams: { 'assets cn-1': 'reachable', 'assets cn-2': 'unreachable' } })
    expect(server.stderr()).toContain('account cn-2')
    for (const secret of [first.rest.key, second.video.key]) expect(server.stderr()).not.toContain(secret)
  },
)

test('the default server refuses both forms of the upstream with status 2, and names the place', async () => {
  await using fixture = await openServerFixture()
  const accounts = [{ name: 'a', url: 'https://one.example', keyEnv: 'NO_KEY' }]
  const started = await fixture.start({ MEDIA_UPSTREAMS: JSON.stringify(accounts) }).catch((error: unknown) => error)
  expect(started).toMatchObject({
    status: 2,
    stderr: [
      'MEDIA_UPSTREAM_URL and MEDIA_UPSTREAMS must not both be set',
      'MEDIA_UPSTREAMS[0].keyEnv names a variable that is not set, or has other than printable ASCII characters without spaces',
      '',
    ].join('\n'),
  })
})
