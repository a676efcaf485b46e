import { afterEach, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { folderStorage } from 'sluice/file-storage'
import type { Fetch } from '../../plugins/shared/upstream/upstream-error.ts'
import { temporaryFolder } from '../file-storage/fixture.ts'
import { isSlow, testIf } from '../support/run-if.ts'
import { openVideoFixture, until, type VideoFixture, type VideoFixtureOptions } from './fixture.ts'
import { playMp4 } from './mp4.ts'

const hourMs = 3_600_000

let open: readonly AsyncDisposable[] = []
afterEach(async () => {
  for (const each of open) await each[Symbol.asyncDispose]()
  open = []
})

/** A gateway with a folder for results. `filesIn` lists what is there. */
const openResults = async (
  options: VideoFixtureOptions & { readonly fetch?: Fetch; readonly keepMs?: number; readonly silenceMs?: number } = {},
): Promise<VideoFixture & { files(): readonly string[] }> => {
  const folder = await temporaryFolder()
  const { fetch, keepMs, silenceMs } = options
  const fixture = await openVideoFixture({
    ...options,
    more: {
      files: {
        storage: folderStorage(folder.path),
        ...(fetch && { fetch }),
        ...(keepMs && { keepMs }),
        ...(silenceMs && { silenceMs }),
      },
    },
  })
  open = [fixture, folder]
  const files = () => {
    try {
      return readdirSync(`${folder.path}/results`)
    } catch {
      return []
    }
  }
  return Object.assign(fixture, { files })
}

const downloaded = async (link: string) => {
  const response = await fetch(link)
  return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) }
}

const succeeded = async ({ ann, emulator }: VideoFixture, more: object = {}) => {
  const id = await ann.created('a cat', more)
  await until(async () => (await ann.statusOf(id)) === 'running')
  emulator.video.finish(emulator.video.tasks().at(-1)?.id ?? '')
  return id
}

const contentOf = async ({ ann }: VideoFixture, id: string) => {
  await until(async () => (await ann.statusOf(id)) === 'succeeded')
  return (await ann.get(id)).json.content
}

describe('with a storage, a result', () => {
  test('is copied once, and plays when the link of the upstream has expired', async () => {
    const fixture = await openResults()
    const { emulator, gateway, ann } = fixture
    const id = await succeeded(fixture, { return_last_frame: true })
    const content = await contentOf(fixture, id)
    const own = new RegExp(`^${gateway.url}/api/files/results/${id}(-last-frame)?-\\w{8}\\.(mp4|jpeg)\\?expires=`)
    expect(content.video_url).toMatch(own)
    expect(content.last_frame_url).toMatch(own)
    expect((await ann.get(id)).json.content).toEqual(content)
    const list = (await ann.send('GET', `?filter.task_ids=${id}`)).json
    expect(list.items[0].content).toEqual(content)

    const downloads = () => emulator.calls.filter(({ path }) => path.startsWith('/tos/')).length
    expect(downloads()).toBe(2)
    emulator.video.advance(25 * hourMs)
    expect(playMp4((await downloaded(content.video_url)).bytes).samples).toBeGreaterThan(1)
    expect((await downloaded(content.last_frame_url)).bytes.toString('hex', 0, 3)).toBe('ffd8ff')
    expect(downloads()).toBe(2)
  })

  test('is not shown before it is copied', async () => {
    const held = Promise.withResolvers<void>()
    const fixture = await openResults({
      fetch: async (url, init) => {
        await held.promise
        return fetch(url, init)
      },
    })
    const id = await succeeded(fixture)
    await until(async () => (await fixture.store.dueVideoCopies(Date.now() + hourMs, 1)).length === 1)
    await Bun.sleep(50)
    const { status, content } = (await fixture.ann.get(id)).json
    expect([status, content?.video_url]).toEqual(['running', undefined])
    held.resolve()
    expect((await contentOf(fixture, id)).video_url).toContain('/api/files/')
  })

  test('is removed with its task', async () => {
    const fixture = await openResults()
    const id = await succeeded(fixture, { return_last_frame: true })
    const { video_url } = await contentOf(fixture, id)
    expect(fixture.files()).toHaveLength(2)
    expect((await fixture.ann.send('DELETE', `/${id}`)).status).toBe(200)
    expect(fixture.files()).toEqual([])
    expect((await downloaded(video_url)).status).toBe(404)
  })

  test.each([
    ['a status', () => new Response('no', { status: 503 })],
    ['a redirect', () => Response.redirect('http://169.254.169.254/latest')],
    ['a page', () => new Response('<!doctype html>')],
    ['an empty file', () => new Response('')],
  ])('that comes as %s is copied again, and nothing of it remains', async (_name, answer) => {
    let failures = 2
    const fixture = await openResults({
      gateway: { copyPauseMs: 5 },
      fetch: async (url, init) => (failures-- > 0 ? answer() : fetch(url, init)),
    })
    const id = await succeeded(fixture)
    const { video_url } = await contentOf(fixture, id)
    expect(failures).toBe(-1)
    playMp4((await downloaded(video_url)).bytes)
    expect(fixture.files()).toHaveLength(1)
  })

  test('that is cut off is copied again, and nothing of it remains', async () => {
    let cuts = 2
    const fixture = await openResults({
      gateway: { copyPauseMs: 5 },
      fetch: async (url, init) => {
        const response = await fetch(url, init)
        if (cuts-- <= 0) return response
        return new Response((await response.bytes()).subarray(0, 1500), { headers: response.headers })
      },
    })
    const id = await succeeded(fixture)
    playMp4((await downloaded((await contentOf(fixture, id)).video_url)).bytes)
    expect(fixture.files()).toHaveLength(1)
  })

  test.each([
    ['never begins', (_: Response) => new Promise<never>(() => {})],
    [
      'stops in the middle',
      async (response: Response) => {
        const bytes = (await response.bytes()).subarray(0, 1500)
        const body = new ReadableStream({ start: (controller) => controller.enqueue(bytes) })
        return new Response(body, { headers: response.headers })
      },
    ],
  ])('that %s is copied again, and does not keep others waiting', async (_, stall) => {
    let stalls = 6
    const fixture = await openResults({
      gateway: { copyPauseMs: 5 },
      // Far longer than a busy machine pauses within a copy.
      silenceMs: 500,
      fetch: async (url, init) => {
        const response = await fetch(url, init)
        return stalls-- > 0 ? stall(response) : response
      },
    })
    const ids: string[] = []
    for (let count = 0; count < 5; count++) ids.push(await fixture.ann.created())
    for (const task of fixture.emulator.video.tasks()) fixture.emulator.video.finish(task.id)
    for (const id of ids) playMp4((await downloaded((await contentOf(fixture, id)).video_url)).bytes)
    expect(fixture.files()).toHaveLength(5)
  })

  test('that cannot be copied for ten minutes has the link of the upstream, until it is copied after all', async () => {
    let fails = true
    // The upstream's clock is late: the task has succeeded eleven minutes ago.
    const fixture = await openResults({
      emulator: { clock: () => Date.now() - 660_000 },
      fetch: async (url, init) => {
        if (fails) throw new Error('the storage of the upstream is down')
        return fetch(url, init)
      },
    })
    const id = await succeeded(fixture)
    expect((await contentOf(fixture, id)).video_url).toContain('/tos/')
    const [due] = await fixture.store.dueVideoCopies(Date.now() + hourMs, 1)
    expect((due?.dueAt ?? 0) - Date.now()).toBeWithin(300_000, 360_000)
    fails = false
    await fixture.store.releaseVideoCopy(id, undefined, Date.now())
    await until(async () => (await contentOf(fixture, id)).video_url.includes('/api/files/'))
    expect(fixture.files()).toHaveLength(1)
    expect(await fixture.store.dueVideoCopies(Date.now() + 24 * hourMs, 1)).toEqual([])
  })

  test('without a storage has the link of the upstream', async () => {
    const fixture = await openVideoFixture()
    open = [fixture]
    const content = await contentOf(fixture, await succeeded(fixture))
    expect(content.video_url).toContain('/tos/')
    playMp4((await downloaded(content.video_url)).bytes)
  })

  test('30 minutes of results that expire after one: every stored one still plays', async () => {
    let now = Date.now()
    const fixture = await openResults({ video: { linkMs: 60_000 }, emulator: { clock: () => now } })
    const ids: string[] = []
    for (let minute = 0; minute < 30; minute++) {
      const id = await succeeded(fixture)
      await contentOf(fixture, id)
      ids.push(id)
      now += 60_000
    }
    for (const id of ids) {
      const { video_url } = await contentOf(fixture, id)
      expect(playMp4((await downloaded(video_url)).bytes).seconds).toBeGreaterThan(0)
    }
    expect(fixture.files()).toHaveLength(30)
  }, 300_000)

  testIf(isSlow, 'takes half an hour: SLUICE_SLOW is not set')(
    '30 minutes of real time with results that expire after one: every stored one still plays',
    async () => {
      const fixture = await openResults({ video: { linkMs: 60_000 } })
      const ids: string[] = []
      const end = Date.now() + 30 * 60_000
      while (Date.now() < end) {
        ids.push(await succeeded(fixture))
        await Bun.sleep(20_000)
        for (const id of ids) {
          const { video_url } = await contentOf(fixture, id)
          expect(video_url).toContain('/api/files/')
          playMp4((await downloaded(video_url)).bytes)
        }
      }
      expect(ids.length).toBeGreaterThan(60)
    },
  )
})
