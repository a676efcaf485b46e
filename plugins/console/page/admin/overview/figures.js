import { html } from '../../controls/html.js'
import { formatCost, formatNumber } from '../../words/format.js'
import { Table } from '../parts/table.js'
import { w } from '../words/words.js'

/** @typedef {{ requests: number, rejected: number, errors: number }} Counts */
/**
 * @typedef {object} Activity
 * @property {string} at
 * @property {Counts} last_minute
 * @property {readonly (Counts & { at: string })[]} hours
 * @property {readonly (Counts & { day: string, videos: Readonly<Record<string, number>> })[]} days
 * @property {{ running: number, waiting: number }} videos
 */
/** @typedef {import('../usage/sums.js').UsageRow} UsageRow */
/** @typedef {{ name: keyof typeof w.overview.rows, now: string, today: string, yesterday: string, week: string, isBad?: boolean }} Figure */

/**
 * The figures of now, today, yesterday and the last week.
 * @param {{ activity: Activity, usage: readonly UsageRow[] }} props
 */
export const Figures = ({ activity, usage }) => html`
  <${Table} caption=${w.overview.figures} columns=${columns} rows=${figuresOf(activity, usage)} keyOf=${(/** @type {Figure} */ { name }) => name} />
`

/** @type {readonly import('../parts/table.js').Column<Figure>[]} */
const columns = [
  { name: 'figure', label: w.overview.columns.figure, cell: ({ name }) => w.overview.rows[name] },
  {
    name: 'now',
    label: w.overview.columns.now,
    figure: true,
    cell: ({ now, isBad }) => (isBad ? html`<strong class="bad">${now}</strong>` : now),
  },
  { name: 'today', label: w.overview.columns.today, figure: true, cell: ({ today }) => today },
  { name: 'yesterday', label: w.overview.columns.yesterday, figure: true, cell: ({ yesterday }) => yesterday },
  { name: 'week', label: w.overview.columns.week, figure: true, cell: ({ week }) => week },
]

/**
 * @param {Activity} activity
 * @param {readonly UsageRow[]} usage
 * @returns {readonly Figure[]}
 */
const figuresOf = ({ last_minute, days, videos }, usage) => {
  const [today, yesterday] = [days.at(-1), days.at(-2)]
  /**
   * @param {keyof typeof w.overview.rows} name
   * @param {(day: Activity['days'][number] | undefined) => number} read
   * @param {number} [now]
   */
  const counted = (name, read, now) => ({
    name,
    now: now === undefined ? '' : w.overview.perMinute(formatNumber(now)),
    today: formatNumber(read(today)),
    yesterday: formatNumber(read(yesterday)),
    week: formatNumber(days.reduce((sum, day) => sum + read(day), 0)),
  })
  const usageOn = (/** @type {string | undefined} */ day) => usage.find((row) => row.day === day)
  /**
   * @param {keyof typeof w.overview.rows} name
   * @param {(row: UsageRow) => number | null} read
   * @param {(value: number) => string} [format]
   */
  const used = (name, read, format = formatNumber) => {
    const value = (/** @type {UsageRow | undefined} */ row) => (row && read(row)) ?? 0
    return {
      name,
      now: '',
      today: format(value(usageOn(today?.day))),
      yesterday: format(value(usageOn(yesterday?.day))),
      week: format(usage.reduce((sum, row) => sum + value(row), 0)),
    }
  }
  const ended = (
    /** @type {Activity['days'][number] | undefined} */ day,
    /** @type {(status: string) => boolean} */ isCounted,
  ) => Object.entries(day?.videos ?? {}).reduce((sum, [status, count]) => (isCounted(status) ? sum + count : sum), 0)
  return [
    counted('requests', (day) => day?.requests ?? 0, last_minute.requests),
    counted('rejected', (day) => day?.rejected ?? 0, last_minute.rejected),
    { ...counted('errors', (day) => day?.errors ?? 0, last_minute.errors), isBad: last_minute.errors > 0 },
    used('calls', (row) => row.calls),
    used('input', (row) => row.input_tokens),
    used('output', (row) => row.output_tokens),
    used('cost', (row) => row.cost, formatCost),
    { name: 'running', now: formatNumber(videos.running), today: '', yesterday: '', week: '' },
    { name: 'waiting', now: formatNumber(videos.waiting), today: '', yesterday: '', week: '' },
    counted('succeeded', (day) => ended(day, (status) => status === 'succeeded')),
    counted('failed', (day) => ended(day, (status) => status !== 'succeeded')),
  ]
}
