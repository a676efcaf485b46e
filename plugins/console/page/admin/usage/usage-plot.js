import { html } from '../../controls/html.js'
import { maxSeries, Plot } from '../../controls/plot.js'
import { useLoaded } from '../../frame/hooks.js'
import { formatCost, formatDay, formatNumber, formatShortDay } from '../../words/format.js'
import { useAdminApi } from '../parts/admin-api.js'
import { Table } from '../parts/table.js'
import { w } from '../words/words.js'
import { daysBetween, seriesOf } from './sums.js'

/** @typedef {import('./sums.js').UsageRow} UsageRow */
/** @typedef {import('./sums.js').Figure} Figure */

const figures = /** @type {readonly Figure[]} */ (['cost', 'tokens', 'calls', 'video_seconds'])
/** Pages of sums by day and model that a plot reads. */
const maxPages = 20

/**
 * A plot by day, stacked by model, with a table that says the same.
 * @param {{ filter: import('../parts/admin-api.js').Query & { since: string, until: string }, figure: Figure, onFigure:
 * (figure: Figure) => void }} props
 */
export const UsagePlot = ({ filter, figure, onFigure }) => {
  const admin = useAdminApi()
  const loaded = useLoaded(
    async (signal) => {
      /** @type {UsageRow[]} */
      const rows = []
      let cursor
      for (let page = 0; page < maxPages; page++) {
        const found = await admin.read('/usage', { ...filter, group_by: 'day,model', limit: '200', cursor }, signal)
        rows.push(...found.rows)
        cursor = found.next_cursor
        if (!cursor) return rows
      }
      return undefined
    },
    [JSON.stringify(filter)],
  )
  if (!loaded.value) return loaded.busy ? undefined : html`<p class="hint">${w.usage.tooLarge}</p>`
  const days = daysBetween(filter.since, filter.until)
  const series = seriesOf(loaded.value, days, { figure, max: maxSeries, others: w.usage.others })
  const format = figure === 'cost' ? formatCost : formatNumber
  const title = w.usage.plot(w.usage.figures[figure])
  /** @type {readonly import('../parts/table.js').Column<number>[]} */
  const columns = [
    { name: 'day', label: w.usage.dimensions.day, cell: (at) => formatDay(days[at] ?? '') },
    ...series.map(({ name, values }) => ({
      ...{ name, label: name, figure: true },
      cell: (/** @type {number} */ at) => format(values[at] ?? 0),
    })),
  ]
  return html`
    <div class="tabs" role="group" aria-label=${w.usage.figure}>
      ${figures.map((one) => html`<button key=${one} type="button" aria-pressed=${one === figure} onClick=${() => onFigure(one)}>${w.usage.figures[one]}</button>`)}
    </div>
    <${Plot} title=${title} labels=${days} series=${series} format=${format} formatLabel=${formatShortDay} />
    <details class="more">
      <summary>${w.usage.plotTable}</summary>
      <${Table} caption=${title} columns=${columns} rows=${days.map((_, at) => at)} keyOf=${String} />
    </details>
  `
}
