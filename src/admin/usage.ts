import { csvLine, decimal } from '../../plugins/admin/csv.ts'
import type { UsagePage } from '../../plugins/admin/operations/usage.ts'
import type { UsageDimension, UsageSumKey, UsageTotal } from '../../plugins/admin/usage-sums.ts'
import { toUsageRowView } from '../../plugins/admin/views/usage.ts'
import { columns, escapeForTerminal } from './terminal.ts'

/** How `admin usage` prints: columns for people, or JSON Lines, or CSV (RFC 4180) with a header. */
export type UsageFormat = 'columns' | 'json' | 'csv'

const pageSize = 1_000

/** Prints usage, one row per line, page by page. @param by what it is summed by */
export const printUsage = async (
  readPage: (page: { readonly limit: number; readonly after: UsageSumKey | undefined }) => Promise<UsagePage>,
  by: readonly UsageDimension[],
  format: UsageFormat,
  out: (line: string) => void,
): Promise<void> => {
  if (format === 'csv') out(csvLine(fieldsOf(by)))
  for (let after: UsageSumKey | undefined, first = true; first || after; first = false) {
    const page = await readPage({ limit: pageSize, after })
    for (const row of page.rows) out(printers[format](row, by))
    after = page.next
  }
}

const toColumns = (row: UsageTotal, by: readonly UsageDimension[]): string => {
  const { day = '', user = '', userName = user, teamName = '-', token = '-', tokenName = '-', tokenStart } = row
  const values = {
    ...{ day: [day], user: [userName], team: [teamName], model: [row.model ?? ''] },
    token: [tokenName, tokenStart === undefined ? token : `${tokenStart}…`],
  }
  const calls = [`calls ${row.calls}`, `unreported ${row.unreported}`]
  const input = [`input ${row.inputTokens}`, `cached ${row.cachedTokens}`]
  const output = [`output ${row.outputTokens}`, `reasoning ${row.reasoningTokens}`]
  const video = row.videoSeconds === undefined ? [] : [`video seconds ${row.videoSeconds}`]
  const costs = row.cost === undefined ? [] : [`cost ${decimal(row.cost)}`]
  return columns(...by.flatMap((each) => values[each]), ...calls, ...input, ...output, ...costs, ...video)
}

/** A person reads names, so those stand where the API has ids. */
const toRecord = (row: UsageTotal, by: readonly UsageDimension[]) => {
  const { day, user, user_name, team, team_name, token, token_name, token_start, model, ...sums } = toUsageRowView(
    row,
    by,
  )
  const { cost, video_seconds, ...counts } = sums
  return {
    ...{ day, user: user_name ?? undefined, user_id: user, team: team_name ?? undefined, team_id: team ?? undefined },
    ...{ token: token ?? undefined, token_label: token_name ?? undefined, token_start: token_start ?? undefined },
    ...{ model, ...counts, cost: cost ?? undefined, video_seconds: video_seconds ?? undefined },
  }
}

/** The fields of a report by some properties. */
const fieldsOf = (by: readonly UsageDimension[]): readonly (keyof ReturnType<typeof toRecord>)[] => {
  const keys = {
    ...({ day: ['day'], user: ['user', 'user_id'], team: ['team', 'team_id'], model: ['model'] } as const),
    token: ['token', 'token_label', 'token_start'] as const,
  }
  return [
    ...by.flatMap((each) => keys[each]),
    ...(['calls', 'unreported', 'input_tokens', 'cached_tokens', 'output_tokens', 'reasoning_tokens'] as const),
    ...(['cost', 'video_seconds'] as const),
  ]
}

const toCsv = (row: UsageTotal, by: readonly UsageDimension[]): string => {
  const record = { ...toRecord(row, by), cost: row.cost === undefined ? undefined : decimal(row.cost) }
  return csvLine(fieldsOf(by).map((field) => record[field]))
}

const printers: Readonly<Record<UsageFormat, (row: UsageTotal, by: readonly UsageDimension[]) => string>> = {
  columns: toColumns,
  json: (row, by) => escapeForTerminal(JSON.stringify(toRecord(row, by))),
  csv: toCsv,
}
