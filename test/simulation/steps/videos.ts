import { defaultVideoModels } from '../../../src/emulator/video/models.ts'
import { simulated } from '../virtual/virtual-process.ts'
import type { World } from '../world/world.ts'

const tasksPath = '/api/v3/contents/generations/tasks'
const model = defaultVideoModels[0]?.id

/** A task that a user was told to have. */
export interface KnownVideo {
  readonly id: string
  readonly user: string
  readonly prompt: string
  /** The user has asked to cancel or delete it. */
  isRemoved: boolean
}

/** What users were told about videos. */
export class KnownVideos {
  readonly videos: KnownVideo[] = []
  /** The status of the answer to each create call, by prompt. Each prompt begins with its user and is used once. */
  readonly answers = new Map<string, number>()
}

type Step = (world: World, known: KnownVideos, user: string) => Promise<unknown>

export const videoSteps = {
  async createVideo(world, known, user) {
    const prompt = `${user} ${known.answers.size}`
    known.answers.set(prompt, 0)
    const { status, json } = await world.ask(user, 'POST', tasksPath, {
      model,
      content: [{ type: 'text', text: prompt }],
    })
    known.answers.set(prompt, status)
    world.expectStatus('a new video', status, [200, 429])
    if (status !== 200) return
    world.videoOwners.set(json.id, user)
    known.videos.push({ id: json.id, user, prompt, isRemoved: false })
  },

  async readVideo(world, known, user) {
    if (known.videos.length === 0) return
    const video = simulated.random.of(known.videos)
    const { status } = await world.ask(user, 'GET', `${tasksPath}/${video.id}`)
    if (video.user !== user) world.expectStatus("another user's video", status, [404])
    else world.expectStatus('an own video', status, video.isRemoved ? [200, 404] : [200])
  },

  async removeVideo(world, known, user) {
    const own = known.videos.filter((video) => video.user === user)
    if (own.length === 0) return
    const video = simulated.random.of(own)
    video.isRemoved = true
    const { status } = await world.ask(user, 'DELETE', `${tasksPath}/${video.id}`)
    world.expectStatus('the removal of a video', status, [200, 204, 404, 409])
  },

  async listVideos(world, known, user) {
    const expected = known.videos.filter((video) => video.user === user && !video.isRemoved).map(({ id }) => id)
    const { status, json } = await world.ask(user, 'GET', `${tasksPath}?page_size=100`)
    world.expectStatus('a list of videos', status, [200])
    if (status !== 200) return
    const listed = new Set(json.items.map(({ id }: { readonly id: string }) => id))
    if (listed.size !== json.items.length || listed.size !== json.total)
      world.violate(`${user}'s list has ${json.items.length} videos, ${listed.size} different ones, of ${json.total}`)
    for (const id of expected)
      if (!listed.has(id) && !known.videos.some((video) => video.id === id && video.isRemoved))
        world.violate(`${id} is not in ${user}'s list`)
  },
} satisfies Readonly<Record<string, Step>>

/** How often each step is. */
export const videoWeights: Readonly<Record<keyof typeof videoSteps, number>> = {
  ...{ createVideo: 5, readVideo: 2, removeVideo: 2, listVideos: 2 },
}
