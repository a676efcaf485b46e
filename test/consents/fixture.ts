import {
  MODEL,
  media,
  openVideoFixture,
  text,
  type VideoFixture,
  type VideoFixtureOptions,
} from '../video-generation/fixture.ts'

export { MODEL, MODEL_25, media, text, until, type VideoUser } from '../video-generation/fixture.ts'

export const content = (asset: string) => [text('x'), media('image', `asset://${asset}`, 'reference_image')]

export interface FaceFixture extends AsyncDisposable {
  readonly fixture: VideoFixture
  /** Ann's group of a person, and an asset in it. */
  readonly group: string
  readonly asset: string
  withdraw(): ReturnType<VideoFixture['ann']['ask']>
}

/** A group of a person, which ann owns and has lent to bob. */
export const openFaceFixture = async (options: VideoFixtureOptions = {}): Promise<FaceFixture> => {
  const fixture = await openVideoFixture(options)
  const { ann, bob, emulator, store } = fixture
  const { id: group } = emulator.library.addGroup({ name: 'a face', type: 'LivenessFace' })
  const { id: asset } = emulator.library.addAsset({ groupId: group, url: 'https://files.example/a.png', type: 'Image' })
  await store.adoptGroup({ id: group, user: ann.id, type: 'LivenessFace', name: 'a face', createdAt: 1 })
  const lent = await ann.ask('POST', `/assets/groups/${group}/shares`, { User: bob.id, Access: 'use' })
  if (lent.status !== 200) throw new Error(lent.text)
  return {
    ...{ fixture, group, asset },
    withdraw: () => ann.ask('POST', `/assets/groups/${group}/consent/withdraw`),
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  }
}

/** Ends the first task of the upstream, so that its slot is free. */
export const freeSlot = ({ emulator }: VideoFixture): void => {
  const running = emulator.video.tasks().find(({ endTime }) => endTime === undefined)
  if (running) emulator.video.finish(running.id)
}

/** A chat request that shows an asset. */
export const chatOf = (asset: string) => ({
  model: 'doubao-seed-1-6',
  messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: `asset://${asset}` } }] }],
})

export const oneSlot = { slots: { '*': { running: 1, waitingPerUser: 1_000 } } }

export const dryRun = { dry_run: true, model: MODEL }
