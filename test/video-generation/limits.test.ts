import { expect, test } from 'bun:test'
import { folderStorage } from 'sluice/file-storage'
import { type Limit, usageLimits } from '../../plugins/usage-limits/index.ts'
import { temporaryFolder } from '../file-storage/fixture.ts'
import { repeatedDatabases } from '../support/database.ts'
import { MODEL, openVideoFixture, until, type VideoFixtureOptions, type VideoReply } from './fixture.ts'

const open = (userLimits: readonly Limit[], options: VideoFixtureOptions = {}) =>
  openVideoFixture({
    ...options,
    gateway: { modelAliases: { 'sora-2': MODEL }, ...options.gateway },
    more: { limitsOf: (store) => usageLimits({ store: store.limits, userLimits }), ...options.more },
  })

const statuses = (replies: readonly VideoReply[]) => replies.map(({ status }) => status).sort()

for (const database of repeatedDatabases)
  for (const unit of ['videos', 'requests'] as const)
    test(`of twelve tasks at once, as many are created as ${unit} are left (${database})`, async () => {
      await using fixture = await open([{ unit, amount: 3, window: 'day' }], { database })
      const { ann, emulator } = fixture
      const replies = await Promise.all(Array.from({ length: 12 }, (_, nth) => ann.create(`a cat ${nth}`)))
      expect(statuses(replies)).toEqual([200, 200, 200, ...Array(9).fill(429)])
      expect(emulator.video.tasks()).toHaveLength(3)
    }, 300_000)

test('a limit of a model counts it by the name that callers use, and by the name of the upstream', async () => {
  const limit = { unit: 'videos', amount: 1, window: 'day' } as const
  for (const [model, allowed] of [
    ['sora-2', [200, 429, 200]],
    ['doubao-*', [200, 429, 429]],
  ] as const) {
    await using fixture = await open([{ ...limit, model }])
    const { ann } = fixture
    const make = (model: string, query = '') =>
      fetch(`${fixture.gateway.url}/v1/videos${query}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ann.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, prompt: 'a cat' }),
      })
    const dry = (await (await make('sora-2', '?dry_run=true')).json()) as { readonly limits: readonly object[] }
    expect(dry.limits).toMatchObject([{ unit: 'videos', model, needed: 1 }])
    const first = await make('sora-2')
    const second = await make('sora-2')
    const native = await ann.create('a cat')
    expect([model, [first.status, second.status, native.status]]).toEqual([model, [...allowed]])
  }
}, 300_000)

test('a full storage refuses new videos where their results are copied, and keeps the results of those that run', async () => {
  const folder = await temporaryFolder()
  await using fixture = await open([{ unit: 'storage_bytes', amount: 100 }], {
    more: { files: { storage: folderStorage(folder.path) } },
  })
  const { ann, bob, emulator } = fixture
  const ids = [await ann.created('a cat'), await ann.created('a dog')]
  for (const id of ids) await until(async () => (await ann.statusOf(id)) === 'running')
  for (const { id } of emulator.video.tasks()) emulator.video.finish(id)
  for (const id of ids) await until(async () => (await ann.statusOf(id)) === 'succeeded')
  // The copies of the results count when they are complete, which the status does not wait for.
  await until(async () => (await ann.create('a bird', { dry_run: true })).status === 429)
  const refused = await ann.create('a bird')
  expect(refused.status).toBe(429)
  expect(refused.json.error.message).toContain('the limit of 100 storage bytes at once of the user is reached')
  expect(emulator.video.tasks()).toHaveLength(2)
  // Others have their own.
  expect((await bob.create('a bird')).status).toBe(200)
  await folder[Symbol.asyncDispose]()
}, 300_000)
