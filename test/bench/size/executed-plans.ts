import { createReadStream, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** How a server has executed the same statement, over all times. */
export interface ExecutedStatement {
  readonly text: string
  readonly times: number
  /** The most rows that it has read from tables and indexes at once. */
  readonly rows: number
  /** The most pages of 8 KiB. */
  readonly buffers: number
  /** Milliseconds of the slowest. */
  readonly ms: number
  /** Tables that it has read from end to end. */
  readonly scans: readonly string[]
}

/** The settings of a PostgreSQL server that writes how it has executed each statement: `auto_explain`, a part of it. */
export const planSettings = [
  'logging_collector=on',
  'log_destination=jsonlog',
  'log_directory=plans',
  'log_filename=plans',
  'log_rotation_size=0',
  'session_preload_libraries=auto_explain',
  // Off; the connections to a database turn it on.
  'auto_explain.log_min_duration=-1',
  'auto_explain.log_analyze=on',
  'auto_explain.log_buffers=on',
  'auto_explain.log_timing=off',
  'auto_explain.log_triggers=on',
  'auto_explain.log_format=json',
] as const

/** From the next connections to a database on, its statements are written down. */
export const writePlans = (database: string) => `alter database ${database} set auto_explain.log_min_duration = 0`

/** https://www.postgresql.org/docs/18/sql-explain.html */
interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly 'Shared Hit Blocks'?: number
  readonly 'Shared Read Blocks'?: number
  readonly Plans?: readonly Plan[]
}

/** Reads what a server whose files are in a folder has written: hundreds of megabytes. */
export const readExecutedStatements = async (folder: string): Promise<readonly ExecutedStatement[]> => {
  const statements = new Map<string, ExecutedStatement>()
  for (const file of readdirSync(join(folder, 'plans')).filter((name) => name.endsWith('.json'))) {
    for await (const line of createInterface({ input: createReadStream(join(folder, 'plans', file)) })) {
      const executed = line === '' ? undefined : executedOf(JSON.parse(line).message ?? '')
      if (!executed) continue
      const { text } = executed
      const known = statements.get(text)
      statements.set(text, known ? mostOf(known, executed) : executed)
    }
  }
  return [...statements.values()]
}

const executedOf = (message: string): ExecutedStatement | undefined => {
  const [, ms, json] = /^duration: ([\d.]+) ms {2}plan:\n([\s\S]*)$/.exec(message) ?? []
  if (json === undefined) return undefined
  const { Plan: plan, 'Query Text': text } = JSON.parse(json) as { Plan: Plan; 'Query Text': string }
  const scans = nodesOf(plan).filter((node) => /Scan$/.test(node['Node Type']) && node['Relation Name'] !== undefined)
  return {
    text: text.replace(/\s+/g, ' ').trim(),
    times: 1,
    rows: scans.reduce((sum, node) => sum + rowsOf(node), 0),
    buffers: (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0),
    ms: Number(ms),
    scans: scans.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => String(node['Relation Name'])),
  }
}

const nodesOf = (plan: Plan): readonly Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

const rowsOf = (node: Plan): number =>
  Math.round(
    (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)) *
      node['Actual Loops'],
  )

const mostOf = (a: ExecutedStatement, b: ExecutedStatement): ExecutedStatement => ({
  text: a.text,
  times: a.times + b.times,
  rows: Math.max(a.rows, b.rows),
  buffers: Math.max(a.buffers, b.buffers),
  ms: Math.max(a.ms, b.ms),
  scans: [...new Set([...a.scans, ...b.scans])],
})

/** What is wrong with statements: a large table that is read from end to end, or too many rows. */
export const findProblems = (
  statements: readonly ExecutedStatement[],
  largeTables: ReadonlySet<string>,
  maxRows: number,
): readonly string[] =>
  statements.flatMap(({ text, rows, scans }) => [
    ...scans.filter((table) => largeTables.has(table)).map((table) => `reads all of ${table}: ${text}`),
    ...(rows > maxRows ? [`reads ${rows} rows: ${text}`] : []),
  ])
