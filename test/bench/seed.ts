/**
 * Fills the database of a checkout's gateway: `seed.ts TREE DATABASE_URL [large]`. Adds a user with a token, which it prints, and ten groups.
 * With `large` it adds 10,000 more users with 10 tokens and 100 groups each.
 */
import { SQL } from 'bun'

const [, , tree = '', url = '', size = ''] = process.argv

// The measured checkout may be another version than this one. Only use what both have.
const { openStore } = (await import(`${tree}/src/store/index.ts`)) as typeof import('../../src/store/index.ts')
const { createToken, hashToken } = (await import(
  `${tree}/plugins/api-token/index.ts`
)) as typeof import('../../plugins/api-token/index.ts')

const store = openStore(url)
await store.migrate()
const createdAt = Date.UTC(2026, 0, 1)
const user = await store.addUser({ name: 'ann', createdAt })
if (user === undefined) throw new Error('the database is not empty')
const token = createToken()
await store.addToken({ user, hash: hashToken(token), start: token.slice(0, 9), createdAt })
for (let nth = 0; nth < 10; nth++) {
  await store.adoptGroup({ user, id: `group-${nth}`, type: 'AIGC', name: `group ${nth}`, createdAt })
}
await store.close()

if (size === 'large') {
  const database = new SQL(url, { max: 1 })
  const numbers = (count: number) =>
    `with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n < ${count - 1})`
  const users = 10_000
  const fill = (table: string, columns: string, count: number, values: string) =>
    database.unsafe(`insert into ${table} (${columns}) ${numbers(count)} select ${values} from numbers`)
  await fill('users', 'id, name, created_at', users, `'user-' || n, 'user ' || n, ${createdAt}`)
  await fill(
    'tokens',
    'id, user_id, hash, start, created_at',
    10 * users,
    `'token-' || n, 'user-' || (n % ${users}), 'hash-' || n, 'sk-000000', ${createdAt}`,
  )
  await fill(
    'groups',
    'id, group_id, user_id, type, name, state, created_at, dated',
    100 * users,
    `'row-' || n, 'large-group-' || n, 'user-' || (n % ${users}), 'AIGC', 'group ' || n, 'owned', ${createdAt}, 1`,
  )
  await database.close()
}
console.log(token)
