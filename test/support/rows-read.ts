import { DatabaseSync } from 'node:sqlite'
import postgres from 'postgres'
import { type Database, notifyOnCommit } from '../../src/store/database/database.ts'
import { renderStatement, type Statement } from '../../src/store/database/statement.ts'
import type { TestDatabase } from './database.ts'

/** A database that records statements, but for those of `exclusively`. */
export interface RecordedDatabase extends Database {
  /** Takes those since the last call. */
  taken(): readonly Statement[]
}

/** Wraps a database. */
export const recordStatements = (database: Database): RecordedDatabase => {
  let statements: Statement[] = []
  return {
    ...notifyOnCommit(database, (executed) => void statements.push(...executed)),
    query(statement, deadlineMs) {
      statements.push(statement)
      return database.query(statement, deadlineMs)
    },
    taken() {
      const taken = statements
      statements = []
      return taken
    },
  }
}

/** What a statement does with its tables. */
export interface Reading {
  readonly text: string
  /** Tables and indexes that it reads from end to end. */
  readonly scans: readonly string[]
  /** Whether it sorts what it reads, and so reads all of it before the first row. */
  readonly sorts: boolean
  /** Rows that it reads from tables and indexes. Undefined on SQLite, which does not tell. */
  readonly rows: number | undefined
}

/**
 * Tells how statements are executed. @param anyValues PostgreSQL plans them for any values, as it may do for a statement
 * that a connection has prepared; default: for the given ones, where it finds that better
 */
export const readingsOf = ({ kind, url }: Pick<TestDatabase, 'kind' | 'url'>, anyValues = false) =>
  kind === 'sqlite' ? sqliteReadings(url) : postgresReadings(url, anyValues)

export interface Readings {
  of(statement: Statement): Promise<Reading>
  close(): Promise<void>
}

const sqliteReadings = (url: string): Readings => {
  const database = new DatabaseSync(url.replace(/^sqlite:/, ''))
  const render = renderStatement('?')
  return {
    async of(statement) {
      const text = render(statement)
      const plan = database.prepare(`explain query plan ${text}`).all()
      const details = plan.map(({ detail }) => String(detail))
      return {
        text,
        // A subquery and a list of values are no tables.
        scans: details.filter((detail) =>
          /^SCAN (?!CONSTANT ROW|step_rows|counted|examined|walked|wanted|oldest)/.test(detail),
        ),
        sorts: details.some((detail) => detail.startsWith('USE TEMP B-TREE')),
        rows: undefined,
      }
    },
    async close() {
      database.close()
    },
  }
}

/** https://www.postgresql.org/docs/18/sql-explain.html */
interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly Plans?: readonly Plan[]
}

const postgresReadings = (url: string, anyValues: boolean): Readings => {
  const database = postgres(url, { max: 1, onnotice: () => {} })
  const render = renderStatement('$')
  const names = new Map<string, string>()
  return {
    async of(statement) {
      const text = render(statement)
      let name = names.get(text)
      if (name === undefined) {
        name = `read${names.size}`
        names.set(text, name)
        if (anyValues && names.size === 1) await database.unsafe('set plan_cache_mode = force_generic_plan')
        await database.unsafe(`prepare ${name} as ${text}`)
      }
      const values = statement.values.length === 0 ? '' : `(${statement.values.map(literal).join()})`
      const [row] = await database.unsafe(`explain (analyze, timing off, format json) execute ${name}${values}`)
      const nodes = nodesOf(row?.['QUERY PLAN'][0].Plan)
      const scans = nodes.filter((node) => /Scan$/.test(node['Node Type']) && node['Node Type'] !== 'Subquery Scan')
      return {
        text,
        scans: scans
          .filter((node) => node['Index Cond'] === undefined && node['Relation Name'] !== undefined)
          .filter((node) => node['Node Type'] !== 'Bitmap Heap Scan')
          .map((node) => String(node['Index Name'] ?? node['Relation Name'])),
        sorts: nodes.some((node) => /^(?:Incremental )?Sort$/.test(node['Node Type'])),
        rows: scans.reduce((sum, node) => sum + rowsOf(node), 0),
      }
    },
    close: () => database.end({ timeout: 1 }),
  }
}

const literal = (value: string | number | null): string =>
  typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)

const nodesOf = (plan: Plan): readonly Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

const rowsOf = (node: Plan): number =>
  (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)) *
  node['Actual Loops']
