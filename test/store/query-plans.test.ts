import { expect, test } from 'bun:test'
import { DatabaseSync } from 'node:sqlite'
import postgres from 'postgres'
import { eachDatabase } from '../support/database.ts'
import { statements } from './source-statements.ts'

const pathOf = (url: string) => url.replace(/^sqlite:/, '')

/** Rows for the planner: PostgreSQL chooses an index by the size of the tables. */
const rows = [
  `insert into users (id, name, created_at) select 'user-' || i, 'name-' || i, i from generate_series(1, 500) i`,
  `insert into tokens (id, user_id, hash, start, created_at)
    select 'token-' || i, 'user-' || i % 500 + 1, 'hash-' || i, 'sk-', i from generate_series(1, 2000) i`,
  `insert into groups (id, group_id, user_id, type, name, state, created_at)
    select 'row-' || i, 'group-' || i, 'user-' || i % 500 + 1, 'AIGC', 'name-' || i, 'owned', i from generate_series(1, 5000) i`,
  `insert into video_tasks (
      id, user_id, model, service_tier, pool, place, phase, status, upstream_id, created_at, expires_at, ended_at, lease_until, due_at,
      attempts, bytes, fields
    )
    select 'task-' || i, 'user-' || i % 500 + 1, 'm', 'default', 'pool-' || i % 499, i,
      case i % 5 when 0 then 'waiting' when 1 then 'submitting' when 2 then 'submitted' when 3 then 'copying' else 'ended' end,
      'queued', 'up-' || i, i, i, case i % 5 when 4 then i end, i, case when i % 5 in (2, 3) then i end, 1, 1, '{}'
    from generate_series(1, 20000) i`,
  `insert into video_pools (pool, turn, pass, paused_until, pauses, used_at) select 'pool-' || i, 1, 1, 1, 1, 1 from generate_series(1, 500) i`,
  `insert into video_turns (pool, user_id, pass) select 'pool-' || i % 400 + 1, 'user-' || i, 1 from generate_series(1, 500) i`,
  `insert into slotted_assets (
      id, user_id, group_id, state, upstream_id, attempts, lease_until, status, ready, created_at, updated_at, used_at, name, body, item
    )
    select 'asset-' || i, 'user-' || i % 500 + 1, 'group-' || i, case i % 100 when 0 then 'present' else 'absent' end, 'up-' || i,
      1, 0, 'Active', 1, i, i, i, '', '{}', '{}' from generate_series(1, 10000) i`,
  `insert into assets (id, group_id) select 'asset-' || i, 'group-' || i from generate_series(1, 5000) i`,
]

/** The full scans of all statements, as `file: index or table`. */
const scans = {
  sqlite: async (url: string): Promise<readonly string[]> => {
    const database = new DatabaseSync(pathOf(url))
    const found = statements('?').flatMap(({ file, text }) =>
      database
        .prepare(`explain query plan ${text}`)
        .all()
        // A row of constants, the recursive queries `numbers`, `turns` and `waiting`, and the subqueries with other names are not tables.
        .map(({ detail }) =>
          /^SCAN (?!CONSTANT ROW|numbers|turns|waiting|counted|due|leased|ranked|wanted|examined|walked|oldest)(\w+)(?: USING.* INDEX (\w+))?/.exec(
            String(detail),
          ),
        )
        .flatMap((scan) => (scan ? [`${file}: ${scan[2] ?? scan[1]}`] : [])),
    )
    database.close()
    return found
  },

  postgres: async (url: string): Promise<readonly string[]> => {
    const database = postgres(url, { max: 1 })
    for (const statement of rows) await database.unsafe(statement)
    await database`analyze users, tokens, groups, assets, video_tasks, video_pools, video_turns`
    // Otherwise PostgreSQL scans and joins small tables without an index.
    for (const setting of ['seqscan', 'hashjoin', 'mergejoin']) await database.unsafe(`set enable_${setting} = off`)
    const found: string[] = []
    for (const { file, text } of statements('$')) {
      const [row] = await database.unsafe(`explain (generic_plan, format json) ${text}`)
      found.push(...scansOf(row?.['QUERY PLAN'][0].Plan).map((table) => `${file}: ${table}`))
    }
    await database.end({ timeout: 1 })
    return found
  },
}

/** https://www.postgresql.org/docs/18/sql-explain.html */
interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly Plans?: readonly Plan[]
}

const scansOf = (plan: Plan): readonly string[] => [
  ...(/^(?:Seq|Index|Index Only|Bitmap Index) Scan$/.test(plan['Node Type']) && plan['Index Cond'] === undefined
    ? [String(plan['Index Name'] ?? plan['Relation Name'])]
    : []),
  ...(plan.Plans ?? []).flatMap(scansOf),
]

/** The full scans that are allowed. */
const expected = [
  // 250 at most.
  'admin/user-queries.ts: admins_by_age',
  'admin/user-queries.ts: disabled_users_by_age',
  // Two admins at most.
  'admin/user-changes.ts: admins_by_age',
  // A row for each job, and for each 1,000 users of an unfinished import; when an import begins.
  'admin/user-import.ts: leases',
  // The open claims only.
  'library/claims.ts: claims_by_due',
  'library/groups.ts: claims_by_due',
  ...['account', 'team', 'token', 'user'].map((type) => `limits/existing.ts of ${type}: claims_by_due`),
  'library/open-claims.ts: claims_by_due',
  // The table has one row.
  'events/deliveries.ts: delivery_turns',
  'events/events.ts: event_sequence',
  // The users who have called in the last minutes; once in that time.
  'rate-limits.ts: upstream_turns',
  // The table has one row.
  'database/revision.ts: revision',
  // One row for each process of the last 30 days.
  'usage/usage.ts: text_usage_batches',
  // The rows of the last seconds only.
  'usage/rollup-step.ts: text_usage_to_roll_up',
  // The waiting, the running and the undecided tasks only; every few seconds, for metrics. There are several indexes of
  // each.
  'video/counts.ts: video_tasks_undecided',
  'video/counts.ts: video_tasks_unfinished',
  'video/counts.ts: video_tasks_waiting',
  // The same, when an operator asks.
  'video/slot-use.ts: video_tasks_waiting',
  // A row for each user who has groups: for a limit of the account, and for the accounts whose slots are known, once in
  // five seconds at most.
  'limits/existing.ts of account: library_counts',
  'library/account-use.ts: library_counts',
  // The running tasks only.
  'limits/existing.ts of account: video_tasks_unfinished',
  // The groups of persons, whose assets have slots of the same account; and those of their assets that are being created.
  'library/slots/held-slots.ts: groups_of_persons',
  'library/slots/held-slots.ts: person_slots',
  'library/slots/person-slots.ts: person_slots',
  // Lists of all tokens and users, which no route has.
  'users/tokens.ts: tokens_by_age',
  'users/users.ts: users_by_age',
].sort()

/** PostgreSQL reads an index. */
const expectedOnSqlite = [
  // The subqueries of a page, each with at most as many rows as the page.
  ...['consents', 'either', 'found', 'owned', 'recorded'].map((name) => `consents/consent-pages.ts: ${name}`),
  // The changes of the last 1,000 revisions, when a lost group is found.
  'library/claims.ts: changes',
]

eachDatabase('the statements of the store', (database) => {
  test('scan no whole table, except the allowed ones', async () => {
    await database.open()
    expect(statements('?').length).toBeGreaterThan(90)
    const found = (await scans[database.kind](database.url)).map((scan) =>
      scan
        .replace(/^(video\/(?:counts|slot-use).ts: video_tasks)_by_(?:expiry|age)$/, '$1_waiting')
        .replace('video/counts.ts: video_tasks_in_slots', 'video/counts.ts: video_tasks_unfinished')
        // Each database has its own index of the running ones.
        .replace(/^(video\/slot-use.ts): video_tasks_(?:unfinished|in_slots)$/, '$1: video_tasks_waiting'),
    )
    const more = database.kind === 'sqlite' ? expectedOnSqlite : []
    expect([...new Set(found)].sort()).toEqual([...expected, ...more].sort())
  })
})
