/** Runs with `--all`: kills many processes while tasks are created. */
import { describe, expect, test } from 'bun:test'
import { databaseNames } from '../support/database.ts'
import { isSlow } from '../support/run-if.ts'
import type { ServerProcess } from '../support/server.ts'
import { openServerFixture, type ServerFixture } from '../support/server-fixture.ts'
import { MODEL, text, videoUser } from './fixture.ts'

const kills = Number(process.env.SLUICE_KILLS ?? (isSlow ? 50 : 4))
const slots = 4

/** Claims of a killed process are settled after three seconds. */
const environment = ({ emulator }: ServerFixture) => ({
  VIDEO_UPSTREAM_URL: emulator.video.url,
  VIDEO_UPSTREAM_KEY: emulator.video.key,
  VIDEO_SLOTS: `{"*":${slots}}`,
  VIDEO_POLL_SECONDS: '0.05',
  VIDEO_CREATE_TIMEOUT_SECONDS: '1',
  VIDEO_SETTLE_SECONDS: '1',
})

interface Attempt {
  readonly user: string
  readonly prompt: string
  /** Id in the gateway's response. Undefined when there was none. */
  readonly acknowledged: string | undefined
}

type Users = readonly Awaited<ReturnType<ServerFixture['addUser']>>[]

/** Creates tasks at two servers, and kills one after the other at random moments. */
const createWithKills = async (fixture: ServerFixture, users: Users): Promise<readonly Attempt[]> => {
  const history: Attempt[] = []
  const servers: ServerProcess[] = [
    await fixture.start(environment(fixture)),
    await fixture.start(environment(fixture)),
  ]
  let alive = true
  const clients = users.map(async (user, nth) => {
    for (let number = 0; alive; number++) {
      const server = servers[(nth + number) % 2]
      const prompt = `${user.id} ${number}`
      const body = { model: MODEL, content: [text(prompt)] }
      const reply =
        server &&
        (await videoUser(server, user.at(server))
          .send('POST', '', body)
          .catch(() => undefined))
      history.push({ user: user.id, prompt, acknowledged: reply?.status === 200 ? reply.json.id : undefined })
      // The queue stays short, so that the test ends soon after the last kill.
      await new Promise((resolve) => setTimeout(resolve, 150))
    }
  })
  for (let kill = 0; kill < kills; kill++) {
    await new Promise((resolve) => setTimeout(resolve, 200 + Math.random() * 400))
    const nth = Math.floor(Math.random() * 2)
    await servers[nth]?.kill('SIGKILL')
    servers[nth] = await fixture.start(environment(fixture))
  }
  alive = false
  await Promise.all(clients)
  return history
}

describe.each(isSlow ? databaseNames : (['sqlite'] as const))('two gateways that are killed (%s)', (kind) => {
  test(
    'lose no task, and create none twice',
    async () => {
      await using fixture = await openServerFixture(kind, {
        video: { queuedMs: 0, runningMs: 200, maxRunning: { '*': slots }, whenFull: 'reject' },
      })
      const { emulator, store } = fixture
      // Half of the create calls take long: a kill meets some of them, and the upstream creates the task afterwards.
      emulator.faults.add({
        ...{ kind: 'delay', ms: 150, api: 'video', action: 'CreateVideoTask' },
        ...{ times: Number.POSITIVE_INFINITY, probability: 0.5 },
      })
      const users = await Promise.all(['ann', 'bob', 'cyd'].map((name) => fixture.addUser(name)))
      const history = await createWithKills(fixture, users)
      const rowsOf = async () => {
        const lists = await Promise.all(users.map(({ id }) => store.videoTasks(id, {}, { offset: 0, limit: 10_000 })))
        return lists.flatMap(({ tasks }) => tasks)
      }
      let all = await rowsOf()
      for (; !all.every(({ phase }) => phase === 'ended'); all = await rowsOf()) {
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
      const rows = new Map(all.map((row) => [row.id, row]))
      const upstream = Map.groupBy(emulator.video.tasks(), ({ request }) => request.prompt)
      const acknowledged = history.filter((attempt) => attempt.acknowledged !== undefined)
      if (isSlow)
        console.log({
          kind,
          kills,
          creations: history.length,
          acknowledged: acknowledged.length,
          rows: rows.size,
          again: [...rows.values()].filter(({ attempts }) => attempts > 1).length,
        })
      expect(acknowledged.length).toBeGreaterThan(kills)
      const lost = acknowledged.filter((attempt) => rows.get(attempt.acknowledged ?? '')?.status !== 'succeeded')
      expect(lost).toEqual([])
      expect([...upstream.values()].filter((tasks) => tasks.length !== 1)).toEqual([])
      // Each task of the upstream belongs to a row of its user, also those whose callers got no answer.
      const owners = new Map([...rows.values()].map((row) => [row.upstreamId, row.user]))
      for (const [prompt, [task]] of upstream) expect(`${owners.get(task?.id)}`).toBe(prompt.split(' ')[0] ?? '')
      for (const attempt of acknowledged) expect(upstream.has(attempt.prompt)).toBe(true)
      const usage = (await Promise.all(users.map(({ id }) => store.listUsage({ user: id })))).flat()
      expect(usage.reduce((sum, { calls }) => sum + calls, 0)).toBe(upstream.size)
      const rejected = emulator.calls.filter(({ status }) => status === 429)
      expect(rejected).toEqual([])
    },
    120_000 + kills * 10_000,
  )
})
