/** Runs with `--all`: a server, and a load of everything that writes. */
import { expect, test } from 'bun:test'
import { create } from '../emulator/video-client.ts'
import { judge } from './judge/index.ts'
import { openTables } from './judge/tables.ts'
import { useAndKill } from './run.ts'
import { openKillWorld } from './world.ts'

/** What could happen to a database, and what the judge must say. */
const harms: readonly (readonly [string, RegExp])[] = [
  [
    `delete from stored_responses where id = (select max(id) from stored_responses where previous_id is not null)`,
    /^response .* is lost/,
  ],
  [`delete from files where key = (select max(key) from files where kind = 'upload')`, /uploads of .* are kept, of/],
  [
    `update video_tasks set user_id = (select max(id) from users where id <> user_id and role = 'user')
     where id = (select max(id) from video_tasks where status = 'succeeded')`,
    /^a row of video_tasks of .* has zq/,
  ],
  [
    `update stored_items set user_id = (select max(id) from users where id <> user_id and role = 'user')
     where response_id = (select min(response_id) from stored_items)`,
    /^an item of a response has another owner/,
  ],
  [
    `update audit_entries set address = '192.0.2.1' where sequence = (
       select max(sequence) from audit_entries where action = 'group.create')`,
    /^entry \d+ is changed or forged/,
  ],
  [
    `delete from audit_entries where action = 'token.create' and sequence = (
       select min(sequence) from audit_entries where action = 'token.create')`,
    /^the audit trail has token\.create .* 0 times instead of 1/,
  ],
  [
    `update limit_use set used = used - 30 where used > 30
     and counter = (select max(counter) from limit_use where used > 30 and counter like '%tokens%emulated-wide%')`,
    /^tokens of emulated-wide of .* and not from/,
  ],
  [
    // Not one only: it could be that of the video that has changed its owner.
    `delete from events where type = 'video.succeeded'`,
    /events of the end of/,
  ],
  [`update library_counts set assets = assets + 1 where assets > 0`, /^the counts of .* counted \d+ groups with/],
  [`create table notes (id text primary key, user_id text not null)`, /^whose the rows of notes are is not known/],
]

test('the judge finds what is lost, twice, of somebody else, not counted or not in the audit trail', async () => {
  const options = { kills: 0, seed: 1 }
  await using world = await openKillWorld('sqlite', { processes: 1, seed: options.seed })
  await useAndKill(world, options)
  expect(await judge(world)).toEqual([])
  const { emulator, history } = world
  await using tables = openTables(world.databaseUrl)
  for (const [statement] of harms) await tables.query(statement)
  const asset = emulator.library.assets().find(({ name }) => history.creations.has(name))
  emulator.library.addAsset({ groupId: asset?.groupId ?? '', name: asset?.name ?? '' })
  const video = emulator.video.tasks().find(({ status }) => status === 'succeeded')?.request.prompt
  await create(emulator, video)
  const found = await judge(world)
  const twice = [/^the upstream has the asset .* twice/, /^the upstream has the video .* twice/]
  for (const pattern of [...twice, ...harms.map(([, each]) => each)])
    expect([pattern, found.filter((problem) => pattern.test(problem)).length > 0]).toEqual([pattern, true])
}, 300_000)
