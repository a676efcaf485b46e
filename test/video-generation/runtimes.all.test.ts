/** Runs with `--all`: servers on both runtimes and both databases. */
import { expect, test } from 'bun:test'
import { databaseNames } from '../support/database.ts'
import { openServerFixture } from '../support/server-fixture.ts'
import { until, videoUser } from './fixture.ts'

const combinations = (['bun', 'deno'] as const).flatMap((runtime) =>
  databaseNames.map((database) => [runtime, database] as const),
)

test.each(combinations)(
  'the default server on %s with %s makes videos one after the other',
  async (runtime, database) => {
    await using fixture = await openServerFixture(database, { video: { queuedMs: 0, runningMs: 50 } })
    const { emulator } = fixture
    const server = await fixture.start(
      {
        ...{ VIDEO_UPSTREAM_URL: emulator.video.url, VIDEO_UPSTREAM_KEY: emulator.video.key },
        ...{ VIDEO_SLOTS: '{"*":1}', VIDEO_POLL_SECONDS: '0.05', LOG_LEVEL: 'debug' },
      },
      runtime,
    )
    const ann = videoUser(server, (await fixture.addUser('ann')).at(server))
    const bob = videoUser(server, (await fixture.addUser('bob')).at(server))
    const ids = [await ann.created('one'), await ann.created('two'), await ann.created('three')]
    for (const id of ids) await until(async () => (await ann.statusOf(id)) === 'succeeded')
    const { json, text } = await ann.get(ids[0] ?? '')
    expect((await fetch(json.content.video_url)).headers.get('content-type')).toBe('video/mp4')
    expect((await ann.send('GET', '?filter.status=succeeded')).json.total).toBe(3)
    const foreign = await bob.get(ids[0] ?? '')
    expect([foreign.status, foreign.code]).toEqual([404, 'NotFound.Task'])
    expect((await ann.send('DELETE', `/${ids[0]}`)).text).toBe('{}')
    expect((await ann.get(ids[0] ?? '')).text).toBe(foreign.text)
    const ready: unknown = await (await fetch(`${server.url}/readyz`)).json()
    expect(ready).toMatchObject({ upstreams: { video: 'reachable' } })
    const output = server.stdout() + server.stderr() + text
    expect(output).not.toContain(emulator.video.key)
    for (const { id } of emulator.video.tasks()) expect(text).not.toContain(id)
  },
  60_000,
)
