import { useState } from 'preact/hooks'
import { paths } from '../api/paths.js'
import { html } from '../controls/html.js'
import { Empty, Failure, Loading } from '../controls/placeholder.js'
import { useApi, useLoaded } from '../frame/hooks.js'
import { formatCost, formatDay, formatNumber } from '../words/format.js'
import { t } from '../words/words.js'

/**
 * @typedef {object} Row
 * @property {string} day `YYYY-MM-DD`, UTC
 * @property {{ id: string, label: string | null, start: string | null } | null} token
 * @property {string} model
 * @property {number} calls
 * @property {number} unreported
 * @property {number} input_tokens
 * @property {number} cached_tokens
 * @property {number} output_tokens
 * @property {number} reasoning_tokens
 * @property {number | null} video_seconds null: no videos
 * @property {number | null} cost in the operator's currency; null: no price
 */
/** @typedef {'day' | 'token' | 'model'} Dimension */
/** @typedef {Omit<Row, 'day' | 'token' | 'model'>} Sum */

/** @type {readonly { name: keyof typeof t.usage.views, dimensions: readonly Dimension[] }[]} */
const views = [
  { name: 'all', dimensions: ['day', 'token', 'model'] },
  { name: 'day', dimensions: ['day'] },
  { name: 'token', dimensions: ['token'] },
  { name: 'model', dimensions: ['model'] },
]

/** @typedef {'calls' | 'input_tokens' | 'output_tokens' | 'video_seconds' | 'cost'} Figure */

/**
 * The figures to show. Seconds only where some model made videos, costs only where some model has a price.
 * @param {Sum} total
 * @returns {readonly Figure[]}
 */
const figuresOf = ({ video_seconds, cost }) => [
  'calls',
  'input_tokens',
  'output_tokens',
  ...(video_seconds === null ? [] : /** @type {const} */ (['video_seconds'])),
  ...(cost === null ? [] : /** @type {const} */ (['cost'])),
]

export const Usage = () => {
  const api = useApi()
  const loaded = useLoaded(async (signal) => {
    /** @type {readonly Row[]} */
    const usage = (await api.request(paths.usage, { signal })).usage
    return usage
  }, [])
  const [view, setView] = useState(/** @type {keyof typeof t.usage.views} */ ('all'))
  const dimensions = views.find(({ name }) => name === view)?.dimensions ?? []
  const rows = loaded.value ?? []
  const total = sum(rows)

  return html`
    <div class="heading">
      <h1 tabindex="-1">${t.usage.title}</h1>
      <button type="button" aria-disabled=${loaded.busy} onClick=${() => loaded.busy || loaded.reload()}>${t.refresh}</button>
    </div>
    <p class="lead">${t.usage.lead}</p>
    <${Failure} message=${loaded.error} retry=${loaded.reload} />
    ${!loaded.value && loaded.busy && html`<${Loading} kind="rows" />`}
    ${
      loaded.value &&
      (rows.length === 0
        ? html`<${Empty} icon="usage" title=${t.usage.empty}><p>${t.usage.emptyHint}</p><//>`
        : html`
            <dl class="figures">
              ${figuresOf(total).map((name) => html`<div key=${name}><dt>${t.usage.columns[name]}</dt><dd>${format(total, name)}</dd></div>`)}
            </dl>
            <div class="tabs" role="group" aria-label=${t.usage.group}>
              ${views.map(({ name }) => html`<button key=${name} type="button" aria-pressed=${name === view} onClick=${() => setView(name)}>${t.usage.views[name]}</button>`)}
            </div>
            <${Table} rows=${grouped(rows, dimensions)} dimensions=${dimensions} total=${total} />
            ${total.unreported > 0 && html`<p class="hint">${t.usage.unreported(formatNumber(total.unreported))}</p>`}
          `)
    }
  `
}

/** @param {{ rows: readonly Row[], dimensions: readonly Dimension[], total: Sum }} props */
const Table = ({ rows, dimensions, total }) => html`
  <div class="scroll" role="region" aria-label=${t.usage.caption} tabindex="0">
    <table>
      <caption class="visually-hidden">${t.usage.caption}</caption>
      <thead>
        <tr>
          ${dimensions.map((dimension) => html`<th key=${dimension} scope="col">${t.usage.columns[dimension]}</th>`)}
          ${figuresOf(total).map((name) => html`<th key=${name} scope="col" class="figure">${t.usage.columns[name]}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) => html`
            <tr key=${keyOf(row, dimensions)}>
              ${dimensions.map((dimension, at) => (at === 0 ? html`<th key=${dimension} scope="row">${cell(row, dimension)}</th>` : html`<td key=${dimension}>${cell(row, dimension)}</td>`))}
              ${numbers(row, total)}
            </tr>
          `,
        )}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row" colspan=${dimensions.length}>${t.usage.total}</th>
          ${numbers(total, total)}
        </tr>
      </tfoot>
    </table>
  </div>
`

/**
 * @param {Sum} row
 * @param {Figure} name
 */
const format = (row, name) => (name === 'cost' ? formatCost(row.cost ?? 0) : formatNumber(row[name] ?? 0))

/**
 * @param {Sum} row
 * @param {Sum} total
 */
const numbers = (row, total) => html`
  <td class="figure">${formatNumber(row.calls)}</td>
  <td class="figure">${formatNumber(row.input_tokens)}${row.cached_tokens > 0 && html`<small>${t.usage.cached(formatNumber(row.cached_tokens))}</small>`}</td>
  <td class="figure">${formatNumber(row.output_tokens)}${row.reasoning_tokens > 0 && html`<small>${t.usage.reasoning(formatNumber(row.reasoning_tokens))}</small>`}</td>
  ${total.video_seconds !== null && html`<td class="figure">${row.video_seconds !== null && formatNumber(row.video_seconds)}</td>`}
  ${total.cost !== null && html`<td class="figure">${row.cost !== null && formatCost(row.cost)}</td>`}
`

/**
 * @param {Row} row
 * @param {Dimension} dimension
 */
const cell = ({ day, token, model }, dimension) => {
  if (dimension === 'day') return html`<time datetime=${day}>${formatDay(day)}</time>`
  if (dimension === 'model') return model
  return token ? token.label || html`<code>${token.start ?? token.id}…</code>` : t.usage.noToken
}

/**
 * @param {Row} row
 * @param {readonly Dimension[]} dimensions
 */
const keyOf = ({ day, token, model }, dimensions) => {
  const values = { day, model, token: token?.id ?? '' }
  return JSON.stringify(dimensions.map((dimension) => values[dimension]))
}

/**
 * Sums up the rows that have the same values in the given dimensions. The latest day comes first, then the most tokens.
 * @param {readonly Row[]} rows
 * @param {readonly Dimension[]} dimensions
 * @returns {readonly Row[]}
 */
export const grouped = (rows, dimensions) =>
  [...Map.groupBy(rows, (row) => keyOf(row, dimensions)).values()]
    .map((group) => ({ .../** @type {Row} */ (group[0]), ...sum(group) }))
    .sort((a, b) => {
      const latest = dimensions.includes('day') ? b.day.localeCompare(a.day) : 0
      return latest || b.input_tokens + b.output_tokens - (a.input_tokens + a.output_tokens)
    })

/**
 * @param {readonly Sum[]} rows
 * @returns {Sum}
 */
export const sum = (rows) => {
  const counts = { calls: 0, unreported: 0, input_tokens: 0, cached_tokens: 0, output_tokens: 0, reasoning_tokens: 0 }
  /** @type {number | null} */
  let video_seconds = null
  /** @type {number | null} */
  let cost = null
  for (const row of rows) {
    for (const name of /** @type {(keyof typeof counts)[]} */ (Object.keys(counts))) counts[name] += row[name]
    if (row.video_seconds !== null) video_seconds = (video_seconds ?? 0) + row.video_seconds
    if (row.cost !== null) cost = (cost ?? 0) + row.cost
  }
  return { ...counts, video_seconds, cost }
}
