import type { SQL } from 'bun'
import { countLibrary } from '../../../src/store/migrations/library-counts.ts'

/** How much a database is filled with. */
export interface Size {
  readonly users: number
  readonly groups: number
  readonly assets: number
}

export const fullSize: Size = { users: 100_000, groups: 1_000_000, assets: 10_000_000 }

/** Rows of one statement. */
const rowsAtOnce = 1_000_000
const dayMs = 86_400_000

interface Rows {
  readonly table: string
  readonly columns: string
  /** The columns of row `n`, from 0. */
  readonly values: string
  readonly count: number
}

/**
 * Fills a migrated database with bulk statements: the users with a token and a session each, their groups and assets,
 * and of everything else that grows as much as a busy month leaves. Indexes that no constraint needs are made again
 * after the rows, from their own definitions, and the statistics are brought up to date.
 */
export const fill = async (database: SQL, size: Size, now: number, say: (text: string) => void): Promise<void> => {
  // They would count for each row.
  for (const table of ['groups', 'assets']) await database.unsafe(`alter table ${table} disable trigger user`)
  for (const [table, rows] of Map.groupBy(rowsOf(size, now), ({ table }) => table)) {
    const startedAt = performance.now()
    const indexes = await database.unsafe(`
      select indexdef, indexname from pg_indexes
      where schemaname = 'public' and tablename = '${table}'
      and not exists (select 1 from pg_constraint where conname = indexname)`)
    for (const { indexname } of indexes) await database.unsafe(`drop index ${indexname}`)
    for (const each of rows) await insert(database, each)
    const filledAt = performance.now()
    for (const { indexdef } of indexes) await database.unsafe(indexdef)
    const count = rows.reduce((sum, each) => sum + each.count, 0)
    const seconds = (from: number, to: number) => ((to - from) / 1_000).toFixed(1)
    say(
      `${table}: ${count} rows in ${seconds(startedAt, filledAt)} s, ` +
        `${indexes.length} indexes in ${seconds(filledAt, performance.now())} s`,
    )
  }
  const countedFrom = performance.now()
  await database.unsafe(countLibrary.strings.join(''))
  say(`the groups and assets are counted in ${((performance.now() - countedFrom) / 1_000).toFixed(1)} s`)
  for (const table of ['groups', 'assets']) await database.unsafe(`alter table ${table} enable trigger user`)
  await database.unsafe('update teams set members = (select count(*) from users where users.team_id = teams.id)')
  await database.unsafe('update event_sequence set value = (select max(sequence) from events)')
  await database.unsafe('vacuum analyze')
}

const insert = async (database: SQL, { table, columns, values, count }: Rows): Promise<void> => {
  for (let from = 0; from < count; from += rowsAtOnce) {
    const last = Math.min(from + rowsAtOnce, count) - 1
    await database.unsafe(`
      insert into ${table} (${columns})
      select ${values} from generate_series(${from}::bigint, ${last}::bigint) as n on conflict do nothing`)
  }
}

/** An id that does not follow the order of the rows, as a random one. */
const uuid = (prefix: string) => `md5('${prefix}' || n)::uuid::text`

const rowsOf = ({ users, groups, assets }: Size, now: number): readonly Rows[] => {
  const day = (days: string) => `to_char(to_timestamp(${now / 1_000}) - (${days}) * interval '1 day', 'YYYY-MM-DD')`
  const user = `'user-' || (n % ${users})`
  const ago = (days: number, count: number) => `${now} - (${days * dayMs}::bigint * (${count} - n)) / ${count}`
  const perUser = (times: number) => Math.ceil(users * times)
  return [
    {
      ...{ table: 'teams', columns: 'id, name, name_key, created_at', count: 1_000 },
      values: `'team-' || n, 'Team ' || n, 'team ' || n, n`,
    },
    {
      ...{ table: 'users', columns: 'id, name, name_key, created_at, role, disabled_at, team_id', count: users },
      values: `'user-' || n, 'Name ' || n, 'name ' || n, n, case when n % 1000 = 0 then 'admin' else 'user' end,
        case when n % 10 = 3 then n end, 'team-' || (n % 1000)`,
    },
    ...[1, 2, 3, 4, 5, 6, 7].map((at) => ({
      ...{ table: 'user_name_parts', columns: 'part, user_id', count: users },
      values: `substr('name ' || n, ${at}, 3), 'user-' || n`,
    })),
    {
      ...{ table: 'tokens', columns: 'id, user_id, hash, start, created_at, label, label_key, revoked_at, expires_at' },
      values: `${uuid('token')}, ${user}, md5('hash' || n), 'sk-' || n, n, 'Label ' || n, 'label ' || n,
        case when n % 10 = 7 then ${now} end, case when n % 100 = 2 then n end`,
      count: users,
    },
    {
      ...{ table: 'sessions', columns: 'hash, id, user_id, created_at, idle_until, ends_at', count: users },
      values: `md5('session' || n), ${uuid('session')}, ${user}, ${now}, ${now + dayMs} + n, ${now + 7 * dayMs} + n`,
    },
    {
      ...{ table: 'groups', columns: 'id, group_id, user_id, type, name, state, created_at, dated', count: groups },
      values: `${uuid('group')}, 'group-20260101000000-' || n, ${user},
        case when n % 50 = 7 then 'LivenessFace' else 'AIGC' end, 'group ' || n, 'owned', ${ago(300, groups)}, 1`,
    },
    {
      ...{ table: 'assets', columns: 'id, group_id, deleted_at', count: assets },
      values: `'asset-20260101000000-' || n, 'group-20260101000000-' || (n % ${groups}),
        case when n % 10 = 9 then ${now} end`,
    },
    {
      ...{ table: 'consents', columns: 'group_id, owner_id, verified_at, withdrawn_at', count: Math.ceil(groups / 50) },
      values: `'group-20260101000000-' || (n * 50 + 7), 'user-' || ((n * 50 + 7) % ${users}), n,
        case when n % 100 = 1 then n end`,
    },
    {
      table: 'group_shares',
      columns: 'id, group_id, owner_id, borrower_kind, borrower_id, access, created_at',
      values: `${uuid('share')}, 'group-20260101000000-' || n, ${user}, 'user', 'user-' || ((n + 1) % ${users}), 'use', n`,
      count: perUser(0.5),
    },
    {
      ...{ table: 'events', columns: 'sequence, id, user_id, type, data, at', count: perUser(5) },
      values: `n + 1, 'evt_' || md5('event' || n), ${user}, 'asset.ready', '{"id":"asset-' || n || '"}',
        ${ago(8, perUser(5))}`,
    },
    {
      table: 'webhooks',
      columns: 'id, user_id, url, secret, created_at, failures, paused_until, due_at, lease_until',
      values: `'whk_' || n, ${user}, 'https://receiver.example/', 'whsec_', n, 0, 0,
        case when n % 2 = 0 then ${now + 30 * dayMs} end, 0`,
      count: perUser(0.1),
    },
    {
      ...{ table: 'deliveries', columns: 'webhook_id, event_sequence, created_at, due_at, attempts' },
      values: `'whk_' || (n % ${perUser(0.1)}), n + 1, ${ago(3, users)}, ${now + 30 * dayMs}, 1`,
      count: users,
    },
    {
      table: 'video_tasks',
      columns: `id, user_id, model, service_tier, pool, place, phase, status, upstream_id, created_at, expires_at,
        ended_at, lease_until, attempts, bytes, fields`,
      values: `'cgt-20260101000000-' || lpad(n::text, 9, '0'), ${user}, 'doubao-seedance-1-0-pro', 'default', null, null,
        'ended', case when n % 5 = 0 then 'failed' else 'succeeded' end, 'up-' || n, ${ago(91, perUser(5))},
        ${now}, ${ago(91, perUser(5))}, 0, 1, 1, '{}'`,
      count: perUser(5),
    },
    {
      ...{ table: 'video_asset_uses', columns: 'task_id, asset_id, user_id, group_id', count: perUser(1) },
      values: `'cgt-20260101000000-' || lpad(n::text, 9, '0'), 'asset-20260101000000-' || n, ${user},
        'group-20260101000000-' || (n % ${groups})`,
    },
    {
      table: 'text_usage',
      columns: `user_id, token_id, day, model, calls, unreported, input_tokens, cached_tokens, output_tokens,
        reasoning_tokens, cost, team_id`,
      values: `'user-' || (n / 4), case when n % 2 = 0 then '' else md5('token' || (n / 4))::uuid::text end, ${day('n % 4 * 40')}, 'model-' || (n % 5), 1, 0, 10, 4, 5, 3, 7,
        'team-' || (n / 4 % 1000)`,
      count: perUser(0.5),
    },
    {
      ...{ table: 'audit_entries', columns: 'id, at, action, user_id, times', count: perUser(5) },
      values: `${uuid('audit')}, ${ago(91, perUser(5))}, 'group.create', ${user}, 1`,
    },
    {
      table: 'idempotency_keys',
      columns: 'user_id, route, key, fingerprint, holder, attempt, attempted_at, lease_until, expires_at, status',
      values: `${user}, 'groups', 'key-' || n, '', '', '', 0, 0, ${now} + (n - ${users}) * 500, 200`,
      count: perUser(2),
    },
    {
      ...{ table: 'text_objects', columns: 'kind, id, user_id, upstream, model, created_at, expires_at' },
      values: `'response', 'resp_' || md5('r' || n), ${user}, 'up', 'm', ${now}, ${now} + (n - 1000) * 60000`,
      count: perUser(2),
    },
    {
      ...{ table: 'files', columns: 'key, user_id, kind, bytes, created_at, expires_at', count: perUser(2) },
      values: `'results/' || n, ${user}, 'result', 1000, ${now}, ${now} + (n + 1000) * 6000`,
    },
    {
      ...{ table: 'limit_use', columns: 'counter, bucket, used, held, ends_at', count: perUser(2) },
      values: `'user ' || n, ${now}, 1, 0, ${now} + (n - 1000) * 60000`,
    },
    {
      table: 'face_verifications',
      columns: 'id, user_id, kind, status, created_at, expires_at, lease_until, asks',
      values: `${uuid('face')}, ${user}, 'rest', 'verified', ${ago(40, users)}, ${ago(40, users)}, 0, 1`,
      count: users,
    },
    {
      ...{ table: 'asset_batches', columns: 'id, user_id, group_id, group_type, created_at, ended_at', count: users },
      values: `'batch_' || n, ${user}, 'group-20260101000000-' || n, 'AIGC', n, ${ago(31, users)}`,
    },
  ]
}
