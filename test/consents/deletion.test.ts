import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { folderStorage } from 'sluice/file-storage'
import { Background } from '../../plugins/shared/background/background.ts'
import { temporaryFolder } from '../file-storage/fixture.ts'
import { repeatedDatabases } from '../support/database.ts'
import { forwardClock } from '../support/forward-clock.ts'
import { content, openFaceFixture, until } from './fixture.ts'

const openDeletion = async (database: (typeof repeatedDatabases)[number]) => {
  const folder = await temporaryFolder()
  const [background, clock] = [new Background(), forwardClock()]
  const face = await openFaceFixture({
    database,
    more: { background, clock, files: { storage: folderStorage(folder.path) } },
  })
  const { ann } = face.fixture
  const consent = async () => (await ann.ask('GET', `/assets/groups/${face.group}/consent`)).json.Result
  return {
    ...{ ...face, clock, consent, background },
    /** Asks for the deletion; again: the job goes on now. */
    remove: () => ann.ask('POST', `/assets/groups/${face.group}/consent/delete`),
    files: () => readdirSync(`${folder.path}/results`),
    async [Symbol.asyncDispose]() {
      await background.stop()
      await face[Symbol.asyncDispose]()
      await folder[Symbol.asyncDispose]()
    },
  }
}

describe.each(repeatedDatabases)('a deletion (%s)', (database) => {
  test('removes the assets, the results of the owner and of borrowers, and in the end the group', async () => {
    await using it = await openDeletion(database)
    const { ann, bob, emulator, store } = it.fixture
    const ids: string[] = []
    for (const user of [ann, bob]) {
      const id = await user.created('x', { content: content(it.asset) })
      emulator.video.finish(emulator.video.tasks().at(-1)?.id ?? '')
      await until(async () => (await user.statusOf(id)) === 'succeeded')
      ids.push(id)
    }
    const other = await ann.created('a cat')
    emulator.video.finish(emulator.video.tasks().at(-1)?.id ?? '')
    await until(async () => (await ann.statusOf(other)) === 'succeeded')
    await until(() => it.files().length === 3)
    // One that still runs.
    const running = await bob.created('x', { content: content(it.asset) })
    await until(async () => (await bob.statusOf(running)) === 'running')
    const asked = await it.remove()
    expect(asked.json.Result).toMatchObject({
      Status: 'deleting',
      Withdrawal: { By: 'owner' },
      Deletion: { By: 'owner' },
    })
    await until(async () => (await it.consent()).Deletion.AssetsTime !== undefined)
    expect(emulator.library.assets().filter(({ groupId }) => groupId === it.group)).toEqual([])
    await until(() => it.files().length === 1)
    expect((await it.consent()).Status).toBe('deleting')
    expect((await ann.ask('GET', `/assets/groups/${it.group}/consent/uses`)).json.Result.TotalCount).toBe(3)
    emulator.video.finish(emulator.video.tasks().at(-1)?.id ?? '')
    await until(async () => (await bob.statusOf(running)) === 'succeeded')
    await until(async () => {
      it.clock.pass(31_000)
      await it.remove()
      return (await it.consent()).Status === 'deleted'
    })
    for (const [user, id] of [
      [ann, ids[0]],
      [bob, ids[1]],
      [bob, running],
    ] as const)
      expect((await user.get(id ?? '')).status).toBe(404)
    expect(await ann.statusOf(other)).toBe('succeeded')
    expect(it.files()).toHaveLength(1)
    // The upstream keeps the group while the person is authorized there.
    expect(await it.consent()).toMatchObject({ Deletion: { Assets: 1, Results: 3, Uses: 3 } })
    expect((await it.consent()).Deletion.GroupTime).toBeUndefined()
    emulator.library.deleteGroup(it.group)
    await until(async () => {
      it.clock.pass(3_600_000)
      await it.remove()
      return (await it.consent()).Deletion.GroupTime !== undefined
    })
    expect(await store.group(it.group)).toBeUndefined()
    expect((await ann.ask('GET', `/assets/groups/${it.group}/consent/uses`)).json.Result).toMatchObject({ Items: [] })
    const events = (await store.eventsOf(ann.id, 0, 1_000))
      .map(({ type }) => type)
      .filter((type) => /^consent/.test(type))
    expect(events).toEqual(['consent.withdrawn', 'consent.deleted'])
  }, 60_000)

  test('also removes an asset whose creation began before it, and ended after the assets had been removed', async () => {
    await using it = await openDeletion(database)
    const { ann, emulator } = it.fixture
    const left = () => emulator.library.assets().filter(({ groupId }) => groupId === it.group)
    const held = emulator.faults.add({ kind: 'hold', action: 'CreateAsset' })
    const [wanted, url] = [{ GroupId: it.group, GroupType: 'LivenessFace' }, 'https://files.example/late.png']
    const late = ann.ask('POST', '/assets', { ...wanted, URL: url, AssetType: 'Image' })
    await held.waitForHits()
    await it.remove()
    await until(async () => (await it.consent()).Status === 'deleted')
    held.release()
    expect((await late).status).toBe(200)
    // Much sooner than the upstream is asked again to delete the empty group.
    it.clock.pass(120_000)
    await it.remove()
    await until(async () => (await it.consent()).Deletion.Assets === 2)
    expect(left()).toEqual([])
  }, 60_000)

  test('also removes one whose creation ended while the upstream was asked to delete the group', async () => {
    await using it = await openDeletion(database)
    const { ann, emulator } = it.fixture
    const creation = emulator.faults.add({ kind: 'hold', action: 'CreateAsset' })
    const removal = emulator.faults.add({ kind: 'hold', action: 'DeleteAssetGroup' })
    const [wanted, url] = [{ GroupId: it.group, GroupType: 'LivenessFace' }, 'https://files.example/late.png']
    const late = ann.ask('POST', '/assets', { ...wanted, URL: url, AssetType: 'Image' })
    await creation.waitForHits()
    await it.remove()
    await removal.waitForHits()
    creation.release()
    expect((await late).status).toBe(200)
    // No creation that began before the withdrawal goes on then.
    it.clock.pass(120_000)
    removal.release()
    await until(async () => {
      await it.remove()
      return (await it.consent()).Deletion.Assets === 2
    })
    expect(emulator.library.assets().filter(({ groupId }) => groupId === it.group)).toEqual([])
  }, 60_000)

  test('that a stop of the process interrupts has not ended', async () => {
    await using it = await openDeletion(database)
    const { emulator } = it.fixture
    const held = emulator.faults.add({ kind: 'hold', when: 'after', action: 'ListAssets' })
    await it.remove()
    await held.waitForHits()
    const stopped = it.background.stop()
    held.release()
    await stopped
    expect(emulator.library.assets().filter(({ groupId }) => groupId === it.group)).toHaveLength(1)
    expect((await it.consent()).Deletion.AssetsTime).toBeUndefined()
  }, 60_000)

  test('goes on after the upstream has failed in the middle', async () => {
    await using it = await openDeletion(database)
    const { emulator } = it.fixture
    for (let nth = 0; nth < 3; nth++)
      emulator.library.addAsset({ groupId: it.group, url: `https://files.example/${nth}.png`, type: 'Image' })
    // The second deletion fails, and is not known to have failed.
    emulator.faults.add({ kind: 'status', action: 'DeleteAsset', status: 500, after: 1 })
    await it.remove()
    const left = () => emulator.library.assets().filter(({ groupId }) => groupId === it.group).length
    await until(() => left() < 4)
    await until(async () => {
      it.clock.pass(31_000)
      await it.remove()
      return (await it.consent()).Status === 'deleted'
    })
    expect([left(), (await it.consent()).Deletion.Assets]).toEqual([0, 4])
  }, 60_000)
})
