import { expect, test } from 'bun:test'
import type { PageOf, PagePlace, TokenFilter, UserFilter } from '../../plugins/admin/store.ts'
import { createAdminTokenStore } from '../../src/store/admin/admin-tokens.ts'
import { createAdminUserStore } from '../../src/store/admin/admin-users.ts'
import { createTeamStore } from '../../src/store/admin/teams.ts'
import type { Database } from '../../src/store/database/database.ts'
import { openDatabase } from '../../src/store/database/kinds.ts'
import { sql } from '../../src/store/database/statement.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { readingsOf, recordStatements } from '../support/rows-read.ts'

/** Rows that a page of 50 may read, with any number of users: 5,000 names or 500 users are examined at once. */
const maxRows = 10_000

/** The same of all tokens: 10,000 are examined for a page, once for the match and once for its place. */
const maxTokenRows = 35_000

/**
 * Users of 50 teams, every hundredth an admin, every tenth disabled; half of the tokens are of one user, the other half
 * is revoked. One in 5,000 has expired.
 */
export const seedPeople = async (database: Database, users: number): Promise<void> => {
  for (let nth = 0; nth < 50; nth++) {
    const id = `team-${nth}`
    await database.query(sql`insert into teams (id, name, name_key, created_at) values (${id}, ${id}, ${id}, ${nth})`)
  }
  await database.query(sql`
    insert into users (id, name, name_key, created_at, role, disabled_at, team_id)
    with recursive numbers (i) as (select cast(0 as bigint) union all select i + 1 from numbers where i < ${users - 1})
    select 'user-' || i, 'Name ' || i, 'name ' || i, i, case when i % 100 = 0 then 'admin' else 'user' end,
      case when i % 10 = 3 then i end, 'team-' || (i % 50)
    from numbers`)
  await database.query(sql`
    insert into user_name_parts (part, user_id)
    with recursive numbers (i) as (select cast(1 as bigint) union all select i + 1 from numbers where i < 20)
    select distinct substr(users.name_key, cast(numbers.i as integer), 3), users.id
    from users
    join numbers on numbers.i <= length(users.name_key) - 2
    where users.name_key like 'name %'`)
  await database.query(sql`
    insert into tokens (id, user_id, hash, start, created_at, label, label_key, revoked_at, expires_at, last_used_at)
    with recursive numbers (i) as (select cast(0 as bigint) union all select i + 1 from numbers where i < ${users - 1})
    select 'token-' || i, 'user-' || (case when i % 2 = 0 then 0 else i end), 'hash-' || i, 'sk-' || i, i, 'Label ' || i, 'label ' || i,
      case when i % 2 = 1 then i end, case when i % 5000 = 2 then i end, case when i % 2 = 0 then i end
    from numbers`)
}

/** Declares the tests of lists with so many users, and as many tokens. */
export const testPeopleScale = (users: number, timeoutMs: number): void => {
  repeatOnDatabases(`lists of ${users} users and tokens`, (tested) => {
    test(
      'read few rows for each page, with any filter',
      async () => {
        const opened = openDatabase(tested.url, { deadlineMs: timeoutMs })
        await seedPeople(opened, users)
        if (tested.kind === 'postgres') await opened.query(sql`analyze`)
        const database = recordStatements(opened)
        const readings = readingsOf(tested)
        const store = {
          ...createAdminUserStore(database),
          ...createAdminTokenStore(database),
          ...createTeamStore(database),
        }
        const filters: readonly UserFilter[] = [
          ...[{}, { role: 'admin' }, { team: 'team-7' }, { state: 'disabled' }, { state: 'enabled' }],
          ...[{ search: 'name' }, { search: '123' }, { search: 'NAME 12' }, { search: 'nobody' }, { search: 'e' }],
          ...[
            { search: '12', team: 'team-12' },
            { search: 'name', role: 'admin' },
            { team: 'team-3', role: 'user' },
          ],
        ] as const
        const tokenFilters: readonly Omit<TokenFilter, 'now'>[] = [
          ...[{}, { search: 'label' }, { search: 'sk-12' }, { search: 'nothing' }, { search: '9' }],
          ...[{ state: 'revoked' }, { state: 'expired' }, { state: 'valid' }, { unusedSince: 1 }, { usedSince: 1e15 }],
          ...[
            { user: 'user-0', search: '7' },
            { user: 'user-0', usedSince: 1e15 },
            { state: 'expired', search: 'none' },
          ],
        ] as const
        type List = (after: PagePlace | undefined) => Promise<PageOf<unknown>>
        const lists: Readonly<Record<string, List>> = {
          ...Object.fromEntries(
            filters.map((filter) => [
              `users ${JSON.stringify(filter)}`,
              ((after) => store.listAdminUsers(filter, { limit: 50, after })) satisfies List,
            ]),
          ),
          ...Object.fromEntries(
            tokenFilters.map((filter) => [
              `all tokens ${JSON.stringify(filter)}`,
              ((after) =>
                store.listAdminTokens(
                  { ...filter, now: Number.MAX_SAFE_INTEGER },
                  { limit: 50, after },
                )) satisfies List,
            ]),
          ),
          tokens: (after) => store.listUserTokens('user-0', { limit: 50, after }),
          'tokens of a user with one': (after) => store.listUserTokens('user-1', { limit: 50, after }),
          teams: (after) => store.listTeams({ limit: 50, after }),
        }
        const problems: string[] = []
        for (const [name, list] of Object.entries(lists)) {
          let after: PagePlace | undefined
          for (let page = 1; page <= 3; page++) {
            database.taken()
            const { next } = await list(after)
            const statements = database.taken()
            let rows = 0
            for (const statement of statements) {
              const reading = await readings.of(statement)
              rows += reading.rows ?? 0
              const scans = reading.scans.filter((scan) => /users|tokens|user_name_parts/.test(scan))
              // What is counted has a limit of its own.
              if (scans.length > 0 && !reading.text.includes('as part0'))
                problems.push(`${name}: ${scans.join()} ${reading.text}`)
            }
            if (rows > (name.startsWith('all tokens') ? maxTokenRows : maxRows))
              problems.push(`page ${page} of ${name} reads ${rows} rows`)
            if (statements.length > 20) problems.push(`page ${page} of ${name}: ${statements.length} statements`)
            after = next
            if (!after) break
          }
        }
        expect(problems).toEqual([])
        await readings.close()
        await opened.close()
      },
      timeoutMs,
    )
  })
}
