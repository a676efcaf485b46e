import { html } from '../../controls/html.js'
import { Failure, Loading } from '../../controls/placeholder.js'
import { Plot } from '../../controls/plot.js'
import { useLoaded, usePolling } from '../../frame/hooks.js'
import { dates, formatNumber } from '../../words/format.js'
import { t } from '../../words/words.js'
import { useAdminApi } from '../parts/admin-api.js'
import { Table } from '../parts/table.js'
import { w } from '../words/words.js'
import { Alerts } from './alerts.js'
import { Figures } from './figures.js'
import { Upstreams } from './upstreams.js'

/** @typedef {import('./figures.js').Activity} Activity */

const pollMs = 15_000

/** What the server does now, and has done in the last days. */
export const Overview = () => {
  const admin = useAdminApi()
  const load = async (/** @type {AbortSignal | undefined} */ signal) => {
    const [{ activity }, alerts, { upstreams }] = await Promise.all([
      admin.read('/activity', {}, signal),
      admin.read('/alerts', {}, signal),
      admin.read('/upstreams', {}, signal),
    ])
    const since = activity.days[0].day
    const { rows } = await admin.read('/usage', { since, group_by: 'day', limit: '10' }, signal)
    return {
      activity: /** @type {Activity} */ (activity),
      alerts: /** @type {import('./alerts.js').AlertReport} */ (alerts),
      upstreams: /** @type {readonly import('./upstreams.js').Upstream[]} */ (upstreams),
      usage: /** @type {readonly import('../usage/sums.js').UsageRow[]} */ (rows),
    }
  }
  const loaded = useLoaded(load, [])
  usePolling(
    async () => {
      const fresh = await load(undefined)
      loaded.change(() => fresh)
    },
    { enabled: loaded.value !== undefined, ms: pollMs },
  )
  const { value } = loaded
  return html`
    <div class="heading">
      <h1 tabindex="-1">${w.sections.overview}</h1>
      <button type="button" aria-disabled=${loaded.busy} onClick=${() => loaded.busy || loaded.reload()}>${t.refresh}</button>
    </div>
    <p class="lead">${w.overview.lead}</p>
    <${Failure} message=${loaded.error} retry=${loaded.reload} />
    ${!value && loaded.busy && html`<${Loading} kind="rows" />`}
    ${
      value &&
      html`
        <${Alerts} report=${value.alerts} />
        <section>
          <h2>${w.overview.figures}</h2>
          <${Figures} activity=${value.activity} usage=${value.usage} />
          <p class="hint">${w.overview.figuresHint}</p>
        </section>
        <${Hours} hours=${value.activity.hours} />
        <${Upstreams} upstreams=${value.upstreams} />
      `
    }
  `
}

const hourOf = dates({ hour: '2-digit', minute: '2-digit' })
const dateHourOf = dates({ weekday: 'short', hour: '2-digit', minute: '2-digit' })

/** @param {{ hours: Activity['hours'] }} props */
const Hours = ({ hours }) => {
  const series = [
    {
      name: w.overview.rows.requests,
      values: hours.map(({ requests, rejected, errors }) => requests - rejected - errors),
    },
    { name: w.overview.rows.rejected, values: hours.map(({ rejected }) => rejected) },
    { name: w.overview.rows.errors, values: hours.map(({ errors }) => errors) },
  ]
  return html`
    <section>
      <h2>${w.overview.hours}</h2>
      <${Plot} title=${w.overview.hours} labels=${hours.map(({ at }) => at)} series=${series} format=${formatNumber} formatLabel=${(/** @type {string} */ at) => hourOf().format(new Date(at))} />
      <details class="more">
        <summary>${w.usage.plotTable}</summary>
        <${Table} caption=${w.overview.hours} columns=${hourColumns} rows=${hours.toReversed()} keyOf=${(/** @type {Activity['hours'][number]} */ { at }) => at} />
      </details>
    </section>
  `
}

/** @type {readonly import('../parts/table.js').Column<Activity['hours'][number]>[]} */
const hourColumns = [
  {
    name: 'hour',
    label: w.overview.hour,
    cell: ({ at }) => html`<time datetime=${at}>${dateHourOf().format(new Date(at))}</time>`,
  },
  { name: 'requests', label: w.overview.rows.requests, figure: true, cell: ({ requests }) => formatNumber(requests) },
  { name: 'rejected', label: w.overview.rows.rejected, figure: true, cell: ({ rejected }) => formatNumber(rejected) },
  { name: 'errors', label: w.overview.rows.errors, figure: true, cell: ({ errors }) => formatNumber(errors) },
]
