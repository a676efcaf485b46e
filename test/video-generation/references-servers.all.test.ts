/** Runs with `--all`: servers on both runtimes and both databases, and some that are killed. */

import { expect, test } from 'bun:test'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { databaseNames } from '../support/database.ts'
import { openServerFixture, type ServerFixture } from '../support/server-fixture.ts'
import { MODEL, media, text, until, videoUser } from './fixture.ts'

const environment = ({ emulator }: ServerFixture) => ({
  VIDEO_UPSTREAM_URL: emulator.video.url,
  VIDEO_UPSTREAM_KEY: emulator.video.key,
  VIDEO_POLL_SECONDS: '0.05',
  VIDEO_CREATE_TIMEOUT_SECONDS: '1',
  VIDEO_SETTLE_SECONDS: '1',
  WEBHOOK_NETWORKS: '127.0.0.0/8',
})

const png = Buffer.from('\x89PNG\r\n\x1a\n real-face', 'latin1')
const auto = (...urls: readonly string[]) => ({
  references: 'auto',
  content: [text('a'), ...urls.map((url) => media('image', url, 'reference_image'))],
})

/** A host of pictures: all have the same bytes. */
const servePicture = async () => {
  const server = createServer((_, response) => response.setHeader('content-type', 'image/png').end(png))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const combinations = (['bun', 'deno'] as const).flatMap((runtime) =>
  databaseNames.map((database) => [runtime, database] as const),
)

test.each(combinations)(
  'the default server on %s with %s makes one asset of a picture at addresses and in requests',
  async (runtime, database) => {
    await using host = await servePicture()
    await using fixture = await openServerFixture(database, {
      video: { queuedMs: 0, runningMs: 50 },
      processingMs: 100,
    })
    const { emulator } = fixture
    const server = await fixture.start(environment(fixture), runtime)
    const ann = videoUser(server, (await fixture.addUser('ann')).at(server))
    const urls = [`${host.url}/real-face/1.png`, `${host.url}/real-face/2.png`]
    const inside = `data:image/png;base64,${png.toString('base64')}`
    const ids = [
      await ann.created('one', auto(...urls)),
      await ann.created('two', auto(inside)),
      await ann.created('three', auto(inside, ...urls)),
    ]
    for (const id of ids) await until(async () => (await ann.statusOf(id)) === 'succeeded')
    expect(emulator.library.assets()).toHaveLength(1)
    expect(emulator.video.tasks()).toHaveLength(3)
  },
  60_000,
)

const kills = Number(process.env.SLUICE_KILLS ?? 4)

test.each(databaseNames)(
  'two gateways that are killed lose no such task, and make no asset twice (%s)',
  async (database) => {
    await using fixture = await openServerFixture(database, {
      video: { queuedMs: 0, runningMs: 100, maxRunning: { '*': 100 } },
      processingMs: 300,
    })
    const { emulator } = fixture
    // A kill meets some of these calls, and the upstream makes the asset or the task afterwards.
    for (const action of ['CreateAsset', 'CreateAssetGroup', 'CreateVideoTask'] as const)
      emulator.faults.add({ kind: 'delay', ms: 150, action, times: Number.POSITIVE_INFINITY, probability: 0.5 })
    const settings = { ...environment(fixture), MEDIA_UPSTREAM_TIMEOUT_SECONDS: '1', UPSTREAM_QUEUE_SECONDS: '1' }
    const servers = [await fixture.start(settings), await fixture.start(settings)]
    const users = await Promise.all(['ann', 'bob', 'cyd'].map((name) => fixture.addUser(name)))
    const created: { readonly user: (typeof users)[number]; readonly id: string }[] = []
    let alive = true
    const clients = users.map(async (user, nth) => {
      for (let number = 0; alive; number++) {
        const server = servers[(nth + number) % 2]
        const faces = [number % 5, (number * 3 + 1) % 7].map((face) => `https://files.example/real-face/${face}.png`)
        const reply =
          server &&
          (await videoUser(server, user.at(server))
            .send('POST', '', { model: MODEL, ...auto(...faces) })
            .catch(() => undefined))
        if (reply?.status === 200) created.push({ user, id: reply.json.id })
        await new Promise((resolve) => setTimeout(resolve, 300))
      }
    })
    for (let kill = 0; kill < kills; kill++) {
      await new Promise((resolve) => setTimeout(resolve, 300 + Math.random() * 900))
      const nth = kill % 2
      await servers[nth]?.kill('SIGKILL')
      servers[nth] = await fixture.start(settings)
    }
    alive = false
    await Promise.all(clients)
    const [server] = servers
    if (!server) throw new Error('no server is left')
    expect(created.length).toBeGreaterThan(kills)
    for (const { user, id } of created)
      await until(async () => (await videoUser(server, user.at(server)).statusOf(id)) === 'succeeded')
    const assets = emulator.library.assets()
    const names = assets.map(({ groupId, url }) => `${groupId} ${url}`)
    expect(names.length).toBeGreaterThan(5)
    expect(new Set(names).size).toBe(names.length)
    expect(emulator.library.groups()).toHaveLength(users.length)
    // Each asset is its user's.
    for (const user of users) {
      const { json } = await user.at(server).ask('GET', '/assets?GroupType=AIGC&PageNumber=1&PageSize=100')
      const own = new Set(json.Result.Items.map(({ GroupId }: { GroupId: string }) => GroupId))
      expect(own.size).toBe(1)
    }
    // A create whose response a kill has lost may go on.
    const rowsOf = async () => {
      const lists = users.map(({ id }) => fixture.store.videoTasks(id, {}, { offset: 0, limit: 1_000 }))
      return (await Promise.all(lists)).flatMap(({ tasks }) => tasks)
    }
    await until(async () => emulator.video.tasks().length === (await rowsOf()).length)
  },
  120_000 + kills * 10_000,
)
