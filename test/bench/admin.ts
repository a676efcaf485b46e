import { createToken, hashToken } from '../../plugins/api-token/index.ts'
import { openDatabase } from '../../src/store/database/kinds.ts'
import { sql } from '../../src/store/database/statement.ts'
import { UsageRollup } from '../../src/store/usage/usage-rollup.ts'
import { openFixture, read } from '../rate-limits/fixture.ts'
import { seedPeople } from '../store/people-scale.ts'
import { seedUsage } from '../store/usage-scale.ts'

/** Users, each with one token and ten rows of usage. */
const [, kinds = 'sqlite,postgres', many = '100000'] = process.argv.slice(2)
const sizes = [10, Number(many)]
const rounds = 9
const secondsOfOthers = 15

/** Without rate limits, which cost a query for each call. */
const environment = { MEDIA_UPSTREAM_LIMITS: '{}' }

/** The routes of operators whose cost could grow with their tables. */
const paths = [
  ...['/users?', '/users?search=name', '/users?search=12', '/users?role=admin', '/users?state=disabled'],
  ...['/users?team=team-7', '/tokens?', '/tokens?search=label', '/tokens?state=revoked', '/users/user-0/tokens?'],
  ...['/teams?', '/audit?', '/usage?', '/usage?group_by=day', '/usage?group_by=user', '/usage?group_by=user,model'],
  ...['/usage?group_by=team,day', '/usage?group_by=token,day', '/usage?group_by=day,user,team,token,model'],
  ...['/usage?group_by=user&since=2025-03-10&until=2025-08-20', '/usage?group_by=model&user=user-7'],
]

/**
 * `bun run bench admin [DATABASES] [USERS]`: the time of operators' lists and reports with 10 users and 100 rows of
 * usage, and with 100,000 users and tokens and 1,000,000 rows; and how long other users wait meanwhile.
 */
export const admin = async (): Promise<void> => {
  for (const kind of ['sqlite', 'postgres'] as const) {
    if (!kinds.split(',').includes(kind)) continue
    const times = new Map<string, number[]>()
    for (const users of sizes)
      for (const [path, ms] of await measure(kind, users)) times.set(path, [...(times.get(path) ?? []), ms])
    console.log(
      `${kind}: median ms of the slowest of the first three pages of 50, with ${sizes.join(' and with ')} users`,
    )
    for (const [path, [few = 0, many = 0]] of times)
      console.log(`  ${path.padEnd(52)}${few.toFixed(1).padStart(8)}${many.toFixed(1).padStart(8)}`)
  }
  process.exit(0)
}

const measure = async (kind: 'sqlite' | 'postgres', users: number): Promise<ReadonlyMap<string, number>> => {
  await using fixture = await openFixture({ kind, users: 1, processes: 1, perSecond: 100_000, environment })
  const { base, servers, readers } = fixture
  const [server] = servers
  const [reader] = readers
  const url = base.environment.DATABASE_URL ?? ''
  const database = openDatabase(url, { deadlineMs: 3_600_000 })
  if (!server || !reader) throw new Error('there is no server')
  await seedPeople(database, users)
  await seedUsage(database, users)
  const rollup = new UsageRollup(database)
  while (!(await rollup.catchUp()));
  rollup.close()
  if (kind === 'postgres') await database.query(sql`analyze`)
  await database.close()

  const root = await base.store.addAdminUser({ name: 'root', role: 'admin', createdAt: Date.now() })
  if (typeof root === 'string') throw new Error(root)
  const token = createToken()
  await base.store.addUserToken(root.id, {
    ...{ hash: hashToken(token), start: token.slice(0, 9), createdAt: Date.now(), scopes: ['admin'] },
  })
  const get = async (path: string): Promise<{ readonly next_cursor: string | null }> => {
    const response = await fetch(`${server.url}/api/admin${path}`, { headers: { authorization: `Bearer ${token}` } })
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response.json() as Promise<{ readonly next_cursor: string | null }>
  }

  const medians = new Map<string, number>()
  for (const path of paths) {
    let slowest = 0
    let cursor: string | null = ''
    for (let page = 1; page <= 3 && cursor !== null; page++) {
      const from: string = cursor === '' ? path : `${path}&cursor=${cursor}`
      const times: number[] = []
      for (let round = 0; round < rounds; round++) {
        const askedAt = performance.now()
        const answer = await get(from)
        times.push(performance.now() - askedAt)
        cursor = answer.next_cursor
      }
      slowest = Math.max(slowest, times.sort((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0)
    }
    medians.set(path, slowest)
  }

  for (const operators of [0, 1]) {
    const endsAt = performance.now() + secondsOfOthers * 1_000
    const until = () => performance.now() > endsAt
    let pages = 0
    const operate = async () => {
      while (operators > 0 && !until()) await get(paths[pages++ % paths.length] ?? '')
    }
    const [waits] = await Promise.all([read(reader, server, { atOnce: 2, until }), operate()])
    const sorted = waits.map(({ ms }) => ms).sort((a, b) => a - b)
    const at = (part: number) => (sorted[Math.floor(part * sorted.length)] ?? 0).toFixed(2)
    console.log(
      `${kind}, ${users} users, ${operators} operators (${pages} pages): ${sorted.length} asset details of others, median ${at(0.5)} ms, p99 ${at(0.99)} ms`,
    )
  }
  return medians
}
