import { expect, test } from 'bun:test'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { folderStorage } from 'sluice/file-storage'
import { Background } from '../../plugins/shared/background/background.ts'
import { drawPng } from '../../src/demo/picture.ts'
import type { EmulatorOptions } from '../../src/emulator/index.ts'
import { temporaryFolder } from '../file-storage/fixture.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { media, openVideoFixture, text, until, type VideoUser } from '../video-generation/fixture.ts'
import { addUploaded, detailOf } from './requests.ts'

/** Serves pictures, which all differ. */
const servePictures = async () => {
  const server = createServer(({ url = '' }, response) => {
    const picture = Buffer.concat([drawPng(() => [1, 2, 3]), Buffer.from(url)])
    response.writeHead(200, { 'content-type': 'image/png' }).end(picture)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    /** A picture of a person, which the upstream refuses. */
    face: (name: string) => media('image', `http://127.0.0.1:${port}/real-face/${name}.png`, 'reference_image'),
    [Symbol.dispose]: () => server.close(),
  }
}

repeatOnDatabases('pictures of tasks become assets of a library that is larger than its slots', ({ kind }) => {
  const open = async (outcome?: EmulatorOptions['outcome']) => {
    const folder = await temporaryFolder()
    const background = new Background()
    const fixture = await openVideoFixture({
      database: kind,
      more: { slots: { slots: 3, cap: 3 }, files: { storage: folderStorage(folder.path) }, background },
      video: { runningMs: 0 },
      ...(outcome && { emulator: { outcome } }),
    })
    const added = async (user: VideoUser, name: string) => {
      const group = (await user.ask('POST', '/assets/groups', { Name: name })).json.Result.Id
      const id = await addUploaded(fixture.gateway.url, user, group, name)
      await until(async () => (await detailOf(user, id)).Status === 'Active')
      return media('image', `asset://${id}`, 'reference_image')
    }
    const ended = async (user: VideoUser, id: string) => {
      await until(async () => ['succeeded', 'failed'].includes(await user.statusOf(id)))
      return (await user.get(id)).json
    }
    return {
      ...{ ...fixture, added, ended },
      async [Symbol.asyncDispose]() {
        void background.stop()
        await fixture[Symbol.asyncDispose]()
      },
    }
  }

  test('those of several tasks that together need more than all slots are made one after the other', async () => {
    using pictures = await servePictures()
    await using fixture = await open()
    const { ann, bob, added, ended } = fixture
    const named = [await added(ann, 'a'), await added(bob, 'b'), await added(ann, 'c')]
    const created = named.map(async (asset, task) => {
      const user = task === 1 ? bob : ann
      const faces = [1, 2].map((nth) => pictures.face(`${task}-${nth}`))
      return { user, id: await user.created('a', { references: 'auto', content: [text('a'), asset, ...faces] }) }
    })
    for (const { user, id } of await Promise.all(created)) expect((await ended(user, id)).status).toBe('succeeded')
    // New assets of others get a slot meanwhile, or then.
    await added(bob, 'd')
    expect(fixture.emulator.library.assets()).toHaveLength(3)
  }, 60_000)

  test('those of a task that are more than all slots fail at once', async () => {
    using pictures = await servePictures()
    await using fixture = await open()
    const { ann, added, ended } = fixture
    const faces = [1, 2, 3].map((nth) => pictures.face(`${nth}`))
    const id = await ann.created('a', { references: 'auto', content: [text('a'), await added(ann, 'one'), ...faces] })
    expect(await ended(ann, id)).toMatchObject({ status: 'failed', error: { code: 'QuotaExceeded' } })
  }, 60_000)

  test('one that the upstream cannot use fails its task in the words of the upstream', async () => {
    using pictures = await servePictures()
    let processed = 0
    await using fixture = await open(() =>
      ++processed < 3 ? { status: 'Active' } : { status: 'Failed', code: 'FaceMismatch', message: 'another face' },
    )
    const { ann, added, ended } = fixture
    const faces = [pictures.face('a'), pictures.face('b')]
    const id = await ann.created('a', { references: 'auto', content: [text('a'), await added(ann, 'one'), ...faces] })
    expect(await ended(ann, id)).toMatchObject({ status: 'failed', error: { code: 'FaceMismatch' } })
  }, 60_000)
})
