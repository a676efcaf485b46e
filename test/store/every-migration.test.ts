import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import type { Database, Row } from '../../src/store/database/database.ts'
import { databaseKinds } from '../../src/store/database/kinds.ts'
import { type Statement, sql } from '../../src/store/database/statement.ts'
import { openStore } from '../../src/store/index.ts'
import { migrate } from '../../src/store/migrations/migrate.ts'
import { migrations } from '../../src/store/migrations/migrations.ts'
import { eachEmptyDatabase, type TestDatabase } from '../support/database.ts'

const hash = createHash('sha256').update('sk-old').digest('hex')
const at = Date.UTC(2026, 1, 28, 12)

/**
 * Rows of each table in the columns that it had when it was new, so that they go through all later migrations.
 * `program`: the migrations or the program fill it.
 */
const rows: Readonly<Record<string, readonly Row[] | 'program'>> = {
  sluice_migrations: 'program',
  revision: 'program',
  event_sequence: 'program',
  delivery_turns: 'program',
  audit_chain: 'program',
  user_name_parts: 'program',
  usage_rollups: 'program',
  usage_rollup_turns: 'program',
  metric_counts: 'program',
  first_account: 'program',
  library_counts: 'program',
  users: [
    { id: 'u1', name: 'Ann', password: 'hash', created_at: 1 },
    { id: 'u2', name: 'Bob', created_at: 2, disabled_at: 3 },
  ],
  tokens: [
    { id: 't1', user_id: 'u1', hash, start: 'sk-old', label: 'laptop', created_at: 1 },
    { id: 't2', user_id: 'u2', hash: 'h2', start: 'sk-2', created_at: 1, expires_at: 9, revoked_at: 8 },
  ],
  groups: [
    { id: 'g1', group_id: 'up-1', user_id: 'u1', type: 'AIGC', name: 'faces', state: 'owned', created_at: 1 },
    { id: 'g2', user_id: 'u1', type: 'AIGC', name: 'open', state: 'pending', created_at: 1, due_at: 2 },
  ],
  assets: [{ id: 'a1', group_id: 'up-1' }],
  secrets: [{ name: 'session', value: 'secret of the session cookies' }],
  upstream_places: [{ action: 'ListAssets', place: 1, free_at: 1, lease_until: 2, taken_by: 'u1' }],
  upstream_turns: [{ action: 'ListAssets', user_id: 'u1', served_at: 1, waits_until: 2 }],
  text_usage: [
    {
      ...{ user_id: 'u1', token_id: 't1', day: '2026-01-31', model: 'm1', calls: 3, unreported: 1, input_tokens: 100 },
      ...{ cached_tokens: 40, output_tokens: 50, reasoning_tokens: 5 },
    },
    {
      ...{ user_id: 'u1', token_id: '', day: '2026-02-01', model: 'm2', calls: 2, unreported: 0, input_tokens: 10 },
      ...{ cached_tokens: 0, output_tokens: 7, reasoning_tokens: 0 },
    },
    {
      ...{
        user_id: 'host',
        token_id: 'gone',
        day: '2026-02-01',
        model: 'm1',
        calls: 1,
        unreported: 0,
        input_tokens: 1,
      },
      ...{ cached_tokens: 0, output_tokens: 1, reasoning_tokens: 0 },
    },
  ],
  sessions: [{ hash: 's1', user_id: 'u1', password_hash: 'hash', created_at: 1, idle_until: at * 2, ends_at: at * 2 }],
  login_attempts: [{ key: 'k', failures: 3, blocked_until: 1, forget_at: at * 2, counted_by: 'c' }],
  face_verifications: [
    {
      id: 'f1',
      user_id: 'u1',
      kind: 'ark',
      status: 'pending',
      created_at: 1,
      expires_at: at * 2,
      lease_until: 0,
      asks: 1,
    },
  ],
  text_objects: [
    {
      ...{ kind: 'response', id: 'resp_1', user_id: 'u1', token_id: 't1', upstream: 'default', model: 'm1' },
      ...{ created_at: 1, expires_at: at * 2 },
    },
  ],
  changes: [{ revision: 1, kind: 'groups', key: 'u1' }],
  audit_entries: [{ id: 'e1', at: 5, action: 'login', user_id: 'u1', user_name: 'Ann', address: '::1', times: 1 }],
  user_turns: [{ user_id: 'u1', turn: 4 }],
  text_usage_batches: [{ id: 'batch', at: 1 }],
  stored_responses: [
    {
      ...{ id: 'resp_1', user_id: 'u1', item_bytes: 2, bytes: 4, bytes_before: 0, created_at: 1, expires_at: at * 2 },
      ...{ response: '{}' },
    },
  ],
  stored_items: [
    { response_id: 'resp_1', position: 0, id: 'msg_1', user_id: 'u1', is_output: 1, json: '{}', created_at: 1 },
  ],
  events: [{ sequence: 1, id: 'evt_1', user_id: 'u1', type: 'video.succeeded', data: '{}', at: 1 }],
  webhooks: [
    {
      ...{ id: 'w1', user_id: 'u1', url: 'http://127.0.0.1/hook', secret: 's', created_at: 1, failures: 0 },
      ...{ paused_until: 0, lease_until: 0 },
    },
  ],
  deliveries: [{ webhook_id: 'w1', event_sequence: 1, created_at: 1, due_at: 1, attempts: 0 }],
  callbacks: [
    {
      ...{ id: 'msg_1', sequence: 1, user_id: 'u1', url: 'http://127.0.0.1/callback', subject: 'v1', body: '{}' },
      ...{ created_at: 1, due_at: 1, lease_until: 0, attempts: 0 },
    },
  ],
  idempotency_keys: [
    {
      ...{
        user_id: 'u1',
        route: 'POST /api/v3',
        key: 'k',
        fingerprint: 'f',
        holder: 'h',
        attempt: 'a',
        attempted_at: 1,
      },
      ...{ lease_until: 0, expires_at: at * 2, status: 200, headers: '[]', body: '{}' },
    },
  ],
  leases: [{ name: 'job', holder: 'h', lease_until: 1 }],
  video_tasks: [
    {
      ...{ id: 'v1', user_id: 'u1', token_id: 't1', model: 'seedance', service_tier: 'default', pool: 'seedance' },
      ...{ place: 1, phase: 'submitted', status: 'running', upstream_id: 'up-v1', created_at: 1, expires_at: at * 2 },
      ...{ lease_until: 0, due_at: 1, attempts: 1, bytes: 2, fields: '{}' },
    },
  ],
  video_pools: [{ pool: 'seedance', turn: 1, pass: 1, paused_until: 0, pauses: 0, used_at: 1 }],
  video_turns: [{ pool: 'seedance', user_id: 'u1', pass: 1 }],
  files: [{ key: 'file', user_id: 'u1', kind: 'upload', bytes: 3, created_at: 1, expires_at: at * 2 }],
  asset_batches: [{ id: 'b1', user_id: 'u1', group_id: 'up-1', group_type: 'AIGC', created_at: 1, due_at: 1 }],
  asset_batch_items: [{ batch_id: 'b1', position: 1, state: 'waiting', attempts: 0, name: 'a', body: '{}' }],
  asset_watches: [{ asset_id: 'a1', group_id: 'up-1', user_id: 'u1', created_at: 1, due_at: 1, polls: 1 }],
  video_request_pieces: [{ task_id: 'v1', position: 0, written_at: 1, piece: '{' }],
  stored_pieces: [{ response_id: 'resp_1', item: -1, position: 0, piece: '{' }],
  disabled_host_users: [{ id: 'host-2', disabled_at: 1 }],
  teams: [{ id: 'team', name: 'Red', name_key: 'red', created_at: 1 }],
  invitations: [{ user_id: 'u2', hash: 'i', created_at: 1, expires_at: 2 }],
  deleted_names: [{ kind: 'token', id: 'gone', name: 'old laptop', start: 'sk-gone' }],
  video_asset_uses: [{ task_id: 'v1', asset_id: 'a1', user_id: 'u1', group_id: 'up-1' }],
  registered_pictures: [{ user_id: 'u1', digest: 'd1', group_id: 'up-1', claimed_at: 1, lease_until: 1 }],
  slotted_assets: [
    {
      ...{ id: 'sa1', user_id: 'u1', group_id: 'up-1', state: 'present', upstream_id: 'up-sa1', status: 'Active' },
      ...{ attempts: 2, lease_until: 0, ready: 1, created_at: 1, updated_at: 1, used_at: 1, due_at: 1, removed_at: 2 },
      ...{ original: 'originals/sa1.png', name: 'a', body: '{}', item: '{}' },
    },
  ],
  slotted_groups: [{ group_id: 'up-1', turn: 1 }],
  person_slots: [{ id: 'ps1', user_id: 'u1', expires_at: at * 2 }],
  asset_uses: [{ id: 'use-1', asset_id: 'sa1', user_id: 'u1', waiting: 0, lease_until: 1 }],
  slot_evictions: [{ account: 'a', evicted_at: 1 }],
  slot_limits: [{ account: 'a', slots: 1 }],
  slot_waits: [{ id: 'use-2', user_id: 'u1', lease_until: 1 }],
  group_shares: [
    {
      ...{ id: 's1', group_id: 'up-1', owner_id: 'u1', borrower_kind: 'user', borrower_id: 'u2', access: 'use' },
      ...{ created_at: 1, expires_at: at * 2 },
    },
  ],
  consents: [
    {
      ...{ group_id: 'up-1', owner_id: 'u1', verification_id: 'f1', invited_by: 'u1', invited_at: 1, verified_at: 2 },
      ...{ used_at: 3, withdrawn_at: 4, withdrawn_by_kind: 'owner', withdrawn_by: 'u1', deletion_at: 5 },
      ...{ deletion_by_kind: 'person', due_at: 6, assets_at: 7, assets: 1, results: 2, uses: 3 },
    },
  ],
  consent_links: [{ hash: 'l1', group_id: 'up-1', created_at: 2 }],
  consent_uses: [
    {
      ...{ group_id: 'up-1', task_id: 'v1', asset_id: 'a1', user_id: 'u1', used_at: 3, status: 'succeeded' },
      ...{ ended_at: 4, is_kept: 0 },
    },
  ],
  limit_use: [{ counter: 'c1', bucket: 0, used: 70, held: 20 }],
  limit_holders: [{ holder: 'task:v1', seq: 1, gives_back: 0 }],
  limit_blocks: [{ holder: 'task:v1', counter: 'c1', bucket: 0, unit: 'tokens', held: 20, booked: 0 }],
}

const statementOf = (texts: readonly string[], values: readonly (string | number)[] = []): Statement => ({
  strings: Object.assign([...texts], { raw: texts }),
  values,
})

const insert = (table: string, row: Row): Statement => {
  const columns = Object.keys(row)
  const holes = columns.slice(1).map(() => ', ')
  return statementOf([`insert into ${table} (${columns.join(', ')}) values (`, ...holes, ')'], Object.values(row))
}

const tablesOf = async ({ kind }: TestDatabase, database: Database): Promise<readonly string[]> => {
  const found =
    kind === 'sqlite'
      ? await database.query(sql`select name from sqlite_master where type = 'table' and name not like 'sqlite%'`)
      : await database.query(sql`select tablename as name from pg_tables where schemaname = 'public'`)
  return found.map(({ name }) => String(name))
}

eachEmptyDatabase('a database of the first version', (tested) => {
  test('has all its rows after each migration to this version, and works', async () => {
    const database = databaseKinds[tested.kind].open(tested.url, { deadlineMs: 60_000 })
    const filled = new Set<string>()
    for (let version = 1; version <= migrations.length; version++) {
      await database.exclusively(() => migrate(1, migrations.slice(0, version)))
      for (const table of await tablesOf(tested, database)) {
        if (filled.has(table)) continue
        filled.add(table)
        const added = rows[table]
        if (added === undefined) throw new Error(`the test has no rows of the table ${table}`)
        if (added !== 'program') for (const row of added) await database.query(insert(table, row))
      }
    }
    expect([...filled].sort()).toEqual(Object.keys(rows).sort())
    for (const [table, added] of Object.entries(rows)) {
      if (added === 'program') continue
      const kept = await database.query(statementOf([`select * from ${table}`]))
      expect(kept.length).toBe(added.length)
      for (const row of added) expect(kept).toContainEqual(expect.objectContaining(row))
    }

    const store = openStore(tested.url, { deadlineMs: 60_000 })
    await store.migrate()
    expect(await store.ownerOf(hash)).toMatchObject({ user: 'u1', token: 't1', role: 'user' })
    expect(await store.secret('session')).toBe('secret of the session cookies')
    expect(await store.adminUserByName('ANN')).toMatchObject({ id: 'u1', login: 'password' })
    expect(await store.videoTask('u1', 'v1')).toMatchObject({ user: 'u1', status: 'running' })
    expect(await store.team('team')).toMatchObject({ members: 0 })

    const report = async (by: readonly ('token' | 'model' | 'day')[]) =>
      (await store.sumUsage({ filter: {}, by, limit: 10 })).rows
    expect(await report([])).toMatchObject([{ calls: 6, unreported: 1, inputTokens: 111, outputTokens: 58 }])
    const models = (await report(['model'])).map(({ model, calls, cachedTokens }) => ({ model, calls, cachedTokens }))
    expect(models).toEqual([
      { model: 'm1', calls: 4, cachedTokens: 40 },
      { model: 'm2', calls: 2, cachedTokens: 0 },
    ])
    expect((await report(['day'])).map(({ day, calls }) => `${day} ${calls}`)).toEqual(['2026-01-31 3', '2026-02-01 3'])
    const tokens = (await report(['token'])).map(({ token, tokenName, calls }) => `${token} ${tokenName} ${calls}`)
    expect(tokens.sort()).toEqual(['gone old laptop 1', 't1 laptop 3', 'undefined undefined 2'])
    expect((await store.listUsage({ user: 'u1' })).map(({ calls }) => calls)).toEqual([3, 2])

    const subject = { type: 'user', id: 'u1' } as const
    const use = await store.limits.limitUse([{ id: 'c1', unit: 'tokens', subject, bucket: 0 }], at)
    expect(use).toEqual([{ used: 70, allHeld: 20 }])
    expect(await store.limits.limitSubjects('u1', 't1')).toEqual({
      user: { id: 'u1', name: 'Ann' },
      token: { id: 't1', name: 'laptop', limits: [] },
    })
    const limits = [{ unit: 'assets', amount: 1 }] as const
    await store.changeUser('u1', { limits: JSON.stringify(limits), team: 'team' }, { now: 1 })
    expect((await store.limits.limitSubjects('u1', 't1'))?.user.limits).toMatchObject(limits)
    const assets = await store.limits.limitUse([{ id: 'c2', unit: 'assets', subject, bucket: 0 }], at)
    expect(assets).toMatchObject([{ used: 1 }])
    expect(await store.team('team')).toMatchObject({ members: 1 })
    await Promise.all([store.close(), database.close()])
  }, 300_000)
})
