import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import postgres from 'postgres'
import { eachDatabase } from '../support/database.ts'

const folder = new URL('../../src/store/', import.meta.url).pathname

interface Written {
  readonly file: string
  readonly text: string
}

/** Every statement of the store, as it stands in the sources, with `mark` and a number in each hole. Migrations are for once. */
const statements = (mark: '?' | '$'): readonly Written[] =>
  readdirSync(folder)
    .filter((file) => file !== 'migrations.ts')
    .flatMap((file) => {
      const source = readFileSync(folder + file, 'utf8')
      return [...source.matchAll(/(?<!`)\bsql`/g)].map(({ index }) => ({ file, text: textAt(source, index + 4, mark) }))
    })

const textAt = (source: string, start: number, mark: string): string => {
  let text = ''
  let hole = 0
  let depth = 0
  for (let at = start; depth > 0 || source[at] !== '`'; at++) {
    const [character, next] = [source[at], source[at + 1]]
    if (depth > 0) depth += character === '{' ? 1 : character === '}' ? -1 : 0
    else if (character === '$' && next === '{') {
      text += mark + ++hole
      depth = 1
      at++
    } else text += character
  }
  return text
}

const pathOf = (url: string) => url.replace(/^sqlite:/, '')

/** Which index PostgreSQL takes, it decides by what there is. */
const rows = [
  `insert into users (id, name, created_at) select 'user-' || i, 'name-' || i, i from generate_series(1, 500) i`,
  `insert into tokens (id, user_id, hash, start, created_at)
    select 'token-' || i, 'user-' || i % 500 + 1, 'hash-' || i, 'sk-', i from generate_series(1, 2000) i`,
  `insert into groups (id, group_id, user_id, type, name, state, created_at)
    select 'row-' || i, 'group-' || i, 'user-' || i % 500 + 1, 'AIGC', 'name-' || i, 'owned', i from generate_series(1, 5000) i`,
  `insert into assets (id, group_id) select 'asset-' || i, 'group-' || i from generate_series(1, 5000) i`,
]

/** What is read from one end to the other. */
const scans = {
  sqlite: async (url: string): Promise<readonly string[]> => {
    const database = new DatabaseSync(pathOf(url))
    const found = statements('?').flatMap(({ file, text }) =>
      database
        .prepare(`explain query plan ${text}`)
        .all()
        // Neither are tables: a row of constants, and the numbers that a statement counts itself.
        .map(({ detail }) => /^SCAN (?!CONSTANT ROW|numbers)(\w+)(?: USING.* INDEX (\w+))?/.exec(String(detail)))
        .flatMap((scan) => (scan ? [`${file}: ${scan[2] ?? scan[1]}`] : [])),
    )
    database.close()
    return found
  },

  postgres: async (url: string): Promise<readonly string[]> => {
    const database = postgres(url, { max: 1 })
    for (const statement of rows) await database.unsafe(statement)
    await database`analyze users, tokens, groups, assets`
    // Small tables are read whole, and put together so, whatever indexes there are.
    for (const way of ['seqscan', 'hashjoin', 'mergejoin']) await database.unsafe(`set enable_${way} = off`)
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

/** By file: the index, or the table, that is read from one end to the other. */
const expected = [
  // Claims that are open.
  'claims.ts: claims_by_due',
  'groups.ts: claims_by_due',
  'pending.ts: claims_by_due',
  // Whoever has called in the last minutes, once in that time.
  'rate-limits.ts: upstream_turns',
  // One row.
  'revision.ts: revision',
  // A row for each process, while it lives and a while longer.
  'usage.ts: text_usage_batches',
  // Lists for an administrator.
  'tokens.ts: tokens_by_age',
  'users.ts: users',
].sort()

eachDatabase('statements of the store read no whole table', (database) => {
  test('but those that are small, or asked for', async () => {
    await database.open()
    expect(statements('?').length).toBeGreaterThan(90)
    expect([...new Set(await scans[database.kind](database.url))].sort()).toEqual(expected)
  })
})
