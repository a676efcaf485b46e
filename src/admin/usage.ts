import type { Usage } from '../store/index.ts'
import { columns, escapeForTerminal } from './terminal.ts'

/** How `admin usage` prints: columns for people, or JSON Lines, or CSV (RFC 4180) with a header. */
export type UsageFormat = 'columns' | 'json' | 'csv'

/** Prints usage, one row per line. */
export const printUsage = (rows: readonly Usage[], format: UsageFormat, out: (line: string) => void): void => {
  if (format === 'csv') out(csvFields.join(','))
  for (const row of rows) out(printers[format](row))
}

const toColumns = (row: Usage): string => {
  const { day, user, userName = user, token = '-', tokenLabel = '-', tokenStart, model, videoSeconds, cost } = row
  const start = tokenStart === undefined ? token : `${tokenStart}…`
  const calls = [`calls ${row.calls}`, `unreported ${row.unreported}`]
  const input = [`input ${row.inputTokens}`, `cached ${row.cachedTokens}`]
  const output = [`output ${row.outputTokens}`, `reasoning ${row.reasoningTokens}`]
  const video = videoSeconds === undefined ? [] : [`video seconds ${videoSeconds}`]
  const costs = cost === undefined ? [] : [`cost ${decimal(cost)}`]
  return columns(day, userName, tokenLabel, start, model, ...calls, ...input, ...output, ...costs, ...video)
}

const toRecord = (row: Usage) => ({
  ...{ day: row.day, user: row.userName, user_id: row.user },
  ...{ token: row.token, token_label: row.tokenLabel, token_start: row.tokenStart, model: row.model },
  ...{ calls: row.calls, unreported: row.unreported, input_tokens: row.inputTokens, cached_tokens: row.cachedTokens },
  ...{ output_tokens: row.outputTokens, reasoning_tokens: row.reasoningTokens },
  cost: row.cost === undefined ? undefined : row.cost / billion,
  video_seconds: row.videoSeconds,
})

const csvFields = [
  ...(['day', 'user', 'user_id', 'token', 'token_label', 'token_start', 'model', 'calls', 'unreported'] as const),
  ...(['input_tokens', 'cached_tokens', 'output_tokens', 'reasoning_tokens', 'cost', 'video_seconds'] as const),
] satisfies (keyof ReturnType<typeof toRecord>)[]

const toCsv = (row: Usage): string => {
  const record = toRecord(row)
  const cost = row.cost === undefined ? undefined : decimal(row.cost)
  return csvFields.map((field) => csvField(field === 'cost' ? cost : record[field])).join(',')
}

/**
 * A spreadsheet runs text that begins like a formula. Users choose names, labels and models, so such text gets an
 * apostrophe in front.
 */
const csvField = (value: string | number | undefined): string => {
  if (typeof value !== 'string') return String(value ?? '')
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const printers: Readonly<Record<UsageFormat, (row: Usage) => string>> = {
  columns: toColumns,
  json: (row) => escapeForTerminal(JSON.stringify(toRecord(row))),
  csv: toCsv,
}

const billion = 1_000_000_000

/** Billionths as a decimal number without an exponent. */
const decimal = (billionths: number): string => {
  const digits = String(billionths).padStart(10, '0')
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/, '')
}
