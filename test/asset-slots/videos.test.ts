import { expect, test } from 'bun:test'
import { folderStorage } from 'sluice/file-storage'
import { Background } from '../../plugins/shared/background/background.ts'
import { temporaryFolder } from '../file-storage/fixture.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { MODEL, media, openVideoFixture, text, until, type VideoUser } from '../video-generation/fixture.ts'
import { addUploaded, askAbout, detailOf, png } from './requests.ts'

const newGroup = async (user: VideoUser, name: string): Promise<string> =>
  (await user.ask('POST', '/assets/groups', { Name: name })).json.Result.Id

repeatOnDatabases('videos of a library that is larger than its slots', ({ kind }) => {
  test('wait until their assets are at the upstream, which gets its own ids', async () => {
    const folder = await temporaryFolder()
    const background = new Background()
    await using fixture = await openVideoFixture({
      database: kind,
      more: { slots: { slots: 4, floor: 1, cap: 3 }, files: { storage: folderStorage(folder.path) }, background },
      gateway: { slots: { '*': { running: 3 } } },
      video: { runningMs: 0 },
      // Full with the slots and the two groups.
      emulator: { quota: 6 },
    })
    const { gateway, emulator, ann, bob } = fixture
    const owned = new Map<VideoUser, string[]>([
      [ann, []],
      [bob, []],
    ])
    for (const [user, ids] of owned) {
      const group = await newGroup(user, 'many')
      for (let at = 0; at < 6; at++) ids.push(await addUploaded(gateway.url, user, group, `a${at}`))
    }
    for (const [user, ids] of owned)
      for (const id of ids) await until(async () => (await detailOf(user, id)).Status === 'Active')
    const tasks: { readonly user: VideoUser; readonly id: string; readonly names: readonly string[] }[] = []
    for (let at = 0; at < 8; at++) {
      for (const [user, ids] of owned) {
        const used = [ids[at % 6] ?? '', ids[(at * 5 + 1) % 6] ?? '']
        const content = [
          text('a'),
          ...[...new Set(used)].map((id) => media('image', `asset://${id}`, 'reference_image')),
        ]
        const created = await user.send('POST', '', { model: MODEL, content })
        expect(created).toMatchObject({ status: 200 })
        tasks.push({ user, id: created.json.id, names: [...new Set(used)] })
      }
    }
    for (const { user, id } of tasks)
      await until(async () => {
        const status = await user.statusOf(id)
        if (status === 'failed') throw new Error((await user.get(id)).text)
        return status === 'succeeded'
      })
    const sent = emulator.video.tasks().map(({ body }) => JSON.stringify(body))
    expect(sent).toHaveLength(tasks.length)
    // No id of the gateway has reached the upstream of videos, and each asset was there under a name of the right one.
    for (const { names } of tasks) for (const id of names) expect(sent.join()).not.toContain(id)
    for (const call of emulator.calls.filter(({ action }) => action === 'CreateAsset')) expect(call.status).toBe(200)
    for (const [user, ids] of owned) {
      const { json } = await user.ask('GET', '/assets?PageSize=100')
      expect(json.Result.TotalCount).toBe(6)
      expect(json.Result.Items.map(({ Id }: { Id: string }) => Id).toSorted()).toEqual(ids.toSorted())
      const [first = ''] = ids
      const { URL: link, Name: name } = await detailOf(user, first)
      expect(Buffer.from(await (await fetch(link)).arrayBuffer())).toEqual(png(name))
      const { json: uses } = await user.ask('GET', `/assets/${first}/uses`)
      expect(uses.Result.TotalCount).toBe(
        tasks.filter((task) => task.user === user && task.names.includes(first)).length,
      )
    }
    // Three slots at most, and a task with more assets never has room.
    const ids = owned.get(ann) ?? []
    const contentOf = (some: readonly string[]) => [
      text('a'),
      ...some.map((id) => media('image', `asset://${id}`, 'reference_image')),
    ]
    const [deleted = ''] = ids
    expect((await ann.ask('DELETE', `/assets/${deleted}`)).status).toBe(200)
    // A dry run says the same as a creation, which calls the upstream of videos for neither.
    for (const dry_run of [true, false]) {
      const full = await ann.send('POST', '', { dry_run, model: MODEL, content: contentOf(ids.slice(1, 5)) })
      expect(full).toMatchObject({ status: 429, code: 'QuotaExceeded' })
      const gone = await ann.send('POST', '', { dry_run, model: MODEL, content: contentOf([deleted]) })
      expect(gone).toMatchObject({ status: 400, code: 'asset_not_found' })
    }
    const fits = await ann.send('POST', '', { dry_run: true, model: MODEL, content: contentOf(ids.slice(1, 3)) })
    expect(fits).toMatchObject({ status: 200, json: { dry_run: true } })
    expect(emulator.video.tasks()).toHaveLength(tasks.length)
    await background.stop()
    await folder[Symbol.asyncDispose]()
  }, 120_000)

  test('are refused with the assets of others, as text requests are, which get the ids of the upstream too', async () => {
    const folder = await temporaryFolder()
    const background = new Background()
    await using fixture = await openVideoFixture({
      ...{ database: kind, gateway: {} },
      more: { slots: { slots: 2 }, files: { storage: folderStorage(folder.path) }, background },
    })
    const { gateway, emulator, ann, bob } = fixture
    const id = await addUploaded(gateway.url, ann, await newGroup(ann, 'own'), 'a')
    const [upstreamId] = emulator.library.assets().map((asset) => asset.id)
    for (const [user, asset] of [
      [bob, id],
      [ann, upstreamId],
      [bob, upstreamId],
    ] as const) {
      const content = [text('a'), media('image', `asset://${asset}`, 'reference_image')]
      expect(await user.send('POST', '', { model: MODEL, content })).toMatchObject({
        status: 403,
        code: 'asset_not_found',
      })
    }
    expect([await askAbout(gateway.url, bob, id), await askAbout(gateway.url, ann, id)]).toEqual([403, 200])
    const sent = emulator.calls
      .filter(({ action }) => action === 'CreateChatCompletion')
      .map(({ body }) => String(body))
    expect(sent).toEqual([expect.stringContaining(`asset://${upstreamId}`)])
    await background.stop()
    await folder[Symbol.asyncDispose]()
  }, 60_000)
})
