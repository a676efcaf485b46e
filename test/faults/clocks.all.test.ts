/** Runs with `--all`: it needs libfaketime, which changes the clock of a process. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { globSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MODEL, text } from '../emulator/video-client.ts'
import { browse, openFixture } from '../server/fixture.ts'
import { describeIf } from '../support/run-if.ts'

setDefaultTimeout(300_000)

const [library] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1')

/** The environment of a process whose clock differs as the file says, for example `+30s`. Its timers do not. */
const clockOf = (file: string) => ({
  LD_PRELOAD: library,
  FAKETIME_TIMESTAMP_FILE: file,
  FAKETIME_NO_CACHE: '1',
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
})

const openClock = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-clock-'))
  const file = join(folder, 'offset')
  await writeFile(file, '+0\n')
  return {
    environment: clockOf(file),
    set: (offset: string) => writeFile(file, `${offset}\n`),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  }
}

const video = { queuedMs: 0, runningMs: Number.POSITIVE_INFINITY }
const image = { URL: 'https://files.example/a.png', AssetType: 'Image' }

describeIf(library !== undefined, 'libfaketime is not installed')('the clock of a process', () => {
  test('may differ by 30 seconds from that of another one: names, keys, slots and limits of use hold', async () => {
    await using fixture = await openFixture('sqlite', { video })
    await using clock = await openClock()
    await clock.set('+30s')
    const { emulator } = fixture
    const ann = await fixture.addUser('ann')
    await fixture.addPerson('pia')
    const environment = {
      ...{ VIDEO_UPSTREAM_URL: emulator.video.url, VIDEO_UPSTREAM_KEY: emulator.video.key, VIDEO_SLOTS: '{"*":2}' },
      ...{ TEXT_UPSTREAM_URL: emulator.text.url, TEXT_UPSTREAM_KEY: emulator.text.key },
      MEDIA_UPSTREAM_LIMITS: JSON.stringify({ CreateAsset: 5 }),
      USER_LIMITS: JSON.stringify([{ unit: 'requests', amount: 40, model: 'doubao-seed-emulated' }]),
    }
    const servers = [await fixture.start(environment), await fixture.start({ ...environment, ...clock.environment })]
    const dates = await Promise.all(servers.map(async ({ url }) => (await fetch(`${url}/healthz`)).headers.get('date')))
    expect(Date.parse(dates[1] ?? '') - Date.parse(dates[0] ?? '')).toBeGreaterThan(20_000)
    const either = (index: number) => servers[index % 2] ?? (servers[0] as never)
    const all = <Result>(count: number, ask: (index: number) => Promise<Result>) =>
      Promise.all(Array.from({ length: count }, (_, index) => ask(index)))
    const headers = { authorization: `Bearer ${ann.token}`, 'content-type': 'application/json' }
    const post = async (index: number, path: string, body: object, more = {}) =>
      (
        await fetch(either(index).url + path, {
          method: 'POST',
          headers: { ...headers, ...more },
          body: JSON.stringify(body),
        })
      ).status

    const names = await all(20, (index) =>
      post(index, '/api/media/proxy/assets/groups', { Name: `name ${index >> 1}` }),
    )
    expect(names.filter((status) => status === 200)).toHaveLength(10)
    const key = { 'idempotency-key': 'key-1' }
    const keyed = await all(6, (index) => post(index, '/api/media/proxy/assets/groups', { Name: 'keyed' }, key))
    expect(emulator.library.groups().filter(({ name }) => name === 'keyed')).toHaveLength(1)
    expect(keyed).toContain(200)
    const videos = await all(6, (index) =>
      post(index, '/api/v3/contents/generations/tasks', { model: MODEL, content: [text('a cat')] }),
    )
    expect(videos).toEqual(Array(6).fill(200))
    const chat = { model: 'doubao-seed-emulated', messages: [{ role: 'user', content: 'Hello' }] }
    const chats = await all(60, (index) => post(index, '/v1/chat/completions', chat))
    const accepted = chats.filter((status) => status === 200).length
    expect(accepted).toBeLessThanOrEqual(40)
    expect(emulator.video.tasks().length).toBeLessThanOrEqual(2)
    const group = emulator.library.groups()[0]?.id
    const assets = await all(20, (index) =>
      post(index, '/api/media/proxy/assets', { GroupId: group, ...image, Name: `asset ${index}` }),
    )
    // The process whose clock is behind waits for times that the other one has written. What it has sent just before is
    // old to that one: so a second has at most twice the rate.
    expect(assets.filter((status) => status !== 200 && status !== 429)).toEqual([])
    expect(assets).toContain(200)
    expect(emulator.maxCallsPerSecond('CreateAsset')).toBeLessThanOrEqual(10)
    // A session that one of them begins works at the other, both ways.
    for (const index of [0, 1]) {
      const { cookie } = await browse(either(index), 'pia')
      expect((await fetch(`${either(index + 1).url}/api/session`, { headers: { cookie } })).status).toBe(200)
    }
  })

  test('may jump by a day, and back: all works within five seconds, and only what has ended in that day is gone', async () => {
    await using fixture = await openFixture('sqlite', { video })
    await using clock = await openClock()
    const { emulator } = fixture
    const ann = await fixture.addUser('ann')
    await fixture.addPerson('pia')
    const server = await fixture.start({
      ...{ VIDEO_UPSTREAM_URL: emulator.video.url, VIDEO_UPSTREAM_KEY: emulator.video.key, VIDEO_SLOTS: '{"*":100}' },
      ...{ TEXT_UPSTREAM_URL: emulator.text.url, TEXT_UPSTREAM_KEY: emulator.text.key },
      MEDIA_UPSTREAM_LIMITS: JSON.stringify({ CreateAssetGroup: 50 }),
      USER_LIMITS: JSON.stringify([{ unit: 'requests', amount: 1_000, window: 'minute' }]),
      ...clock.environment,
    })
    const headers = { authorization: `Bearer ${ann.token}`, 'content-type': 'application/json' }
    const post = async (path: string, body: object) =>
      (await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) })).status
    let names = 0
    const work = async () => [
      await post('/api/media/proxy/assets/groups', { Name: `name ${names++}` }),
      await post('/v1/chat/completions', {
        model: 'doubao-seed-emulated',
        messages: [{ role: 'user', content: 'Hello' }],
      }),
      await post('/v1/responses', { model: 'doubao-seed-emulated', input: 'Hello' }),
      await post('/api/v3/contents/generations/tasks', { model: MODEL, content: [text('a cat')] }),
      (await fetch(`${server.url}/readyz`)).status,
    ]
    const usual = Array(5).fill(200)
    expect(await work()).toEqual(usual)
    const { cookie } = await browse(server, 'pia')
    const session = async () => (await fetch(`${server.url}/api/session`, { headers: { cookie } })).status
    expect(await session()).toBe(200)
    for (const offset of ['+1d', '+0', '-1d', '+0']) {
      await clock.set(offset)
      let statuses = await work()
      for (let tries = 0; tries < 50 && !Bun.deepEquals(statuses, usual); tries++) {
        await Bun.sleep(100)
        statuses = await work()
      }
      // Sessions end after 30 minutes without a request.
      expect([offset, await session()]).toEqual([offset, offset === '+1d' ? 401 : 200])
      expect([offset, statuses]).toEqual([offset, usual])
    }
  })
})
