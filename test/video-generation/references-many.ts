import { expect, test } from 'bun:test'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inLanes } from '../../plugins/shared/background/in-lanes.ts'
import { createDigestOf } from '../../src/app/pictures.ts'
import type { Emulator } from '../../src/emulator/index.ts'
import type { TestDatabase } from '../support/database.ts'
import { media, openVideoFixture, text, until } from './fixture.ts'

/** A picture of a person, for the emulator. */
export const face = (name: string) => media('image', `https://files.example/real-face/${name}.png`, 'reference_image')
export const plain = (name: string) => media('image', `https://files.example/plain/${name}.png`, 'reference_image')
export const auto = (...pictures: object[]) => ({ references: 'auto', content: [text('a cat'), ...pictures] })

export const callsOf = ({ calls }: Emulator, action: string) => calls.filter((call) => call.action === action)

/** Declares the test of so many tasks. */
export const testManyTasks = (kind: TestDatabase['kind'], tasks: number): void => {
  test(`costs no asset twice: ${tasks} tasks of 7 pictures, of which 2 show persons`, async () => {
    // Twelve persons, each at two addresses with the same bytes.
    await using files = await servePictures()
    await using fixture = await openVideoFixture({
      database: kind,
      gateway: { slots: { '*': { running: 8 } } },
      video: { runningMs: 1, maxRunning: { '*': 100 } },
      more: { pictures: { digestOf: createDigestOf(['127.0.0.0/8']) } },
    })
    const { ann, bob, emulator } = fixture
    const picture = (path: string) => media('image', `${files.url}/${path}.png`, 'reference_image')
    const personsOf = (nth: number) => [nth % 12, (nth * 5 + 1) % 12]
    const ids: { readonly user: typeof ann; readonly id: string }[] = []
    await inLanes(Array(tasks).keys(), 8, async (nth) => {
      const faces = personsOf(nth).map((person) => picture(`real-face/${nth % 2}/${person}`))
      const [first, ...others] = [1, 2, 3, 4, 5].map((other) => picture(`plain/${nth}-${other}`))
      const user = nth % 4 === 0 ? bob : ann
      ids[nth] = { user, id: await user.created(`task ${nth}`, auto(first ?? {}, ...faces, ...others)) }
    })
    for (const { user, id } of ids) await until(async () => (await user.statusOf(id)) === 'succeeded')
    const wanted = new Set(ids.flatMap(({ user }, nth) => personsOf(nth).map((person) => `${user.id} ${person}`)))
    expect(callsOf(emulator, 'CreateAsset')).toHaveLength(wanted.size)
    expect(emulator.library.assets()).toHaveLength(wanted.size)
    expect(emulator.library.groups()).toHaveLength(2)
    expect(emulator.video.tasks()).toHaveLength(tasks)
  }, 300_000)
}

/** Serves pictures: the bytes of one under `/real-face/` are those of its last part, and others are all different. */
const servePictures = async () => {
  const server = createServer(({ url = '' }, response) => {
    const name = url.includes('/real-face/') ? url.slice(url.lastIndexOf('/')) : url
    response.setHeader('content-type', 'image/png').end(`\x89PNG\r\n\x1a\n ${name}`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
