import type { ByteSource, Write } from '../../shared/http/body/byte-source.ts'
import { csvLine, decimal } from '../csv.ts'
import type { UsagePage } from '../operations/usage.ts'
import type { UsageDimension, UsageSumKey, UsageTotal } from '../usage-sums.ts'
import { toUsageRowView, type UsageRowView } from '../views/usage.ts'

/** Reads the page after a row. */
type ReadPage = (after: UsageSumKey | undefined) => Promise<UsagePage>

/** The whole report as CSV, read page by page as the client reads it. */
export const usageCsv = (by: readonly UsageDimension[], readPage: ReadPage, ended: () => void): ByteSource => {
  const columns = usageColumns(by)
  let [started, cancelled] = [false, false]
  const lines = (rows: readonly UsageTotal[]) => rows.map((row) => `${usageLine(row, by, columns)}\r\n`).join('')
  return {
    async writeTo(write: Write) {
      started = true
      try {
        await write(encoder.encode(`${csvLine(columns)}\r\n`))
        for (let after: UsageSumKey | undefined, first = true; !cancelled && (first || after); first = false) {
          const page = await readPage(after)
          if (page.rows.length > 0) await write(encoder.encode(lines(page.rows)))
          after = page.next
        }
        // The reader must not take what it has for the whole report.
        if (cancelled) throw new Error('the report was interrupted')
      } finally {
        ended()
      }
    },
    async cancel() {
      if (!started && !cancelled) ended()
      cancelled = true
    },
  }
}

const encoder = new TextEncoder()

const sums = ['calls', 'unreported', 'input_tokens', 'cached_tokens', 'output_tokens', 'reasoning_tokens'] as const

/** The columns of a report by some properties. */
export const usageColumns = (by: readonly UsageDimension[]): readonly (keyof UsageRowView)[] => [
  ...(by.includes('day') ? (['day'] as const) : []),
  ...(by.includes('user') || by.includes('token') ? (['user', 'user_name'] as const) : []),
  ...(by.includes('team') ? (['team', 'team_name'] as const) : []),
  ...(by.includes('token') ? (['token', 'token_name', 'token_start'] as const) : []),
  ...(by.includes('model') ? (['model'] as const) : []),
  ...sums,
  'video_seconds',
  'cost',
]

/** A row of CSV. A cost is written without an exponent. */
export const usageLine = (
  total: UsageTotal,
  by: readonly UsageDimension[],
  columns: readonly (keyof UsageRowView)[] = usageColumns(by),
): string => {
  const row = { ...toUsageRowView(total, by), cost: total.cost === undefined ? null : decimal(total.cost) }
  return csvLine(columns.map((column) => row[column]))
}
