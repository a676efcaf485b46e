import { statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { parseArgs } from 'node:util'
import { renderStatement } from '../../../src/store/database/statement.ts'
import { countExisting } from '../../../src/store/limits/existing.ts'
import { statements } from '../../store/source-statements.ts'
import { environment } from '../environment.ts'
import type { Started } from '../processes.ts'
import { type ExecutedStatement, findProblems, readExecutedStatements, writePlans } from './executed-plans.ts'
import { fullSize, type Size } from './fill.ts'
import { plannedScans } from './planned-scans.ts'
import { allRequests, hotRequests, type SizeRequest, send } from './requests.ts'
import { databaseName, libraries, openSizeWorld, type SizeWorld } from './world.ts'

export const sizeUsage = `usage: bun run bench size [OPTION…]
Fills PostgreSQL with 100,000 users, 1,000,000 groups and 10,000,000 assets, and says how long a server takes to start, what
each request costs users with libraries of different sizes, and what each statement reads. Ends with status 1 if one reads too much.
options
  --part N            a hundredth, for example, with 100. Default: 1
  --rounds N          requests of each kind. Default: 200
  --rest N            seconds in which the server removes what is old, while its statements are recorded. Default: 90
  --folder PATH       where PostgreSQL has its files: 8 GB for all of it. Default: the folder for temporary files
  --json FILE         writes the figures to this file`

export interface SizeOptions {
  readonly part: number
  readonly rounds: number
  readonly restSeconds: number
  readonly folder: string
  readonly json: string | undefined
}

/** Parses the command line. Throws an Error for invalid arguments. */
export const readSizeOptions = (args: readonly string[]): SizeOptions => {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...args],
    options: { part: text, rounds: text, rest: text, folder: text, json: text },
  })
  const number = (name: 'part' | 'rounds' | 'rest', usual: number, max: number): number => {
    const value = Number(values[name] ?? usual)
    if (!(Number.isInteger(value) && value >= 1 && value <= max))
      throw new Error(`--${name} must be an integer from 1 to ${max}`)
    return value
  }
  return {
    part: number('part', 1, 1_000),
    rounds: number('rounds', 200, 10_000),
    restSeconds: number('rest', 90, 3_600),
    folder: values.folder ?? tmpdir(),
    json: values.json,
  }
}

/** `bun run bench size`. */
export const size = async (args: readonly string[]): Promise<void> => {
  let options: SizeOptions
  try {
    options = readSizeOptions(args)
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${sizeUsage}`)
    process.exit(2)
  }
  const facts = environment([{ name: 'sluice', path: '.' }])
  console.log(facts.text)
  const report = await measureSize(options, console.log)
  if (options.json !== undefined)
    await writeFile(options.json, `${JSON.stringify({ environment: facts.values, ...report }, undefined, 2)}\n`)
  console.log(report.problems.length === 0 ? 'bounded' : `not bounded:\n${report.problems.join('\n')}`)
  process.exit(report.problems.length === 0 ? 0 : 1)
}

export interface SizeReport {
  readonly bytes: number
  readonly starts: readonly StartTimes[]
  readonly latencies: readonly Latency[]
  readonly statements: readonly ExecutedStatement[]
  /** What reads too much. */
  readonly problems: readonly string[]
}

/** From the start of the process on. Milliseconds. */
export interface StartTimes {
  readonly listening: number
  readonly ready: number
  readonly firstList: number
}

export interface Latency {
  readonly limited: boolean
  readonly assets: string
  readonly title: string
  readonly p50: number
  readonly p99: number
}

/** Tables with fewer rows may be read from end to end: for a page of a hundred rows, that is what costs least. */
const largeRows = 15_000
/** Rows that one statement may read. */
const maxRows = 12_000
const gigabyte = 2 ** 30
/** A connection plans a statement for any values after five executions. */
const repetitions = 7

/** Without rate limits, which cost a query for each call and are not about size. */
const unlimitedRate = { MEDIA_UPSTREAM_LIMITS: '{}' }
const existingLimits = [
  { unit: 'groups', amount: 100_000_000 },
  { unit: 'assets', amount: 100_000_000 },
]
const limits = {
  USER_LIMITS: JSON.stringify([...existingLimits, { unit: 'requests', amount: 1e9, window: 'day' }]),
  ACCOUNT_LIMITS: JSON.stringify(existingLimits),
}

export const measureSize = async (
  { part, rounds, restSeconds, folder }: Omit<SizeOptions, 'json'>,
  say: (text: string) => void,
): Promise<SizeReport> => {
  const { bavail, bsize } = await statfs(folder)
  if (part < 10 && bavail * bsize < 12 * gigabyte) throw new Error(`${folder} has less than 12 GB of room`)
  const counts = partOf(fullSize, part)
  const sizes = libraries.map(({ groups, assets }) => ({ groups: Math.ceil(groups / part), assets }))
  const world = await openSizeWorld(folder, counts, sizes, say)
  const [stored] = await world.database.unsafe(`select pg_database_size('${databaseName}') as bytes`)
  const bytes = Number(stored?.bytes)
  say(`the database has ${(bytes / gigabyte).toFixed(2)} GB`)

  const starts = await measureStarts(world)
  for (const { listening, ready, firstList } of starts)
    say(`start: listens after ${listening} ms, is ready after ${ready} ms, first list after ${firstList} ms`)
  const latencies: Latency[] = []
  for (const limited of [false, true]) {
    const server = await world.start({ ...unlimitedRate, ...(limited && limits) })
    for (const user of world.users)
      for (const make of hotRequests(user))
        latencies.push({ limited, assets: user.title, ...(await measureLatency(server, make, rounds)) })
    await server.stop()
  }
  sayLatencies(latencies, say)

  const executed = await recordStatements(world, restSeconds)
  const large = await largeTables(world)
  const planned = await plannedScans(
    world.database,
    statements('$').filter(({ file }) => !readsAll.includes(file)),
    large,
  )
  await sayWholeCounts(world, say)
  say(`${executed.length} statements were executed, ${statements('$').length} are in the sources`)
  for (const each of executed.toSorted((a, b) => b.rows - a.rows).slice(0, 25))
    say(
      `${each.rows} rows, ${each.buffers} pages, ${each.ms.toFixed(1)} ms, ${each.times} times: ${each.text.slice(0, 150)}`,
    )
  await world.database.close()
  world.stop()
  return {
    ...{ bytes, starts, latencies, statements: executed },
    problems: [
      ...findProblems(executed, large, maxRows).filter((each) => !readsMore.some((known) => known.test(each))),
      ...planned,
    ],
  }
}

/** Files whose statements read a large table from end to end, and may. */
const readsAll = [
  // They read a row for each user.
  'limits/existing.ts of account',
  'library/account-use.ts',
  // The lists of all tokens, which no route has.
  'users/tokens.ts',
]

/** Statements that are known to read more, by how they begin, and what they read. */
const readsMore: readonly RegExp[] = [
  // What all users have, for a limit of the account: a row for each.
  /^reads (?:\d+ rows|all of library_counts): select .* from library_counts where library_counts.groups > 0/,
  // Up to 10,000 events and the newest of their users, every ten minutes.
  /^reads \d+ rows: select count\(\*\) as count from \( select user_id, sequence from events /,
]

/** How long those take which read a row for each user. */
const sayWholeCounts = async ({ database }: SizeWorld, say: (text: string) => void): Promise<void> => {
  const amount = 100_000_000
  for (const unit of ['groups', 'assets'] as const) {
    const counter = { id: 'a', unit, subject: { type: 'account', id: '' }, bucket: 0 } as const
    const text = renderStatement('$')(countExisting(counter, amount, Date.now()))
    const startedAt = performance.now()
    await database.unsafe(text, [...countExisting(counter, amount, Date.now()).values])
    say(`a limit of the account on ${unit} counts for ${Math.round(performance.now() - startedAt)} ms`)
  }
}

const partOf = ({ users, groups, assets }: Size, part: number): Size => ({
  users: Math.ceil(users / part),
  groups: Math.ceil(groups / part),
  assets: Math.ceil(assets / part),
})

const measureStarts = async (world: SizeWorld): Promise<readonly StartTimes[]> => {
  const [user] = world.users
  const [list] = user ? hotRequests(user) : []
  if (!list) throw new Error('there are no users')
  // The first one builds the bundle.
  await (await world.start()).stop()
  const starts: StartTimes[] = []
  for (let nth = 0; nth < 3; nth++) {
    const startedAt = performance.now()
    const passed = () => Math.round(performance.now() - startedAt)
    const server = await world.start()
    const listening = passed()
    while ((await fetch(`${server.url}/readyz`)).status !== 200) await Bun.sleep(2)
    const ready = passed()
    await send(server.url, list())
    starts.push({ listening, ready, firstList: passed() })
    await server.stop()
  }
  return starts
}

/** Of one kind of request. The slowest takes seconds. */
const maxLatencyMs = 20_000

const measureLatency = async (server: Started, make: () => SizeRequest, rounds: number) => {
  const times: number[] = []
  let title = ''
  const endsAt = performance.now() + maxLatencyMs
  for (let round = 0; round < rounds && performance.now() < endsAt; round++) {
    const request = make()
    title = request.title
    const startedAt = performance.now()
    await send(server.url, request)
    times.push(performance.now() - startedAt)
  }
  times.sort((a, b) => a - b)
  const at = (part: number) =>
    Number((times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0).toFixed(2))
  return { title, p50: at(0.5), p99: at(0.99) }
}

const sayLatencies = (latencies: readonly Latency[], say: (text: string) => void): void => {
  say('p50 / p99 in ms, by the assets of the user')
  for (const [key, rows] of Map.groupBy(latencies, ({ title, limited }) => `${title}${limited ? ', with limits' : ''}`))
    say(`  ${key.padEnd(38)}${rows.map(({ assets, p50, p99 }) => `${assets}: ${p50} / ${p99}`.padStart(26)).join('')}`)
}

/** Runs a server under requests of every kind, with its background work. What it asks of the database is recorded. */
const recordStatements = async (world: SizeWorld, restSeconds: number): Promise<readonly ExecutedStatement[]> => {
  await world.database.unsafe(writePlans(databaseName))
  const server = await world.start(limits)
  const startedAt = performance.now()
  const requests = await allRequests(world, await world.newCookie(server.url))
  for (let nth = 0; nth < repetitions; nth++) for (const make of requests) await send(server.url, make())
  await Bun.sleep(Math.max(0, restSeconds * 1_000 - (performance.now() - startedAt)))
  await server.stop()
  return readExecutedStatements(world.postgres.folder)
}

const largeTables = async ({ database }: SizeWorld): Promise<ReadonlySet<string>> => {
  const tables = await database.unsafe(`select relname from pg_class where relkind = 'r' and reltuples >= ${largeRows}`)
  return new Set(tables.map(({ relname }: { relname: string }) => relname))
}
