import { useState } from 'preact/hooks'
import { paths } from '../api/paths.js'
import { html } from '../controls/html.js'
import { Icon } from '../controls/icons.js'
import { Empty, Failure, Loading } from '../controls/placeholder.js'
import { download } from '../frame/download.js'
import { useApi, useLoaded } from '../frame/hooks.js'
import { Breakdown, figuresOf, formatFigure } from './breakdown.js'
import { csvOf } from './csv.js'
import { UsageOfKind } from './kind.js'
import { LimitUses, readLimits } from './limits.js'
import { daysOf, lastDays, RangeChoice } from './range.js'
import { isVideo, sum } from './report.js'
import { t } from './words.js'

/** @typedef {import('./report.js').Row} Row */

/** The user's own usage: what is left of the limits, bars by day for text and for videos, and all sums in a table. */
export const Usage = () => {
  const api = useApi()
  const [range, setRange] = useState(() => lastDays(30))
  const loaded = useLoaded(
    async (signal) => {
      const { usage } = await api.request(`${paths.usage}?${new URLSearchParams(range)}`, { signal })
      // With their range: the bars must not show the old rows on the new days.
      return { rows: /** @type {readonly Row[]} */ (usage), range }
    },
    [range.since, range.until],
  )
  const limits = useLoaded((signal) => readLimits(api, signal), [])
  const rows = loaded.value?.rows ?? []
  const days = daysOf(loaded.value?.range ?? range)
  return html`
    <div class="heading">
      <h1 tabindex="-1">${t.usage.title}</h1>
      <div class="actions">
        ${rows.length > 0 && html`<button type="button" onClick=${() => download(`usage-${range.since}-${range.until}.csv`, csvOf(rows), 'text/csv')}><${Icon} name="download" />CSV</button>`}
        <button type="button" aria-disabled=${loaded.busy} onClick=${() => loaded.busy || loaded.reload()}>${t.refresh}</button>
      </div>
    </div>
    <p class="lead">${t.usage.lead}</p>
    <${Failure} message=${limits.error} retry=${limits.reload} />
    ${limits.value && limits.value.length > 0 && html`<section><h2>${t.limits.title}</h2><${LimitUses} label=${t.limits.title} limits=${limits.value} /></section>`}
    ${
      !limits.value && limits.busy
        ? html`<${Loading} kind="rows" />`
        : html`
            <${RangeChoice} range=${range} onChange=${setRange} />
            <${Sums} loaded=${loaded} days=${days} />
          `
    }
  `
}

/**
 * The sums of a range, after the limits: what comes later does not move them.
 * @param {{ loaded: { value?: { rows: readonly Row[] }, error?: import('../api/api-error.js').ApiError, busy: boolean,
 * reload: () => void }, days: readonly string[] }} props
 */
const Sums = ({ loaded, days }) => {
  const rows = loaded.value?.rows ?? []
  const videos = rows.filter(isVideo)
  const texts = rows.filter((row) => !isVideo(row))
  const total = sum(rows)
  return html`
    <${Failure} message=${loaded.error} retry=${loaded.reload} />
    ${!loaded.value && loaded.busy && html`<${Loading} kind="rows" />`}
    ${
      loaded.value &&
      (rows.length === 0
        ? html`<${Empty} icon="usage" title=${t.usage.empty}><p>${t.usage.emptyHint}</p><//>`
        : html`
            <dl class="figures">
              ${figuresOf(total).map((name) => html`<div key=${name}><dt>${t.usage.columns[name]}</dt><dd>${formatFigure(total, name)}</dd></div>`)}
            </dl>
            ${texts.length > 0 && html`<${UsageOfKind} kind="text" rows=${texts} days=${days} />`}
            ${videos.length > 0 && html`<${UsageOfKind} kind="video" rows=${videos} days=${days} />`}
            <${Breakdown} rows=${rows} />
          `)
    }
  `
}
