import type { SQL } from 'bun'
import type { SourceStatement } from '../../store/source-statements.ts'

/** https://www.postgresql.org/docs/18/sql-explain.html */
interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly Plans?: readonly Plan[]
}

/** The statements for which PostgreSQL would read a large table from end to end, whatever their values are. */
export const plannedScans = async (
  database: SQL,
  statements: readonly SourceStatement[],
  largeTables: ReadonlySet<string>,
): Promise<readonly string[]> => {
  const found: string[] = []
  for (const { file, text } of statements) {
    const [row] = await database.unsafe(`explain (generic_plan, format json) ${text}`)
    const plans = typeof row['QUERY PLAN'] === 'string' ? JSON.parse(row['QUERY PLAN']) : row['QUERY PLAN']
    for (const table of scansOf(plans[0].Plan))
      if (largeTables.has(table)) found.push(`would read all of ${table}: ${file}: ${text.replace(/\s+/g, ' ').trim()}`)
  }
  return found
}

const scansOf = (plan: Plan): readonly string[] => [
  ...(plan['Node Type'] === 'Seq Scan' ? [String(plan['Relation Name'])] : []),
  ...(plan.Plans ?? []).flatMap(scansOf),
]
